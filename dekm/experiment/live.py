"""What a running job shows of itself: a curve and its progress in files, and lines in its log."""

import contextlib
import csv
import logging
import math
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

from dekm.files import csv_fields
from dekm.results.folders import SeedFolder
from dekm.results.progress import HEARTBEAT_SECONDS, Progress

logger = logging.getLogger(__name__)

WRITE_SECONDS = 1.0  # at most one write in this time
SHOWN = ("loss", "changed", "acc", "nmi", "ari")  # of the last row

Row = Mapping[str, float]


class Live:
    """The live files of one seed.

    `update` only takes notes, so the training does not wait for the disk. A thread writes them, at most once
    a second; it touches the file of the progress also when there is nothing new.

    Parameters
    ----------
    folder : SeedFolder
        Unfinished folder of the seed.
    name : str
        Name of the job in its log.
    """

    def __init__(self, folder: SeedFolder, name: str) -> None:
        self.curve = folder.file("live")
        self.file = folder.file("progress")
        self.name = name
        self.unit, self.total, self.may_stop_early = "iteration", 0, False
        self._first: tuple[float, int] | None = None
        self._last = (time.monotonic(), 0)
        self._rows: list[Row] = []
        self._n_written = 0
        self._changed = True
        self._lock = threading.Lock()  # of the notes, not held while files are written

    def plan(self, unit: str, total: int, *, may_stop_early: bool = False) -> None:
        """State what is counted, and how many there are at most."""
        self.unit, self.total, self.may_stop_early = unit, total, may_stop_early
        self._changed = True

    def update(self, done: int, row: Row) -> None:
        """Note the result of an epoch or iteration, the columns of a row of the curve."""
        with self._lock:
            self._rows.append(row)
            self._last = (time.monotonic(), done)
            self._first = self._first or self._last
            self._changed = True

    def restore(self, done: int, rows: Sequence[Row]) -> None:
        """Take over the rows of an interrupted job, in place of those noted so far."""
        with self._lock:
            self._rows, self._n_written = list(rows), 0
            self._first = self._last = (time.monotonic(), done)
            self._changed = True

    def flush(self) -> None:
        """Write and log what is new; without news, touch the file if a heartbeat is due."""
        if not self._changed:
            if time.time() - self.file.stat().st_mtime > HEARTBEAT_SECONDS:
                os.utime(self.file)
            return
        with self._lock:
            self._changed = False
            new, is_first = self._rows[self._n_written :], self._n_written == 0
            self._n_written += len(new)
            progress = self.progress()
        progress.write(self.file)
        if new:
            self._append(new, is_first=is_first)
            shown = " ".join(f"{name}={value:.4g}" for name, value in progress.latest.items())
            logger.info("%s: %s; %s", self.name, progress.describe(), shown)

    def progress(self) -> Progress:
        """Where the job is now."""
        now, done = self._last
        start, first = self._first or self._last
        last = self._rows[-1] if self._rows else {}
        return Progress(
            host=socket.gethostname(),
            pid=os.getpid(),
            unit=self.unit,
            done=done,
            total=self.total,
            may_stop_early=self.may_stop_early,
            seconds=last.get("seconds", 0.0) + time.monotonic() - now,
            seconds_per_unit=(now - start) / (done - first) if done > first else None,
            latest={name: last[name] for name in SHOWN if not math.isnan(last.get(name, math.nan))},
        )

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Write the files in a thread while the block runs, and remove them after it."""
        ended = threading.Event()
        thread = threading.Thread(target=self._write_until, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
        self.curve.unlink(missing_ok=True)
        self.file.unlink(missing_ok=True)

    def _write_until(self, ended: threading.Event) -> None:
        last = False
        while not last:
            with contextlib.suppress(OSError):  # a full disk must not end a training; its own files will
                self.flush()
            last = ended.is_set()
            ended.wait(WRITE_SECONDS)

    def _append(self, rows: Sequence[Row], *, is_first: bool) -> None:
        with self.curve.open("w" if is_first else "a", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
            if is_first:
                writer.writeheader()
            writer.writerows(csv_fields(row) for row in rows)
