"""A folder of results as a whole: where its folders are, and which of them exist."""

import contextlib
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dekm.errors import InputError, shown, without_secrets
from dekm.files import is_locked
from dekm.files.leftovers import temporaries
from dekm.files.reading import read_or_empty
from dekm.results.data import PreparedData
from dekm.results.folders import CellFolder
from dekm.results.seed import FOLDERS, SeedFolder

logger = logging.getLogger(__name__)

OUTPUTS = ("tables", "figures")
# The figures that are drawn from finished tables, and from which of them.
FIGURES_OF_TABLES = {"ranks": ("ranks.csv",), "cost": ("table3.csv", "further.csv")}
RESERVED = ("mlartifacts", "reference", "damaged")  # folders of a store that are not results
RUN_OF_PAGE = '<meta name="run" content="{}">'  # near the start of a page, with the id of the run
PATTERNS = {stage: f"{folder}/*/*" for stage, folder in FOLDERS.items()}


@dataclass(frozen=True)
class ResultSet:
    """A folder of results.

    Attributes
    ----------
    path : Path
        The folder.
    """

    path: Path

    @property
    def plan_file(self) -> Path:
        """File of what the experiment consists of."""
        return self.path / "plan.json"

    @property
    def plan(self) -> dict[str, Any]:
        """What the experiment consists of; empty if it is not known."""
        return read_or_empty(self.plan_file)

    def data(self, dataset: str) -> PreparedData:
        """The prepared data of a dataset."""
        return PreparedData(self.path / "data" / checked_name(dataset))

    def pretraining(self, dataset: str, architecture: str) -> CellFolder:
        """The pretrained autoencoders of a dataset."""
        return self.cell_of("pretrain", dataset, architecture)

    def cell(self, dataset: str, method: str) -> CellFolder:
        """The runs of one method on one dataset."""
        return self.cell_of("cluster", dataset, method)

    def cell_of(self, stage: str, dataset: str, subject: str) -> CellFolder:
        """The seeds of a pretraining, or of one method on one dataset."""
        return CellFolder(self.path / FOLDERS[stage] / checked_name(dataset) / checked_name(subject))

    def finished_cells(self) -> list[CellFolder]:
        """The cells of runs that have a summary, sorted by dataset and method."""
        return [cell for cell in self.cells("cluster") if cell.summary_file.is_file()]

    def cells(self, stage: str) -> list[CellFolder]:
        """The cells of a stage that have a folder, also those that are not finished."""
        return [CellFolder(path) for path in sorted(self.path.glob(PATTERNS[stage])) if path.is_dir()]

    def has_runs(self) -> bool:
        """Whether the folder holds runs."""
        return (self.path / FOLDERS["cluster"]).is_dir()

    def seeds(self) -> list[SeedFolder]:
        """All complete seeds of pretrainings and runs, sorted by the time at which they ended.

        Only their facts are checked: one whose facts cannot be read is left out and named in a warning.
        """
        patterns = (f"{pattern}/seed*/facts.json" for pattern in PATTERNS.values())
        seeds = [SeedFolder(file.parent) for pattern in patterns for file in self.path.glob(pattern)]
        return sorted(filter(_has_facts, seeds), key=lambda seed: seed.facts["created"])

    def unfinished_seeds(self) -> Iterator[SeedFolder]:
        """The seeds that are being made at this moment; their folders hold what is known so far."""
        cells = (cell for pattern in PATTERNS.values() for cell in self.path.glob(pattern))
        for found in (found for cell in cells for found in temporaries(cell, "seed*")):
            unfinished = SeedFolder(found.path)
            if is_locked(found.target) and unfinished.has_facts():
                yield unfinished

    def outputs(self) -> dict[str, Path]:
        """The folders of tables and figures that exist, by their names."""
        folders = {name: self.path / name for name in OUTPUTS}
        return {name: folder for name, folder in folders.items() if folder.is_dir()}

    def figures_of_run(self, dataset: str, method: str) -> Path:
        """Folder of the figures of a cell's first seed."""
        return self.path / "figures" / "runs" / dataset / method

    def page_of_run(self, dataset: str, method: str) -> Path:
        """Page of a cell's first seed."""
        return self.path / "explore" / f"{dataset}_{method}.html"

    def pages(self) -> dict[str, Path]:
        """The pages of runs that exist, by the ids of the runs."""
        found = {}
        for file in sorted(self.path.glob("explore/*.html")):
            with file.open(encoding="utf-8", errors="replace") as stream:
                mark = re.search(RUN_OF_PAGE.format('([^"]*)'), stream.read(1000))
            if mark:
                found[mark[1]] = file
        return found

    def shown_of_runs(self) -> dict[str, list[Path]]:
        """The pages and the figures of runs that exist, by the ids of the runs."""
        found = {id_: [page] for id_, page in self.pages().items()}
        for folder in sorted(self.path.glob("figures/runs/*/*")):
            with contextlib.suppress(InputError):  # no summary, or a damaged one
                seeds = self.cell(*folder.parts[-2:]).counted()
                for first in list(seeds.values())[:1]:  # whose figures are drawn
                    found.setdefault(first["id"], []).extend(sorted(folder.glob("*.png")))
        return found

    def choice_file(self, dataset: str) -> Path:
        """Measures of several numbers of clusters of a dataset, as CSV; the figure is beside it."""
        return self.path / "choose_k" / f"{checked_name(dataset)}.csv"

    def log_file(self, rule: str, *names: str) -> Path:
        """The log of a job: a stage, dataset and subject, or "prepare" or "download" and a dataset."""
        *folders, name = map(checked_name, names)
        return self.path.joinpath("logs", rule, *folders, f"{name}.log")

    def error_of_job(self, dataset: str, method: str) -> str:
        """The last log line of the job whose failure left a cell without runs; empty if none failed."""
        logs = (("cluster", dataset, method), ("prepare", dataset), ("download", dataset))
        return next((error for log in logs if (error := failure(self.log_file(*log)))), "")


def failure(log: Path) -> str:
    """The last line of a job's log if it tells an error; empty if the job has not failed."""
    last = without_secrets(last_line(log))
    return last if "Error" in last or "error:" in last else ""


def _has_facts(seed: SeedFolder) -> bool:
    try:
        return bool(seed.facts)
    except InputError as error:
        logger.warning("left out: %s", error)
        return False


def checked_name(name: str) -> str:
    """The name of a folder of results, such as that of a dataset.

    Raises
    ------
    InputError
        If the name could lead out of the results, or is too long for a file system.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", name):
        raise InputError(f"{shown(name)} should be a name of at most 100 letters, digits, '_' and '-'.")
    return name


def result_folders(store: Path) -> list[Path]:
    """All folders of results in the folder of a store, also those with pretrainings only, sorted by name."""
    folders = {path.parent for stage in FOLDERS.values() for path in store.glob(f"*/{stage}")}
    return [folder for folder in sorted(folders) if folder.name not in RESERVED]


def last_line(file: Path) -> str:
    """The last line of a text file that is not empty; empty where there is no such file."""
    if not file.is_file():
        return ""
    lines = [
        line.strip()
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        if line.strip()
    ]
    return lines[-1] if lines else ""
