"""The folders that results consist of: prepared data, cells, and their seeds."""

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dekm.errors import InputError
from dekm.files import open_arrays, read_array, read_json

SEED_FILES = {
    "facts": "facts.json",  # what made the seed
    "metrics": "metrics.json",  # the final metrics
    "autoencoder": "autoencoder.safetensors",  # of a pretraining
    "loss": "loss.csv",  # of a pretraining, one row per epoch
    "model": "model.safetensors",  # of a run
    "history": "history.csv",  # of a run, one row per iteration
    "live": "live.csv",  # the history of a run that is being made
    "labels": "labels.npy",  # of a run, the cluster of each sample
    "embedding": "embedding.npy",  # of a run
    "iterations": "iterations.npz",  # of a run with a two-dimensional embedding
}


@dataclass(frozen=True)
class PreparedData:
    """The folder of a prepared dataset, ``data/<dataset>``."""

    path: Path

    @property
    def arrays_file(self) -> Path:
        """File of the samples and labels."""
        return self.path / "data.npz"

    @property
    def facts_file(self) -> Path:
        """File of the description of the data, with their digest."""
        return self.path / "facts.json"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Description of the data; empty if none are prepared."""
        return read_json(self.facts_file) if self.facts_file.is_file() else {}

    def labels(self) -> np.ndarray | None:
        """True labels (n,); None if the data have none."""
        with open_arrays(self.arrays_file) as arrays:
            y: np.ndarray | None = arrays.get("y")
        return y

    def images(self) -> np.ndarray | None:
        """Images (n, h, w, c) in [0, 1]; None if the samples are not images."""
        with open_arrays(self.arrays_file) as arrays:
            X = arrays.get("X")
        if X is None or X.ndim != 4:
            return None
        return X / np.float32(255) if X.dtype == np.uint8 else X


@dataclass(frozen=True)
class SeedFolder:
    """The folder of one seed of a pretraining or of a run."""

    path: Path

    @property
    def stage(self) -> Literal["pretrain", "cluster"]:
        """Which rule makes the folder."""
        return "pretrain" if self.path.absolute().parents[2].name == "pretrained" else "cluster"

    def file(self, name: str) -> Path:
        """Path of one of the `SEED_FILES`."""
        return self.path / SEED_FILES[name]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What made the seed: dataset, method, settings, key, versions, commit and more."""
        return read_json(self.file("facts"))

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The final metrics."""
        return read_json(self.file("metrics"))

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
        return PreparedData(self.path.absolute().parents[3] / "data" / self.facts["dataset"])

    def has_facts(self) -> bool:
        """Whether the facts can be read: the folder of an unfinished seed may vanish at any moment."""
        try:
            return bool(self.facts)
        except FileNotFoundError:
            return False

    def is_complete(self, key: str) -> bool:
        """Whether the folder exists and was made under this key."""
        return self.file("facts").is_file() and self.facts["key"] == key

    def labels(self) -> np.ndarray:
        """Cluster of each sample, (n,)."""
        return read_array(self.file("labels"))

    def embedding(self) -> np.ndarray:
        """Embedding of each sample, (n, e)."""
        return read_array(self.file("embedding"))

    def history(self) -> list[dict[str, float]]:
        """One row per iteration or epoch, of an unfinished seed too; an empty field is NaN."""
        files = (self.file(name) for name in ("history", "loss", "live"))
        file = next((file for file in files if file.exists()), None)
        if file is None:
            return []
        with file.open(newline="") as stream:
            return [
                {name: float(value or "nan") for name, value in row.items()} for row in csv.DictReader(stream)
            ]


@dataclass(frozen=True)
class CellFolder:
    """The folder above the seeds of a cell."""

    path: Path

    @property
    def summary_file(self) -> Path:
        """File of the scores of all seeds."""
        return self.path / "summary.json"

    def seed(self, seed: int | str) -> SeedFolder:
        """The folder of one seed."""
        return SeedFolder(self.path / f"seed{seed}")

    def summary(self) -> dict[str, Any]:
        """What the cell is, and the metrics of each seed by its number."""
        return read_json(self.summary_file)

    def seeds(self) -> list[SeedFolder]:
        """The complete seeds that the summary names.

        Raises
        ------
        InputError
            If there is no summary, or a seed is not complete.
        """
        if not self.summary_file.is_file():
            raise InputError(f"{self.path} should be the folder of a cell; it holds no summary.json.")
        return [complete_run(self.seed(seed).path) for seed in self.summary()["seeds"]]


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
