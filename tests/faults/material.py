"""A small folder of results to damage, the commands that read it, and what counts as a failure."""

import contextlib
import io
import logging
import multiprocessing
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "resources" / "paper"
SMALL = ["--device", "cpu", "--seeds", "0"]
PRETRAIN = ["pretrain", "digits", "conv", *SMALL, "--set", "n_epochs=1", "--set", "channels=[4, 4, 4]"]
PRETRAIN += ["--set", "embedding_dim=2"]
RUN = {
    "k_means": ["cluster", "digits", "k_means", *SMALL, "--set", "n_init=1"],
    "dekm": ["cluster", "digits", "dekm", *SMALL, "--set", "n_init=1", "--set", "max_iter=1"],
}
PREPARE = ["prepare", "digits", "--raw-dir", "raw", "--subsample", "60"]


@dataclass
class Report:
    """What a part of the campaign tried, and what failed."""

    name: str
    tried: int = 0
    failed: list[str] = field(default_factory=list)

    def add(self, case: str, problem: str) -> None:
        """Count a case; `problem` is empty if it went as it should."""
        self.tried += 1
        if problem:
            self.failed.append(f"{case}: {problem}")

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.tried} tried, {len(self.failed)} failed"]
        return "\n  ".join([*lines, *self.failed])


@dataclass
class Outcome:
    """How a command ended: its exit status and what it wrote on standard error."""

    status: int
    stderr: str

    def problem(self) -> str:
        """Why the end is wrong: a traceback, or another error than one line; empty if it is right."""
        if "Traceback" in self.stderr:
            places = [line.strip() for line in self.stderr.splitlines() if "/dekm/" in line]
            return f"{self.stderr.strip().splitlines()[-1]} ({places[-1] if places else ''})"
        errors = self.stderr.count("dekm: error:")
        if self.status not in (0, 1) or errors != self.status:
            return f"status {self.status} and {errors} lines of errors: {self.stderr[-500:]}"
        return ""


def run_command(arguments: Sequence[str], results: Path) -> Outcome:
    """Run a command of dekm on a folder of results in this process."""
    from dekm.cli import main

    stderr = io.StringIO()
    handler = logging.StreamHandler(stderr)
    logging.getLogger("dekm").addHandler(handler)
    try:
        with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(io.StringIO()):
            status = main(
                [*arguments, *(["--results", str(results)] if arguments[0] in WITH_RESULTS else [])]
            )
    except (Exception, SystemExit):
        stderr.write(traceback.format_exc())
        status = 2
    finally:
        logging.getLogger("dekm").removeHandler(handler)
        logging.captureWarnings(False)
    return Outcome(status, stderr.getvalue())


NO_OUTPUT = "no output"
WITH_RESULTS = {"prepare", "pretrain", "cluster", "table", "table2"}


def make_results(results: Path) -> Path:
    """Prepare, pretrain and cluster the small data, and write their tables."""
    for arguments in (PREPARE, PRETRAIN, *RUN.values(), table(results)):
        outcome = run_command(arguments, results)
        assert outcome.status == 0, outcome.stderr
    return results


def table(results: Path) -> list[str]:
    """Arguments that write Table III."""
    paper = ["--paper", str(PAPER / "table3.csv"), "--out", str(results / "tables")]
    return ["table", "--datasets", "digits", "--methods", *RUN, *paper]


def labels(results: Path) -> dict[str, list[int]]:
    """The clusters that each method found."""
    files = {name: results / "runs" / "digits" / name / "seed0" / "labels.npy" for name in RUN}
    return {name: np.load(file).tolist() for name, file in files.items()}


def leftovers(results: Path) -> list[str]:
    """Hidden files and folders below results that are no locks."""
    hidden = (path for path in results.rglob(".*") if path.suffix != ".lock")
    return [str(path.relative_to(results)) for path in hidden]


def repair(results: Path) -> str:
    """Run all jobs again; what is wrong afterwards, or empty."""
    for arguments in (PREPARE, PRETRAIN, *RUN.values(), table(results)):
        outcome = run_command(arguments, results)
        if outcome.status or outcome.problem():
            return f"{arguments[0]} does not recover: {outcome.stderr[-1000:]}"
    if lost := [
        name for name in RUN if not (results / f"runs/digits/{name}/seed0/model.safetensors").is_file()
    ]:
        return f"no model of {lost}"
    return f"left behind: {left}" if (left := leftovers(results)) else ""


def restore(pristine: Path, results: Path) -> None:
    """Put the undamaged results back."""
    shutil.rmtree(results, ignore_errors=True)
    shutil.copytree(pristine, results)


def start(target: Callable[..., None], *arguments: object) -> multiprocessing.Process:
    """Start a child that forks from a process which has imported everything, so that it begins at once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.preload"])
    child = context.Process(target=target, args=arguments)
    child.start()
    return child


def run_in_child(arguments: Sequence[str], results: Path, output: Path, limit: Callable[[], None]) -> None:
    """Body of a child: run a command under a limit, and write its output and status to a file."""
    limit()
    outcome = run_command(arguments, results)
    sys.stderr.flush()
    with contextlib.suppress(OSError):
        output.write_text(f"{outcome.status}\n{outcome.stderr}", encoding="utf-8")
    os._exit(outcome.status)


def outcome_of_child(
    arguments: Sequence[str], results: Path, output: Path, limit: Callable[[], None]
) -> Outcome:
    """Run a command in a child under a limit."""
    child = start(run_in_child, arguments, results, output, limit)
    child.join()
    if not output.exists():
        return Outcome(int(child.exitcode or 0), NO_OUTPUT)
    status, _, stderr = output.read_text(encoding="utf-8").partition("\n")
    output.unlink()
    return Outcome(int(status), stderr)


@contextlib.contextmanager
def working_directory(path: Path) -> Iterator[None]:
    """Change the working directory within the block."""
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)
