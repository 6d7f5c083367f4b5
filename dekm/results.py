"""The folders of runs, as those who read results see them."""

import contextlib
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import Timeout

from dekm.files import locked, read_json

POINTS_PER_CURVE = 200
TRAINING = {"loss", "changed", "inertia", "seconds"}
CURVES = ("history.csv", "loss.csv", "live.csv")


@dataclass(frozen=True)
class RunFolder:
    """A seed's folder, and what it says of itself."""

    path: Path
    stage: str
    facts: dict[str, Any]

    @property
    def what(self) -> str:
        """The method, or the architecture of a pretraining."""
        return self.facts["method" if self.stage == "cluster" else "architecture"]

    @property
    def name(self) -> str:
        """Name of the run in the store."""
        return f"{self.facts['dataset']}/{self.what}/s{self.facts['seed']}"


def run_folders(results: Path) -> Iterator[RunFolder]:
    """The complete seeds below a folder of results, oldest first."""
    found = [
        RunFolder(file.parent, stage, read_json(file))
        for stage, pattern in (("pretrain", "pretrained"), ("cluster", "runs"))
        for file in results.glob(f"{pattern}/*/*/seed*/facts.json")
    ]
    yield from sorted(found, key=lambda folder: folder.facts["created"])


def unfinished_folders(results: Path) -> list[RunFolder]:
    """The runs that are being made now: their folders hold what is known so far."""
    found = []
    for file in results.glob("runs/*/*/.seed*.part.*/facts.json"):
        seed = file.parent.name.split(".")[1]
        try:
            with locked(file.parent.with_name(seed)).acquire(blocking=False):
                continue  # nobody is at it: a killed process left it behind
        except Timeout:
            with contextlib.suppress(FileNotFoundError):  # it ended a moment ago
                found.append(RunFolder(file.parent, "cluster", read_json(file)))
    return found


def curves(folder: Path) -> Iterator[tuple[str, float, int, int]]:
    """Points (name, value, milliseconds since the start, step) of the curves in a run folder.

    There are none before the first iteration.
    """
    file = next((folder / name for name in CURVES if (folder / name).exists()), None)
    if file is None:
        return
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    stride = -(-len(rows) // POINTS_PER_CURVE) if rows else 1
    for i, row in enumerate(rows):
        if i % stride and i != len(rows) - 1:
            continue
        step = int(row.get("n_iter") or row["epoch"])
        ms = int(1000 * float(row.get("seconds") or 0))
        for name, value in row.items():
            if name not in ("n_iter", "epoch") and value:
                yield f"{'train' if name in TRAINING else 'eval'}/{name}", float(value), ms, step


def note(folder: RunFolder) -> str:
    """The description that the run's page shows."""
    facts = folder.facts
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"{facts.get('label', folder.what)} on {facts['dataset']}, seed {facts['seed']}, "
        f"on {facts['device']}. Files: `{folder.path}`. Commit {facts['commit']}; {versions}."
    )
