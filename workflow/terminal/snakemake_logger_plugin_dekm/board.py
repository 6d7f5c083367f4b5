"""The jobs of a workflow and where they are, in lines for a terminal."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from dekm.markup import printable
from dekm.results.folders import CellFolder
from dekm.results.progress import WARNING, duration
from dekm.results.record import describe_warnings
from dekm.results.result_set import ResultSet
from dekm.results.status import complete_seeds, read_status, unfinished_seeds
from dekm.results.status_text import time_left

ESTIMATE_SECONDS = 10.0  # between two estimates of the time left
LOG_LINES = 10  # of a failed job


@dataclass
class Job:
    """A job that runs.

    Attributes
    ----------
    message : str
        What it does.
    log : Path or None
        Its log.
    wildcards : dict of str to str
        The dataset, and the method or the architecture, if it is the job of a cell.
    started : float
        Time at which it started.
    """

    message: str
    log: Path | None
    wildcards: dict[str, str]
    started: float = field(default_factory=time.monotonic)

    @property
    def results(self) -> ResultSet | None:
        """The results that it belongs to; None if its log is not in them."""
        folders = (
            [] if self.log is None else [path.parent for path in self.log.parents if path.name == "logs"]
        )
        return ResultSet(folders[0]) if folders else None

    @property
    def cell(self) -> CellFolder | None:
        """The folder of its cell; None if it has none."""
        dataset, results = self.wildcards.get("dataset"), self.results
        if results is None or dataset is None:
            return None
        if "architecture" in self.wildcards:
            return results.pretraining(dataset, self.wildcards["architecture"])
        return results.cell(dataset, self.wildcards["method"]) if "method" in self.wildcards else None

    def positions(self) -> list[str]:
        """Where its running seeds are, such as "seed 1: epoch 57/200, 3 min left"."""
        if self.cell is None:
            return []
        seeds = sorted(unfinished_seeds(self.cell), key=lambda found: found.seed)
        return [f"seed {found.seed}: {found.progress.describe()}" for found in seeds if found.progress]

    def warnings(self) -> list[str]:
        """What the preparation of data warned of, or the seeds of a finished cell, in one line."""
        if self.results is not None and self.log is not None and self.log.parent.name == "prepare":
            return self.results.data(self.wildcards["dataset"]).warnings
        found = "" if self.cell is None else describe_warnings(complete_seeds(self.cell)[0].values())
        return [found] if found else []


class Board:
    """The jobs of a workflow: how many there are, which run, and where those are."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}
        self.results: ResultSet | None = None
        self.warned = False
        self._left, self._estimated = "", -ESTIMATE_SECONDS

    def start(self, record: logging.LogRecord) -> str:
        """Note a job that starts, and say it."""
        log = Path(record.log[0]) if record.log else None
        message = record.rule_msg or record.rule_name
        job = self.jobs[record.jobid] = Job(message, log, dict(record.wildcards or {}))
        self.results = job.results or self.results
        return f"start  {message}"

    def finish(self, record: logging.LogRecord) -> str:
        """Note a job that has ended, and say it."""
        job = self.jobs.pop(record.job_id, None)
        if job is None:
            return f"done   job {record.job_id}"
        warnings = [] if self.warned else [line for line in _lines(job.log) if WARNING in line]
        self.warned = self.warned or bool(warnings)  # other jobs have the same reason to warn
        line = f"done   {job.message}, {duration(time.monotonic() - job.started)}"
        return "\n       ".join([line, *warnings[:1], *job.warnings()])

    def fail(self, record: logging.LogRecord) -> str:
        """Note a job that has failed, and say why, with the ends of its log and of that of a cluster."""
        job = self.jobs.pop(record.jobid, None)
        reason = record.rule_msg or ""  # of a cluster, such as that the job was out of memory
        message = record.rule_name if job is None else job.message
        lines = [message, *(line for line in reason.splitlines() if line != message)]
        logs = [Path(file) for file in record.log or ()]
        for log in logs[:1]:
            lines += _lines(log)[-LOG_LINES:]
        for log in logs[1:]:  # of a cluster, between long messages of Snakemake
            lines += [line for line in _lines(log) if " error: " in line][:LOG_LINES]
        lines += [f"Log: {log}" for log in logs]
        return "FAILED " + "\n       ".join(lines)

    def running(self) -> Iterator[str]:
        """A line per running job."""
        for job in list(self.jobs.values()):
            yield "; ".join([job.message, *job.positions()])

    def time_left(self) -> str:
        """The time left for all cells, such as "about 2 h 3 min left"; empty until most of it is known."""
        now = time.monotonic()
        if self.results is not None and now - self._estimated > ESTIMATE_SECONDS:
            self._estimated = now
            left = time_left(read_status(self.results.path).cells)
            n_jobs = sum(bool(job.positions()) for job in list(self.jobs.values()))
            about = "about" if left.n_unknown == 0 else "more than"
            shown = f"{about} {duration(left.seconds / max(1, n_jobs))} left"
            self._left = shown if left.seconds and left.is_known else ""
        return self._left

    def kept(self) -> str:
        """What an interruption has left, and how to go on."""
        cells = [] if self.results is None else read_status(self.results.path).cells
        n_complete, n_seeds = sum(len(cell.seconds) for cell in cells), sum(len(cell.seeds) for cell in cells)
        n_kept = sum(len(cell.checkpoints) for cell in cells)
        return (
            f"Interrupted: {n_complete} of {n_seeds} seeds are complete and {n_kept} have a checkpoint; "
            "run the same command again to continue."
        )

    def left(self) -> str:
        """What failed jobs have left, and how to get the tables without them."""
        again = "Jobs have failed, see above; the same command continues without what is complete."
        if self.results is None or not self.results.finished_cells():
            return again
        results = quote(str(self.results.path))
        return f"{again} Tables of what is complete: python -m dekm publish {results} FOLDER"


def _lines(log: Path | None) -> list[str]:
    """The lines of a log without control characters; none if it does not exist."""
    if log is None or not log.is_file():
        return []
    return [printable(line) for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
