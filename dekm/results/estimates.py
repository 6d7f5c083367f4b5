"""How long an experiment will take, from what is measured of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from dekm.results.status import CellStatus


@dataclass(frozen=True)
class TimeLeft:
    """The time that an experiment needs to its end."""

    seconds: float  # of the seeds of which something is known
    n_unknown: int  # seeds of which nothing is known


def time_left(cells: Sequence[CellStatus]) -> TimeLeft:
    """Estimate the computing time of all seeds that are not complete."""
    seconds, n_unknown = 0.0, 0
    for cell in cells:
        expected = expected_seconds(cell, cells)
        for seed in cell.seeds:
            if seed not in cell.seconds:
                left = seconds_left(cell, seed, expected)
                n_unknown += left is None
                seconds += left or 0.0
    return TimeLeft(seconds, n_unknown)


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
        if is_alike(cell, other) and other.work
        for seconds in measured_seconds(other)
    ]
    return cell.work * sum(per_work) / len(per_work) if per_work and cell.work else None


def is_alike(cell: CellStatus, other: CellStatus) -> bool:
    """Whether two cells train the same network by the same method."""
    same = (cell.stage, cell.subject) == (other.stage, other.subject)
    return same and cell.has_images == other.has_images


def measured_seconds(cell: CellStatus) -> list[float]:
    """Times of the complete seeds; without any, the estimates of the running ones."""
    running = [found.progress for found in cell.running if found.progress]
    estimates = [
        progress.seconds + progress.seconds_left for progress in running if progress.seconds_left is not None
    ]
    return list(cell.seconds.values()) or estimates
