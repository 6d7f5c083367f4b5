"""The estimate of an experiment as text."""

import os
from collections.abc import Iterator, Sequence

from dekm.experiment.config import Experiment
from dekm.experiment.estimate import Cell, planned_cells, threads
from dekm.experiment.measure import idleness
from dekm.nn.device import device_name
from dekm.results.progress import duration
from dekm.results.status_text import aligned

BUSY = 0.8  # share of a processor below which times are misleading


def describe_estimate(experiment: Experiment) -> str:
    """Time of a seed of every cell, and time, disk and memory of the whole experiment."""
    planned = list(planned_cells(experiment))
    cells = [cell for cell in planned if cell.is_known]
    outside = sorted({cell.subject for cell in planned if not cell.is_known})
    unknown = [f"Not included, since their steps are not known: {', '.join(outside)}."] if outside else []
    known = (
        [*summary(experiment, cells)] if cells else [f"{experiment.config['name']}: no time is known yet."]
    )
    return "\n".join(
        [*known, *unknown_sizes(experiment, cells), *unknown, *(["", table(cells)] if cells else [])]
    )


def summary(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[str]:
    """Time, disk and memory of the whole experiment."""
    device = device_name(experiment.machine.device)
    total = sum(cell.n_seeds * cell.seconds for cell in cells)
    name = f"{experiment.config['name']} on {device}"
    yield f"{name}: about {duration(total)} of computation; less if methods stop early."
    if device == "cpu" and (share := idleness()) < BUSY:
        yield (
            f"This machine is busy: what was measured had a processor for {share:.0%} of its time. On an "
            f"idle machine it takes about {duration(total * share)}."
        )
    n_threads, n_cores = threads(experiment), os.cpu_count() or 1
    if device == "cpu" and n_cores >= 2 * n_threads:
        n_jobs = n_cores // n_threads
        jobs = f"{n_jobs} jobs of {n_threads} thread{'s' if n_threads > 1 else ''}"
        yield f"With {jobs} at a time: about {duration(total / n_jobs)}."
    disk, memory = sum(cell.disk for cell in cells), max(cell.memory for cell in cells)
    yield f"Disk: about {size(disk)} with the MLflow store. Memory of a job: up to about {size(memory)}."


def unknown_sizes(experiment: Experiment, cells: Sequence[Cell]) -> Iterator[str]:
    """The datasets that are not included."""
    known = {cell.block.name for cell in cells}
    unknown = [name for name in experiment.datasets if name not in known]
    if unknown:
        yield f"Not included, since the size is not known before the data are prepared: {', '.join(unknown)}."
    for name, reason in experiment.left_out.items():
        yield f"{name} is left out: it {reason}."


def table(cells: Sequence[Cell]) -> str:
    """A row per method or pretraining, a column per dataset: time of one seed."""
    datasets = list(dict.fromkeys(cell.block.name for cell in cells))
    rows = sorted({(cell.stage, cell.subject): None for cell in cells}, key=lambda row: row[0] != "pretrain")
    texts = {(cell.stage, cell.subject, cell.block.name): duration(cell.seconds) for cell in cells}
    lines = [["one seed", *datasets]]
    for stage, subject in rows:
        name = f"pretrain {subject}" if stage == "pretrain" else subject
        lines.append([name, *(texts.get((stage, subject, dataset), "") for dataset in datasets)])
    return aligned(lines)


def size(n_bytes: float) -> str:
    """A number of bytes, such as "12 MB" or "3.4 GB"."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
