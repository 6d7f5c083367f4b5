"""The folder of one seed of a pretraining or of a run.

Everything is read through checks: a file that is missing, damaged or of another form is an `InputError` that
names it and says what makes it again.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dekm.errors import InputError
from dekm.files.arrays import Form, read_array
from dekm.files.leftovers import temporaries
from dekm.files.manifest import MANIFEST, check_file, find_damage
from dekm.files.reading import NUMBER, check_fields, damaged, read_json, read_numbers
from dekm.results.data import PreparedData

SEED_FILES = {
    "facts": "facts.json",  # what made the seed
    "metrics": "metrics.json",  # the final metrics
    "autoencoder": "autoencoder.safetensors",  # of a pretraining
    "loss": "loss.csv",  # of a pretraining, one row per epoch
    "model": "model.safetensors",  # of a run
    "history": "history.csv",  # of a run, one row per iteration
    "live": "live.csv",  # the rows so far of a seed that is being made
    "progress": "progress.json",  # where a seed that is being made is
    "labels": "labels.npy",  # of a run, the cluster of each sample
    "embedding": "embedding.npy",  # of a run
    "clusters": "clusters.csv",  # of a run, one row per sample with its name, class and cluster
    "iterations": "iterations.npz",  # of a run, its partitions and maps
    "manifest": MANIFEST,  # size and digest of the others
}
SEED_FIELDS = {
    "dataset": str,
    "seed": int,
    "key": str,
    "id": str,
    "created": str,
    "data": str,
    "settings": dict,
    "versions": dict,
}


@dataclass(frozen=True)
class SeedFolder:
    """The folder of one seed of a pretraining or of a run.

    Attributes
    ----------
    path : Path
        The folder.
    """

    path: Path

    @property
    def stage(self) -> Literal["pretrain", "cluster"]:
        """Which rule makes the folder."""
        return "pretrain" if self.path.absolute().parts[-4:-3] == ("pretrained",) else "cluster"

    def file(self, name: str) -> Path:
        """Path of one of the `SEED_FILES`."""
        return self.path / SEED_FILES[name]

    @property
    def command(self) -> str:
        """The command that makes the seed."""
        what = " ".join(self.path.absolute().parts[-3:-1])
        return f"python -m dekm {self.stage} {what}"

    @property
    def remedy(self) -> str:
        """What to do about a damaged file of the seed."""
        return f"Run '{self.command}' again: it makes the seed again."

    def checked(self, name: str) -> Path:
        """Path of one of the `SEED_FILES`, checked against the manifest.

        Raises
        ------
        InputError
            If the file does not exist, or its size or digest is another than in the manifest.
        """
        file = self.file(name)
        if not file.is_file():
            raise InputError(f"{file} does not exist. {self.remedy}")
        check_file(file, self.remedy)
        return file

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What made the seed: dataset, method, settings, key, versions, commit and more."""
        subject = "method" if self.stage == "cluster" else "architecture"
        check_file(self.file("facts"), self.remedy)
        return read_json(self.file("facts"), {**SEED_FIELDS, subject: str}, self.remedy)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The final metrics."""
        file = self.checked("metrics")
        metrics = read_json(file, {"seconds": NUMBER}, self.remedy)
        check_fields(file, metrics, dict.fromkeys(metrics, (*NUMBER, type(None))), self.remedy)
        return metrics

    @property
    def subject(self) -> str:
        """The method, or the architecture of a pretraining."""
        return self.facts["method" if self.stage == "cluster" else "architecture"]

    @property
    def label(self) -> str:
        """Name of the method in the paper, or the architecture of a pretraining."""
        return self.facts.get("label", self.subject)

    @property
    def name(self) -> str:
        """Short name, such as digits/dekm/s0."""
        return f"{self.facts['dataset']}/{self.subject}/s{self.facts['seed']}"

    @property
    def data(self) -> PreparedData:
        """The prepared data of the seed's dataset."""
        results = Path(*self.path.absolute().parts[:-4])
        return PreparedData(results / "data" / self.facts["dataset"])

    @property
    def data_facts(self) -> dict[str, Any]:
        """Description of the data of the seed.

        Raises
        ------
        InputError
            If there is none, as for a run that was copied to another place.
        """
        facts = self.data.facts
        if not facts:
            file = self.data.facts_file
            raise InputError(f"{self.path} should be at its place in a folder of results: {file} is missing.")
        return facts

    def true_labels(self) -> np.ndarray | None:
        """True labels of the data (n,); None if they have none."""
        return self._of_same_data(self.data.labels())

    def images(self) -> np.ndarray | None:
        """Images of the data (n, h, w, c) in [0, 1]; None if the samples are not images."""
        return self._of_same_data(self.data.images())

    def _of_same_data(self, array: np.ndarray | None) -> np.ndarray | None:
        if array is not None and len(array) != len(self.labels()):
            raise InputError(f"{self.path} was made with other data than {self.data.path}. {self.remedy}")
        return array

    def has_facts(self) -> bool:
        """Whether the facts can be read: the folder of an unfinished seed may vanish at any moment."""
        try:
            return bool(self.facts)
        except InputError:
            return False

    def is_complete(self, key: str) -> bool:
        """Whether the folder was made under this key and all its files are as the manifest says."""
        return self.has_facts() and self.facts["key"] == key and not find_damage(self.path)

    def find_damage(self, key: str) -> str:
        """What is wrong with a seed that was made under this key; empty if it is whole or of another key."""
        if not self.path.exists():
            return ""
        try:
            return find_damage(self.path) if self.facts["key"] == key else ""
        except InputError as error:
            return str(error)

    def is_made_under_other_key(self, key: str) -> bool:
        """Whether processes make the seed now, none of them under this key, as far as their folders say."""
        parts = [SeedFolder(found.path) for found in temporaries(self.path.parent, self.path.name)]
        keys = {part.facts["key"] for part in parts if part.has_facts()}
        return bool(keys) and key not in keys

    def labels(self) -> np.ndarray:
        """Cluster of each sample, (n,)."""
        return read_array(self.checked("labels"), Form("iu", (1,)), self.remedy)

    def embedding(self) -> np.ndarray:
        """Embedding of each sample, (n, e)."""
        H = read_array(self.checked("embedding"), Form("f", (2,)), self.remedy)
        if len(H) != len(self.labels()):
            problem = f"it has {len(H)} rows for {len(self.labels())} labels"
            raise damaged(self.file("embedding"), problem, self.remedy)
        return H

    def history(self) -> list[dict[str, float]]:
        """One row per iteration or epoch, of an unfinished seed too; an empty field is NaN."""
        files = (self.file(name) for name in ("history", "loss", "live"))
        file = next((file for file in files if file.exists()), None)
        if file is None:
            return []
        check_file(file, self.remedy)
        return read_numbers(file, ("n_iter", "epoch"), self.remedy)


def complete_run(path: Path) -> SeedFolder:
    """The folder of a complete run.

    Parameters
    ----------
    path : Path
        Folder of a seed.

    Raises
    ------
    InputError
        If it is not the folder of a complete run.
    """
    seed = SeedFolder(path)
    for file in (seed.file("facts"), seed.file("metrics")):
        if not file.is_file():
            raise InputError(f"{path} should be the folder of a complete run; it holds no {file.name}.")
    return seed
