"""What a running job shows of itself: a curve and its progress in files, and lines in its log."""

import contextlib
import csv
import logging
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from dekm.experiment.history import History, Recorder
from dekm.files import csv_fields
from dekm.results.progress import HEARTBEAT_SECONDS, Progress
from dekm.results.seed import SeedFolder

logger = logging.getLogger(__name__)

WRITE_SECONDS = 1.0  # at most one write in this time
SHOWN = ("loss", "changed", "acc", "nmi", "ari")  # of the last row

Row = Mapping[str, float]


class Live:
    """The live files in the unfinished folder of a seed; `name` is that of the job in its log.

    A thread reads what the hook of the job has recorded and writes the files, at most once a second, so the
    training does not wait for the disk; it touches the file of the progress also when there is nothing new.
    """

    def __init__(self, folder: SeedFolder, name: str) -> None:
        self.curve = folder.file("live")
        self.file = folder.file("progress")
        self.name = name
        self._recorder: Recorder = History()  # nothing is recorded until the job says where
        self._scores: Callable[[], Sequence[Row]] | None = None
        self._n_written = self._n_restored = 0
        self._changed = True

    def follow(self, recorder: Recorder, scores: Callable[[], Sequence[Row]] | None = None) -> None:
        """Show what a hook records, and the scores of its rows; the hook knows nothing of either."""
        self._recorder, self._scores = recorder, scores
        self._changed = True

    def flush(self) -> None:
        """Write and log what is new; without news, touch the file if a heartbeat is due."""
        if self._n_restored != self._recorder.n_restored:  # the rows are now those of an interrupted job
            self._n_restored, self._n_written = self._recorder.n_restored, 0
        rows = self._rows()
        new, is_first = rows[self._n_written :], self._n_written == 0
        if not (new or self._changed):
            if time.time() - self.file.stat().st_mtime > HEARTBEAT_SECONDS:
                os.utime(self.file)
            return
        self._changed = False
        self._n_written = len(rows)
        progress = self._progress(rows)
        progress.write(self.file)
        if new:
            self._append(new, is_first=is_first)
            shown = " ".join(f"{name}={value:.4g}" for name, value in progress.latest.items())
            logger.info("%s: %s; %s", self.name, progress.describe(), shown)

    def _rows(self) -> list[Row]:
        points: list[Row] = list(self._recorder.points)
        if self._scores is None:
            return points
        return [{**point, **score} for point, score in zip(points, self._scores(), strict=False)]

    def _progress(self, rows: Sequence[Row]) -> Progress:
        """Where the job is now."""
        recorder = self._recorder
        first = rows[max(0, self._n_restored - 1)] if rows else {}
        last = rows[-1] if rows else {}
        done = int(last.get(recorder.column, 0))
        n = done - int(first.get(recorder.column, 0))
        return Progress(
            host=socket.gethostname(),
            pid=os.getpid(),
            unit=recorder.unit,
            done=done,
            total=recorder.total,
            may_stop_early=recorder.may_stop_early,
            seconds=recorder.seconds(),
            seconds_per_unit=(last["seconds"] - first["seconds"]) / n if n else None,
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
            with contextlib.suppress(OSError):  # a full disk stops the job where it writes its results
                self.flush()
            last = ended.is_set()
            ended.wait(WRITE_SECONDS)

    def _append(self, rows: Sequence[Row], *, is_first: bool) -> None:
        with self.curve.open("w" if is_first else "a", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
            if is_first:
                writer.writeheader()
            writer.writerows(csv_fields(row) for row in rows)
