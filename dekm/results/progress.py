"""Where a running job is: what it writes about itself, and whether it still runs."""

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from dekm.files.leftovers import read_temporary
from dekm.files.reading import read_or_empty

HEARTBEAT_SECONDS = 10.0  # a job touches its file so often, also within a long iteration
WARNING = "warning: "  # begins what a job tells the user of the workflow through its log
SILENT_SECONDS = 120.0  # without a heartbeat for so long, a job is taken for dead


@dataclass(frozen=True)
class Progress:
    """Where a seed that is being made is."""

    host: str
    pid: int
    unit: str  # what is counted: "epoch" or "iteration"
    done: int  # finished ones
    total: int  # at the end, or at most
    may_stop_early: bool  # before `total`
    seconds: float  # of the job so far
    seconds_per_unit: float | None  # mean; None before two of them are known
    latest: dict[str, float]  # what the last one gave: loss, changed, scores

    @property
    def seconds_left(self) -> float | None:
        """Time until `total`; None if it cannot be told yet."""
        return None if self.seconds_per_unit is None else (self.total - self.done) * self.seconds_per_unit

    @property
    def place(self) -> str:
        """Position, such as "epoch 57/200"."""
        return f"{self.unit} {self.done}/{self.total}" if self.total else "running"

    def describe(self) -> str:
        """Position and time left, such as "epoch 57/200, 3 min left"."""
        if self.seconds_left is None or self.total == 0:
            return self.place
        bound = "at most " if self.may_stop_early else ""
        return f"{self.place}, {bound}{duration(self.seconds_left)} left"

    def write(self, file: Path) -> None:
        """Write the file of a job's progress, whole or not at all; it need not outlive a power failure."""
        temporary = file.with_suffix(".tmp")
        temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")
        os.replace(temporary, file)


def read_progress(file: Path) -> Progress | None:
    """The progress of a job; None if the file does not exist, is incomplete or of another version."""
    try:
        return Progress(**read_or_empty(file))
    except TypeError:
        return None


def is_alive(file: Path) -> bool:
    """Whether the job that writes `file` still runs.

    A job is dead if its process is known to have ended, and everywhere, also on another node of a shared file
    system or in another container, if the file has not been touched for `SILENT_SECONDS`.
    """
    try:
        silent = time.time() - file.stat().st_mtime > SILENT_SECONDS
    except FileNotFoundError:
        return False
    made = read_temporary(file.parent)
    return not silent and (made is None or not made.writer.is_dead(made.path))


def duration(seconds: float) -> str:
    """A time in two units at most, such as "45 s", "12 min" or "3 h 20 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(seconds / 3600)
    return f"{hours // 24} d {hours % 24} h"
