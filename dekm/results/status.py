"""The state of an experiment, read from files alone: what is complete, running, dead, failed or waiting."""

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Literal

from dekm.errors import InputError
from dekm.files.leftovers import temporaries
from dekm.results.data import read_facts
from dekm.results.folders import CellFolder
from dekm.results.progress import SILENT_SECONDS, Progress, is_alive, read_progress
from dekm.results.record import Record, describe_warnings
from dekm.results.result_set import PATTERNS, ResultSet, failure
from dekm.results.seed import FOLDERS, SeedFolder

State = Literal["complete", "running", "damaged", "dead", "failed", "waiting"]

# Weights of the paper's network 500-500-2000-10 behind its first layer, per unit of that layer.
INNER_LAYERS = (500 * 500 + 500 * 2000 + 2000 * 10) // 500


@dataclass(frozen=True)
class UnfinishedSeed:
    """A seed that is being made, or whose job was killed."""

    seed: int
    progress: Progress | None  # None if it is not known where its job is, or was
    alive: bool  # whether the job runs


@dataclass(frozen=True)
class CellStatus:
    """The state of a pretraining, or of one method on one dataset."""

    stage: str
    dataset: str
    subject: str  # key of its method or architecture
    label: str
    seeds: Sequence[int]  # that the experiment has
    seconds: dict[int, float] = field(default_factory=dict)  # measured time of each complete seed
    unfinished: list[UnfinishedSeed] = field(default_factory=list)  # that have begun
    checkpoints: list[int] = field(default_factory=list)  # the seeds with one
    error: str = ""  # the last line of the log of a failed job
    work: int = 0  # of a pass over the samples (`work_of`); 0 if the data are not prepared
    has_images: bool = False  # many methods have another network for them
    damaged: dict[int, str] = field(default_factory=dict)  # what is wrong with seeds, or with their place
    warnings: str = ""  # of the complete seeds
    failed: Sequence[int] = ()  # complete seeds whose fit has failed

    @property
    def state(self) -> State:
        """The state of the cell as a whole."""
        if self.seeds and len(self.seconds) == len(self.seeds):
            return "failed" if len(self.failed) == len(self.seeds) else "complete"
        if self.running:
            return "running"
        if self.damaged:
            return "damaged"
        if self.unfinished:
            return "dead"
        return "failed" if self.error else "waiting"

    @property
    def measured(self) -> list[float]:
        """The times of the complete seeds whose fit has come to its end."""
        return [seconds for seed, seconds in self.seconds.items() if seed not in self.failed]

    @property
    def running(self) -> list[UnfinishedSeed]:
        """The seeds that are being made."""
        return [seed for seed in self.unfinished if seed.alive]

    @property
    def name(self) -> str:
        """Short name, such as "mnist conv"."""
        return f"{self.dataset} {self.subject}"


@dataclass(frozen=True)
class Status:
    """The state of an experiment."""

    path: Path  # of its results
    cells: list[CellStatus]  # those of a dataset together
    left_out: Mapping[str, str]  # why datasets are left out
    planned: bool  # whether the folder says what the experiment consists of, not only what has begun
    warned: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of the preparation, by dataset


def find_results(folders: Iterable[Path]) -> Iterator[Path]:
    """The given folders that hold results, or else their direct subfolders that do.

    `InputError` if there are none.
    """
    for folder in folders:
        inner = [folder] if is_result(folder) else sorted(filter(is_result, folder.glob("*")))
        if not inner:
            raise InputError(
                f"{folder} should be a folder of results; it holds no plan.json, pretrained/ or runs/. "
                "They are there once an experiment has begun, by make demo or make paper."
            )
        yield from inner


def is_result(folder: Path) -> bool:
    """Whether a folder holds results, also if they have only begun."""
    results = ResultSet(folder)
    return results.plan_file.is_file() or any((folder / name).is_dir() for name in FOLDERS.values())


def read_status(path: Path) -> Status:
    """Read the state of an experiment from its folder of results."""
    results = ResultSet(path)
    plan = results.plan
    try:
        cells = [cell_status(results, **cell) for cell in plan["cells"]]
        return Status(path, cells, plan["left_out"], planned=True, warned=warned_of(results, cells))
    except (KeyError, TypeError):  # no plan, or that of another version
        begun = [(stage, *cell.name) for stage in sorted(PATTERNS) for cell in results.cells(stage)]
        found = [cell_status(results, *cell) for cell in begun]
        cells = [cell for cell in found if cell.seeds or cell.error]
        return Status(path, cells, {}, planned=False, warned=warned_of(results, cells))


def warned_of(results: ResultSet, cells: Iterable[CellStatus]) -> dict[str, list[str]]:
    """What the preparation of each dataset warned of."""
    datasets = dict.fromkeys(cell.dataset for cell in cells)
    return {name: read_facts(results.data(name)).get("warnings", []) for name in datasets}


def cell_status(
    results: ResultSet, stage: str, dataset: str, subject: str, label: str = "", seeds: Sequence[int] = ()
) -> CellStatus:
    """Read the state of a cell; without planned seeds, of those that have begun."""
    folder = results.cell_of(stage, dataset, subject)
    (complete, damaged), unfinished = complete_seeds(folder), list(unfinished_seeds(folder))
    seeds = seeds or sorted({*complete, *damaged, *(seed.seed for seed in unfinished)})
    records = {seed: complete[seed] for seed in seeds if seed in complete}
    data = read_facts(results.data(dataset))
    return CellStatus(
        stage,
        dataset,
        subject,
        label or subject,
        seeds,
        {seed: float(record.metrics["seconds"]) for seed, record in records.items()},
        [seed for seed in unfinished if seed.seed in seeds],
        [seed for seed in seeds if folder.checkpoint_file(seed).exists()],
        failure(results.log_file(stage, dataset, subject)),
        work_of(data.get("n_samples", 0), data.get("shape", [0])),
        len(data.get("shape", [0])) > 1,
        {seed: damaged[seed] for seed in seeds if seed in damaged},
        describe_warnings(records.values()),
        [seed for seed, record in records.items() if record.failure],
    )


def work_of(n_samples: int, shape: Sequence[int]) -> int:
    """Work of a pass over samples, up to a factor that depends on the method.

    It is proportional to the pixels of images. The layers of a fully connected network behind the first one
    cost as much as that many more values.
    """
    return n_samples * (prod(shape) if len(shape) != 1 else shape[0] + INNER_LAYERS)


def complete_seeds(folder: CellFolder) -> tuple[dict[int, Record], dict[int, str]]:
    """The complete seeds of a cell, whose metrics can be read, and what is wrong with the damaged ones."""
    complete, damaged = {}, {}
    counted = {}
    with contextlib.suppress(InputError):  # while a cell is made there is no summary
        counted = folder.counted(failed=True)
    for found in folder.seed_folders():
        seed = found.path.name.removeprefix("seed")
        try:
            record = folder.record(seed, counted.get(seed, {}))
            _ = record.metrics
            complete[int(seed)] = record
        except InputError as error:
            damaged[int(seed)] = str(error)
    return complete, damaged


def unfinished_seeds(folder: CellFolder) -> Iterator[UnfinishedSeed]:
    """The seeds of a cell that are being made, or whose job was killed."""
    for found in temporaries(folder.path, "seed*"):
        number = found.target.name.removeprefix("seed")
        file = SeedFolder(found.path).file("progress")
        progress = read_progress(file)
        if number.isdecimal():
            alive = is_alive(file) if progress else is_recent(found.path)
            yield UnfinishedSeed(int(number), progress, alive)


def is_recent(path: Path) -> bool:
    """Whether a folder has changed so lately that its job may still run."""
    try:
        return time.time() - path.stat().st_mtime < SILENT_SECONDS
    except FileNotFoundError:
        return False
