"""Snakemake's logger plugin "dekm": what `make demo` and `make paper` show.

On a terminal, a bar of the jobs and a line per running job, which says where it is; otherwise plain lines,
one when a job starts, ends or fails, and one per running job every minute. The complete log is in
`.snakemake/log`.
"""

import logging
import threading
import time
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_dekm.board import Board

MINUTE = 60.0  # between two reports of plain lines
MESSAGES = ("Nothing to be done", "This was a dry-run", "Complete log")
INTERRUPT = "Terminating processes on user request"
FAILED = "Exiting because a job execution failed"


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
        if event == LogEvent.GROUP_ERROR:  # each of its jobs tells its own log
            return "\n       ".join(["FAILED a job for several:", *map(str, record.aux_logs)])
        if event == LogEvent.PROGRESS:
            self.bar.update(self.task, completed=record.done, total=record.total)
        if event == LogEvent.RUN_INFO:
            return self.begin(record)
        if str(record.msg).startswith(INTERRUPT):
            self.interrupted = True
            return self.board.kept()
        if str(record.msg).startswith(FAILED):
            return self.board.left()
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
        room = self.console.width - 2
        texts = (line if len(line) <= room else line.replace("; ", "\n    ") for line in self.board.running())
        lines = [Text(f"  {text}", no_wrap=True, overflow="ellipsis") for text in texts]
        left = self.board.time_left()
        return Group(self.bar, *([Text(f"  {left}")] if left else []), *lines)

    def report(self) -> None:
        """Print how many jobs are done and where the running ones are, once a minute."""
        while not self.ended.wait(MINUTE):
            task = self.bar.tasks[0]
            done = f"{task.completed:.0f} of {task.total or 0:.0f} jobs"
            for line in [", ".join(filter(None, [done, self.board.time_left()])), *self.board.running()]:
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
