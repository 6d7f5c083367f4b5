"""The state of an experiment as text, and how long its rest may take."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from dekm.results.progress import duration
from dekm.results.status import CellStatus, Status


def describe_status(status: Status) -> str:
    """The state of an experiment: a summary, a table of methods and datasets, and a line per event."""
    parts = ["\n".join(summary(status)), table(status.cells), "\n".join(events(status))]
    return "\n\n".join(part for part in parts if part)


def summary(status: Status) -> Iterator[str]:
    """How much is complete, and how long the rest may take."""
    cells = status.cells
    n_seeds, n_complete = sum(len(cell.seeds) for cell in cells), sum(len(cell.seconds) for cell in cells)
    n_running = sum(len(cell.running) for cell in cells)
    measured = sum(sum(cell.seconds.values()) for cell in cells)
    counts = [f"{n_complete} of {n_seeds} seeds complete", f"{n_running} running"]
    states = Counter(cell.state for cell in cells)
    counts += [f"{states[state]} {state}" for state in ("damaged", "dead", "failed") if states[state]]
    yield f"{status.path}: {', '.join(counts)}; {duration(measured)} of computation so far."
    if not status.planned:
        yield "It holds no plan.json of this version, so cells that have not begun are not shown."
    if n_complete < n_seeds:
        yield rest(cells)


def rest(cells: Sequence[CellStatus]) -> str:
    """How long the seeds that are not complete may take."""
    left = time_left(cells)
    unknown = f"nothing is known yet of the time of {left.n_unknown} seeds"
    if left.seconds == 0 and left.n_unknown:
        return f"{unknown.capitalize()}."
    running = [found.progress for cell in cells for found in cell.running if found.progress]
    n_jobs = len({(progress.host, progress.pid) for progress in running})
    several = f", {duration(left.seconds / n_jobs)} with {n_jobs} jobs" if n_jobs > 1 else ""
    others = f"; {unknown}" if left.n_unknown else ""
    return f"About {duration(left.seconds)} of computation left{several}{others}."


def table(cells: Sequence[CellStatus]) -> str:
    """A row per method or pretraining, a column per dataset; the time is the mean of the complete seeds."""
    texts = {(cell.stage, cell.subject, cell.dataset): cell_text(cell) for cell in cells}
    return grid(texts) if cells else ""


def grid(texts: Mapping[tuple[str, str, str], str], corner: str = "") -> str:
    """The text of each stage, subject and dataset: rows of pretrainings, then of methods."""
    datasets = dict.fromkeys(dataset for _, _, dataset in texts)
    rows = sorted(dict.fromkeys(key[:2] for key in texts), key=lambda row: row[0] != "pretrain")
    lines = [[corner, *datasets]]
    for stage, subject in rows:
        name = f"pretrain {subject}" if stage == "pretrain" else subject
        lines.append([name, *(texts.get((stage, subject, dataset), "") for dataset in datasets)])
    return aligned(lines)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Lines of a table, all columns as wide as their longest text."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)


def cell_text(cell: CellStatus) -> str:
    """A cell of the table, such as "3/3 12 min" or "1/3 running"."""
    n_complete = f"{len(cell.seconds)}/{len(cell.seeds)}"
    if cell.state == "complete":
        n_complete += f" {duration(mean(cell.measured))}" if cell.measured else ""
        return f"{n_complete}, {len(cell.failed)} failed" if cell.failed else n_complete
    return f"{n_complete} {cell.state}"


def events(status: Status) -> Iterator[str]:
    """What is running, dead, failed, warned of or left out, one line each."""
    for dataset, texts in status.warned.items():
        yield from (f"{'warning':<9}{dataset}: {text}" for text in texts)
    for cell in status.cells:
        if cell.warnings:
            yield f"{'warning':<9}{cell.name}: {cell.warnings}"
        for found in sorted(cell.unfinished, key=lambda found: (not found.alive, found.seed)):
            where = f" ({found.progress.host}, process {found.progress.pid})" if found.progress else ""
            text = "at an unknown place"
            if found.progress:
                text = found.progress.describe() if found.alive else f"stopped at {found.progress.place}"
            latest = found.progress.latest if found.progress else {}
            shown = "".join(f" {name}={value:.4g}" for name, value in latest.items())
            kept = "; a checkpoint is kept" if not found.alive and found.seed in cell.checkpoints else ""
            state = "running" if found.alive else "dead"
            yield f"{state:<9}{cell.name}, seed {found.seed}{where}: {text}{shown}{kept}"
    for cell in status.cells:
        for seed, problem in cell.damaged.items():
            yield f"damaged  {cell.name}, seed {seed}: {problem}"
        if cell.state == "failed":
            yield f"failed   {cell.name}: {cell.error or cell.warnings}"
        begun = [found.seed for found in cell.unfinished]
        for seed in cell.checkpoints:
            if seed not in begun:
                yield f"waiting  {cell.name}, seed {seed}: continues from its checkpoint"
    for dataset, reason in status.left_out.items():
        yield f"left out {dataset}: it {reason}"


@dataclass(frozen=True)
class TimeLeft:
    """The time that an experiment needs to its end."""

    seconds: float  # of the seeds of which something is known
    n_unknown: int  # seeds of which nothing is known
    n_left: int  # all seeds that are not complete

    @property
    def is_known(self) -> bool:
        """Whether something is known of most seeds; otherwise the seconds say little."""
        return 4 * self.n_unknown <= self.n_left


def time_left(cells: Sequence[CellStatus]) -> TimeLeft:
    """Estimate the computing time of all seeds that are not complete."""
    seconds, n_unknown, n_left = 0.0, 0, 0
    for cell in cells:
        expected = expected_seconds(cell, cells)
        for seed in cell.seeds:
            if seed not in cell.seconds:
                left = seconds_left(cell, seed, expected)
                n_left += 1
                n_unknown += left is None
                seconds += left or 0.0
    return TimeLeft(seconds, n_unknown, n_left)


def seconds_left(cell: CellStatus, seed: int, expected: float | None) -> float | None:
    """Time that a seed still needs, if anything is known of it."""
    progress = next((found.progress for found in cell.running if found.seed == seed), None)
    if progress is None:
        return expected
    by_expectation = None if expected is None else max(0.0, expected - progress.seconds)
    if progress.seconds_left is None or (progress.may_stop_early and cell.seconds):
        return by_expectation
    return progress.seconds_left


def expected_seconds(cell: CellStatus, cells: Sequence[CellStatus]) -> float | None:
    """Time of a seed, from those of the cell, or of the same method on other data of the kind by work."""
    own = measured_seconds(cell)
    if own:
        return sum(own) / len(own)
    per_work = [
        seconds / other.work
        for other in cells
        if (cell.stage, cell.subject, cell.has_images) == (other.stage, other.subject, other.has_images)
        and other.work
        for seconds in measured_seconds(other)
    ]
    return cell.work * sum(per_work) / len(per_work) if per_work and cell.work else None


def measured_seconds(cell: CellStatus) -> list[float]:
    """Times of the complete seeds; without any, the estimates of the running ones."""
    running = [found.progress for found in cell.running if found.progress]
    estimates = [
        progress.seconds + progress.seconds_left for progress in running if progress.seconds_left is not None
    ]
    return cell.measured or estimates
