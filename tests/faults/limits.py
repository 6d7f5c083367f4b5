"""A full disk, a limit of the file size, a missing permission and a lack of memory."""

import contextlib
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.faults.damage import add_inputs, commands
from tests.faults.material import (
    NO_OUTPUT,
    PREPARE,
    PRETRAIN,
    RUN,
    Report,
    labels,
    outcome_of_child,
    repair,
    restore,
    run_command,
    table,
)

JOBS = {"prepare", "pretrain", "dekm", "table"}


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path | None]:
    """A file system in memory of this size; None where it may not be mounted."""
    disk = folder / "disk"
    disk.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
    try:
        mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    try:
        yield disk if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(disk)], check=True)


def writers(results: Path) -> dict[str, list[str]]:
    """Commands that write, with ``--fresh`` where they would else keep what they find."""
    found = {"prepare": PREPARE, "pretrain": [*PRETRAIN, "--fresh"], "dekm": [*RUN["dekm"], "--fresh"]}
    found |= {"table": table(results)}
    others = commands(results, results / "out")
    return found | {name: others[name] for name in ("predict", "runs", "sync")}


def fill_disks(pristine: Path, folder: Path, steps: list[int]) -> Report:
    """Run every writing command on a disk with so many free kilobytes; what was there has to stay whole."""
    report = Report("full disks")
    source = folder / "pristine"
    shutil.copytree(pristine, source)
    add_inputs(source)
    expected = labels(source)
    size = sum(file.stat().st_size // 1024 + 8 for file in source.rglob("*"))
    with small_disk(folder, 16 * size) as disk:
        if disk is None:
            return report
        for name in writers(source):
            for free in steps:
                report.add(f"{name} with {free} kB free", _fill(source, disk, name, free, expected))
    return report


def _fill(source: Path, disk: Path, name: str, free: int, expected: dict[str, list[int]]) -> str:
    for path in disk.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    results, filler = disk / "tiny", disk / "filler"
    restore(source, results)
    before = _contents(results)
    available = shutil.disk_usage(disk).free
    with filler.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(1, available - 1024 * free))
    outcome = run_command(writers(results)[name], results)
    problem = outcome.problem()
    filler.unlink()
    if not problem and outcome.status:
        after = _contents(results)
        lost = [file for file, content in before.items() if not _kept(file, content, after.get(file))]
        problem = f"lost or half written: {lost}" if lost else ""
    if problem or name not in JOBS:
        return problem
    return repair(results) or ("" if labels(results) == expected else "other labels")


def _contents(results: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(results)): file.read_bytes() for file in results.rglob("*") if file.is_file()
    }


def _kept(file: str, before: bytes, after: bytes | None) -> bool:
    """Whether a file is as it was, or was replaced by a whole one of about the same size."""
    return after is not None and (after == before or len(after) > 0.8 * len(before))


def limit_files(pristine: Path, folder: Path, sizes: list[int]) -> Report:
    """Run every writing command with a limit of the size of a file."""
    report, results = Report("limits of the file size"), folder / "limited" / "tiny"
    source, expected = folder / "source", labels(pristine)
    shutil.copytree(pristine, source)
    add_inputs(source)
    for name in writers(source):
        for size in sizes:
            restore(source, results)
            outcome = _in_child(name, results, folder, partial(_limit_size, size))
            problem = outcome.problem()
            if not problem and name in JOBS:
                problem = repair(results) or ("" if labels(results) == expected else "other labels")
            report.add(f"{name} with files up to {size} bytes", problem)
    return report


def deny(pristine: Path, folder: Path) -> Report:
    """Run every writing command where nothing may be written."""
    report = Report("missing permissions")
    with read_only(pristine, folder) as results:
        if results is not None:
            before = _contents(results)
            for name in writers(results):
                outcome = run_command(writers(results)[name], results)
                problem = outcome.problem() or ("" if outcome.status else "no error")
                if not problem and _contents(results) != before:
                    problem = "a file was changed"
                report.add(name, problem)
    return report


@contextlib.contextmanager
def read_only(pristine: Path, folder: Path) -> Iterator[Path | None]:
    """Results in folders without the permission to write, or for root on a file system that is read-only."""
    if os.geteuid() != 0:
        results = folder / "tiny"
        shutil.copytree(pristine, results)
        add_inputs(results)
        folders = [results, *(path for path in results.rglob("*") if path.is_dir())]
        for path in folders:
            path.chmod(0o555)
        yield results
        for path in folders:
            path.chmod(0o755)
        return
    with small_disk(folder, 2**16) as disk:
        if disk is not None:
            shutil.copytree(pristine, disk / "tiny")
            add_inputs(disk / "tiny")
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        yield disk and disk / "tiny"


def limit_memory(pristine: Path, folder: Path, megabytes: list[int]) -> Report:
    """Run the commands that compute with so many more megabytes of addresses than a process has at first."""
    report, results = Report("limits of the memory"), folder / "memory" / "tiny"
    source = folder / "memory_source"
    shutil.copytree(pristine, source)
    add_inputs(source)
    for name in ("prepare", "pretrain", "dekm", "predict"):
        for size in megabytes:
            restore(source, results)
            outcome = _in_child(name, results, folder, partial(_limit_memory, size * 2**20))
            # OpenBLAS prints a line of its own and ends the process.
            ended = outcome.status == 1 and outcome.stderr == NO_OUTPUT
            report.add(f"{name} with {size} MiB", ("" if ended else outcome.problem()) or repair(results))
    return report


def _in_child(name: str, results: Path, folder: Path, limit: Callable[[], None]):
    return outcome_of_child(writers(results)[name], results, folder / "output.txt", limit)


def _limit_size(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _limit_memory(size: int) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    limit = pages * resource.getpagesize() + size
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
