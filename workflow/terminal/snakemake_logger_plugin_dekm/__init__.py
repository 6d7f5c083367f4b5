"""Snakemake's logger plugin "dekm": what `make demo` and `make paper` show.

On a terminal, a bar of the jobs and a line per running job, which says where it is; otherwise plain lines,
one when a job starts, ends or fails, and one per running job every minute. The complete log is in
`.snakemake/log`.
"""

import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from dekm.results.estimates import time_left
from dekm.results.progress import WARNING, duration
from dekm.results.result_set import ResultSet
from dekm.results.status import read_status, unfinished_seeds

MINUTE = 60.0  # between two reports of plain lines
ESTIMATE_SECONDS = 10.0  # between two estimates of the time left
LOG_LINES = 10  # of a failed job
MESSAGES = ("Nothing to be done", "This was a dry-run", "Complete log")
INTERRUPT = "Terminating processes on user request"


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

    def positions(self) -> list[str]:
        """Where its running seeds are, such as "seed 1: epoch 57/200, 3 min left"."""
        dataset, results = self.wildcards.get("dataset"), self.results
        if results is None or dataset is None:
            return []
        if "architecture" in self.wildcards:
            folder = results.pretraining(dataset, self.wildcards["architecture"])
        elif "method" in self.wildcards:
            folder = results.cell(dataset, self.wildcards["method"])
        else:
            return []
        seeds = sorted(unfinished_seeds(folder), key=lambda found: found.seed)
        return [f"seed {found.seed}: {found.progress.describe()}" for found in seeds if found.progress]


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
        return "\n       ".join([line, *warnings[:1]])

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
        """The time left for all cells, such as "about 2 h 3 min left"; empty if nothing is known."""
        now = time.monotonic()
        if self.results is not None and now - self._estimated > ESTIMATE_SECONDS:
            self._estimated = now
            left = time_left(read_status(self.results.path).cells)
            n_jobs = sum(bool(job.positions()) for job in list(self.jobs.values()))
            about = "about" if left.n_unknown == 0 else "more than"
            self._left = f"{about} {duration(left.seconds / max(1, n_jobs))} left" if left.seconds else ""
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


def _lines(log: Path | None) -> list[str]:
    """The lines of a log; none if it does not exist."""
    return log.read_text(errors="replace").splitlines() if log is not None and log.is_file() else []


class LogHandler(LogHandlerBase):
    """Shows a workflow on a terminal or in plain lines."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Start the display on a terminal, or the reports of plain lines."""
        self.console = Console(stderr=not self.common_settings.stdout, highlight=False, soft_wrap=True)
        self.board, self.interrupted = Board(), False
        self.bar = Progress(TextColumn("jobs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.task = self.bar.add_task("jobs", total=None)
        self.live = Live(
            get_renderable=self.render, console=self.console, refresh_per_second=1, transient=True
        )
        self.ended = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        """Show what a record says, if a user wants to know it."""
        try:
            line = self.line(record)
            if line:
                self.console.print(f"{time.strftime('%H:%M:%S')} {line}", markup=False)
        except Exception:
            self.handleError(record)

    def line(self, record: logging.LogRecord) -> str:
        """The line of a record; empty for one that is not shown, as all are after an interrupt."""
        event = getattr(record, "event", None)
        if self.interrupted or getattr(record, "exception", None) == "RuleException":
            return ""  # the error of a job is told by the event JOB_ERROR, with its log
        if event == LogEvent.JOB_INFO:
            if self.common_settings.dryrun:
                return f"would  {record.rule_msg or record.rule_name}"
            return self.board.start(record)
        if event == LogEvent.JOB_FINISHED:
            return self.board.finish(record)
        if event == LogEvent.JOB_ERROR:
            return self.board.fail(record)
        if event == LogEvent.PROGRESS:
            self.bar.update(self.task, completed=record.done, total=record.total)
        if event == LogEvent.RUN_INFO:
            return self.begin(record)
        if str(record.msg).startswith(INTERRUPT):
            self.interrupted = True
            return self.board.kept()
        if event == LogEvent.ERROR or (event is None and is_for_users(record)):
            return self.format(record).strip()
        return ""

    def begin(self, record: logging.LogRecord) -> str:
        """Start the display when the number of jobs is known."""
        n_jobs = record.stats["total"]
        if self.common_settings.dryrun or self.bar.tasks[0].total is not None:
            return ""
        self.bar.update(self.task, total=n_jobs)
        if self.console.is_terminal:
            self.live.start()
        else:
            threading.Thread(target=self.report, daemon=True).start()
        return f"{n_jobs} jobs"

    def render(self) -> Group:
        """The bar, the time left, and where the running jobs are."""
        lines = [Text(f"  {line}", no_wrap=True, overflow="ellipsis") for line in self.board.running()]
        left = self.board.time_left()
        return Group(self.bar, *([Text(f"  {left}")] if left else []), *lines)

    def report(self) -> None:
        """Print where the running jobs are, once a minute."""
        while not self.ended.wait(MINUTE):
            for line in [*self.board.running(), self.board.time_left()]:
                if line:
                    self.console.print(f"{time.strftime('%H:%M:%S')}   ... {line}", markup=False)

    def close(self) -> None:
        """End the display."""
        self.ended.set()
        self.live.stop()
        super().close()


def is_for_users(record: logging.LogRecord) -> bool:
    """Whether a message that is no event is shown: a warning, an error, or how the workflow ended."""
    message: Any = record.msg
    return record.levelno >= logging.WARNING or str(message).strip().startswith(MESSAGES)
