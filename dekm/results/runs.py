"""All runs of a folder of results, read once; tables, ranks, claims and advice read nothing else."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING

from dekm.errors import InputError
from dekm.results.folders import CellFolder
from dekm.results.progress import WARNING
from dekm.results.record import Record
from dekm.results.result_set import ResultSet

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

CellKey = tuple[str, str]


@dataclass(frozen=True)
class Runs:
    """The runs that count."""

    cells: Mapping[CellKey, list[Record]]  # the runs of each finished cell, by dataset and method
    # what is wrong with the seeds or the summary of a cell that has them and does not count, a line each
    problems: Mapping[CellKey, list[str]]
    failed: Mapping[CellKey, list[Record]] = field(default_factory=dict)  # the runs without a partition

    def of_dataset(self, dataset: str) -> dict[str, list[Record]]:
        """The runs on a dataset by method, without those of figures alone."""
        found = {method: runs for (name, method), runs in self.cells.items() if name == dataset}
        return {method: runs for method, runs in found.items() if runs and runs[0].in_table}

    def joined(self, more: Mapping[CellKey, Sequence[Record]]) -> "Runs":
        """These and more runs, by seed within each cell."""
        cells: dict[CellKey, list[Record]] = {}
        failed: dict[CellKey, list[Record]] = {}
        for cell in {**self.cells, **more}:
            runs = (*self.cells.get(cell, ()), *self.failed.get(cell, ()), *more.get(cell, ()))
            in_order = sorted(runs, key=lambda run: run.facts["seed"])
            cells[cell] = [run for run in in_order if not run.failure]
            failed[cell] = [run for run in in_order if run.failure]
        return Runs(cells, self.problems, failed)

    @cached_property
    def table(self) -> "pd.DataFrame":
        """One row per run: dataset, method, label, in_table, seed, pretrained and the final metrics.

        `pretrained` is the key of the autoencoder from which a run started; empty without one.
        """
        import pandas as pd

        rows = [
            {
                "dataset": dataset,
                "method": method,
                "label": run.label,
                "in_table": run.in_table,
                "seed": run.facts["seed"],
                "data": run.facts["data"],
                "pretrained": run.facts.get("pretrained") or "",
                **run.metrics,
            }
            for (dataset, method), runs in self.cells.items()
            for run in runs
        ]
        columns = ["dataset", "method", "label", "in_table", "seed", "data", "pretrained"]
        return pd.DataFrame(rows, columns=None if rows else columns)


def read_runs(
    results: ResultSet, datasets: Collection[str] | None = None, methods: Collection[str] | None = None
) -> Runs:
    """Read the runs of finished cells; seeds that do not count are named in warnings.

    By default those of all datasets and methods.
    """
    runs, problems = dict[CellKey, list[Record]](), {}
    for folder in results.finished_cells():
        dataset, method = folder.name
        if (datasets is None or dataset in datasets) and (methods is None or method in methods):
            runs[folder.name], found = read_cell(folder)
            if found:
                problems[folder.name] = found
    for line in [line for lines in problems.values() for line in lines]:
        logger.warning("%snot counted: %s", WARNING, line)
    return Runs({}, problems).joined(runs)


def mean_accuracy(cells: Mapping[str, Sequence[Record]]) -> dict[str, float]:
    """Mean ACC over the seeds, in [0, 1], of each method all of whose runs have one."""
    return {
        method: fmean(run.metrics["acc"] for run in records)
        for method, records in cells.items()
        if all(run.metrics.get("acc") is not None for run in records)
    }


def read_cell(folder: CellFolder) -> tuple[list[Record], list[str]]:
    """The runs of a cell, failed ones too, and what is wrong with those that cannot be read."""
    records: list[Record] = []
    problems: list[str] = []
    try:
        counted = folder.counted(failed=True)
    except InputError as error:
        return [], [str(error)]
    for seed, entry in counted.items():
        try:
            record = folder.record(seed, entry)
            record.check_data()
            _ = record.metrics
            records.append(record)
        except InputError as error:
            problems.append(str(error))
    return records, problems
