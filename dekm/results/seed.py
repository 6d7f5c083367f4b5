"""The folder of one seed of a pretraining or of a run, also while it is being made."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from dekm.errors import InputError
from dekm.files.leftovers import final_name, temporaries
from dekm.files.manifest import MANIFEST, check_file, find_damage
from dekm.files.reading import UnavailableError, read_json, read_numbers
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
FACTS = {
    "dataset": str,
    "seed": int,
    "key": str,
    "id": str,
    "created": str,
    "data": str,
    "settings": dict,
    "versions": dict,
}
FAILED = "failed"  # the fact that says why a fit has no partition
SUBJECTS = {"pretrain": "architecture", "cluster": "method"}
FOLDERS = {"pretrain": "pretrained", "cluster": "runs"}  # of the results, with dataset/subject/seed in it


@dataclass(frozen=True)
class SeedFolder:
    """The folder of one seed; `Record` reads a complete one.

    Attributes
    ----------
    path : Path
        The folder; under a temporary name that of a seed that is being made.
    """

    path: Path

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of the path from the root that the folder has, or gets when the seed is complete."""
        return final_name(Path(os.path.abspath(self.path))).parts  # noqa: PTH100 a link keeps its own name

    @property
    def stage(self) -> Literal["pretrain", "cluster"]:
        """Which rule makes the folder."""
        return "pretrain" if self.parts[-4:-3] == (FOLDERS["pretrain"],) else "cluster"

    def file(self, name: str) -> Path:
        """Path of one of the `SEED_FILES`."""
        return self.path / SEED_FILES[name]

    @property
    def command(self) -> str:
        """The command that makes the seed."""
        what = " ".join(self.parts[-3:-1])
        return f"python -m dekm {self.stage} {what}"

    @property
    def remedy(self) -> str:
        """What to do about a damaged file of the seed."""
        return f"Run '{self.command}' again: it makes the seed again."

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What made the seed: dataset, method, settings, key, versions, commit and more.

        Raises
        ------
        InputError
            If they cannot be read, or are those of a seed that belongs into another folder.
        """
        check_file(self.file("facts"), self.remedy)
        subject = SUBJECTS[self.stage]
        facts = read_json(self.file("facts"), {**FACTS, subject: str}, self.remedy)
        found = (facts["dataset"], facts[subject], f"seed{facts['seed']}")
        if found != self.parts[-3:]:
            place = "/".join(found)
            what = f"{self.path} holds {' '.join(found)}, which belongs into another folder"
            in_results = any(part in FOLDERS.values() for part in self.parts[-4:-3])
            remedy = self.remedy if in_results else f"It should be in a folder of results, as runs/{place}."
            raise InputError(f"{what}. {remedy}")
        return facts

    @property
    def warnings(self) -> list[str]:
        """What the fit has warned of."""
        return self.facts.get("warnings", [])

    @property
    def failure(self) -> str:
        """Why the fit has no partition, such as "seed 2 failed: The training diverged"; else empty."""
        return describe_failure(self.facts)

    @property
    def maker(self) -> dict[str, Any]:
        """Facts of the run that made the seed, which was another one if it was taken from elsewhere."""
        return self.facts.get("origin") or self.facts

    @property
    def data(self) -> PreparedData:
        """The prepared data of the seed's dataset."""
        results = Path(*self.parts[:-4])
        return PreparedData(results / "data" / self.facts["dataset"])

    @property
    def subject(self) -> str:
        """The method, or the architecture of a pretraining."""
        return self.facts[SUBJECTS[self.stage]]

    @property
    def label(self) -> str:
        """Name of the method in the paper, or the architecture of a pretraining."""
        return self.facts.get("label", self.subject)

    @property
    def name(self) -> str:
        """Short name, such as digits/dekm/s0."""
        return f"{self.facts['dataset']}/{self.subject}/s{self.facts['seed']}"

    @property
    def file_name(self) -> str:
        """Name of files about the seed, without their endings, such as digits-dekm-s0."""
        return self.name.replace("/", "-")

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
        except UnavailableError:
            raise
        except InputError as error:
            return str(error)

    def is_made_under_other_key(self, key: str) -> bool:
        """Whether processes are making the seed now, all of them under other keys.

        A folder whose facts cannot be read yet is ignored.
        """
        parts = [SeedFolder(found.path) for found in temporaries(self.path.parent, self.path.name)]
        keys = {part.facts["key"] for part in parts if part.has_facts()}
        return bool(keys) and key not in keys

    def history(self) -> list[dict[str, float]]:
        """One row per iteration or epoch, of an unfinished seed too; an empty field is NaN."""
        files = (self.file(name) for name in ("history", "loss", "live"))
        file = next((file for file in files if file.exists()), None)
        if file is None:
            return []
        check_file(file, self.remedy)
        return read_numbers(file, ("n_iter", "epoch"), self.remedy)


def describe_failure(facts: Mapping[Any, Any]) -> str:
    """Why a fit has no partition, by the facts of its seed; empty if it has one."""
    text = facts.get(FAILED)
    return f"seed {facts['seed']} failed: {text}" if text else ""
