"""The curves of a run: its losses and scores over the iterations or epochs."""

import math
from collections.abc import Iterator

from dekm.errors import InputError
from dekm.results.folders import Record, SeedFolder

POINTS_PER_CURVE = 200
UNGROUPED = {"acc", "nmi", "ari", "f1"}  # all other curves show the training
GROUPS = {"pretrain": "pretrain", "cluster": "train"}  # of the charts that show it, by stage

Point = tuple[str, float, int, int]


def curves(seed: SeedFolder) -> Iterator[Point]:
    """The points of the curves of a run; of long ones about `POINTS_PER_CURVE` and the last one.

    Yields name (``train/...`` or ``pretrain/...``, of a score its own), value (never NaN), milliseconds since
    the start of the run, and iteration or epoch.
    """
    rows = seed.history()
    if rows and "seconds" not in rows[0]:  # of a pretraining: only the time of all epochs is kept
        seconds = seed.metrics["seconds"] if isinstance(seed, Record) else 0.0
        rows = [row | {"seconds": seconds * i / len(rows)} for i, row in enumerate(rows, 1)]
    stride = max(1, -(-len(rows) // POINTS_PER_CURVE))
    for i, row in enumerate(rows):
        if i % stride and i != len(rows) - 1:
            continue
        step = int(row.pop("n_iter", row.pop("epoch", 0)))
        ms = int(1000 * row.pop("seconds", 0))
        for name, value in row.items():
            if not math.isnan(value):
                yield name if name in UNGROUPED else f"{GROUPS[seed.stage]}/{name}", value, ms, step


def new_points(seed: SeedFolder, logged: int) -> list[Point]:
    """The points of the curves after an iteration; none if the run has just ended."""
    try:
        return [point for point in curves(seed) if point[3] > logged]
    except InputError:
        if seed.path.exists():
            raise
        return []  # the next update logs it as complete
