"""Temporary names: what is written under them, and by which process, so that others can tell a dead one.

A name is ``.TARGET.KIND.HOST.PROCESS`` with the suffix of the target. Containers may share a host name, and
each counts its processes from 1, so a process is told by the kernel, its PID namespace and its number.
"""

import hashlib
import itertools
import os
import re
import secrets
import shutil
import socket
import time
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import NamedTuple

PART = "part"  # what is being written
REPLACED = "replaced"  # the old folder, between the two renames that put a new one in its place
NAME = re.compile(
    rf"\.(?P<target>.+)\.(?P<kind>{PART}|{REPLACED})\.(?P<host>.+)"
    r"\.(?P<kernel>[0-9a-f]+)-(?P<namespace>\d+)-(?P<pid>\d+)-(?P<run>[0-9a-f]+)-\d+(\.[^.]*)?",
    re.DOTALL,
)
LONGEST = 120  # bytes of a name, of 255 that file systems have; a host name may have 64
RUN = secrets.token_hex(4)  # of this process, whose number another one had or will have
_numbers = itertools.count()


class Writer(NamedTuple):
    """The process that writes, or wrote, under a temporary name."""

    host: str
    kernel: str
    namespace: str
    pid: int
    run: str

    def is_dead(self, written: Path) -> bool:
        """Whether the process has ended; False if it cannot be checked, in another container or machine."""
        here = this_process()
        if (self.kernel, self.namespace) == (here.kernel, here.namespace):
            return self.run != here.run if self.pid == here.pid else not _exists(self.pid)
        is_restarted = self.host == here.host and self.kernel != here.kernel
        return is_restarted and _time(written) < time.time() - time.monotonic()  # when the machine started


class Temporary(NamedTuple):
    """What a process writes or wrote under a temporary name, its place in the end, and the process."""

    path: Path
    target: Path
    kind: str
    writer: Writer


def this_process() -> Writer:
    """The current process; the kernel and the namespace are 0 where the system does not tell them."""
    try:
        kernel = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
        namespace = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        kernel, namespace = "0", "0"
    return Writer(socket.gethostname(), kernel, namespace, os.getpid(), RUN)


def temporary_path(target: Path, kind: str = PART) -> Path:
    """Where this process writes before it renames to `target`: a hidden name, another one at each call."""
    writer = this_process()
    process = f"{writer.kernel}-{writer.namespace}-{writer.pid}-{writer.run}-{next(_numbers)}"
    suffix = target.suffix if len(target.suffix) < 20 else ""
    return target.with_name(f".{_stem(target)}.{kind}.{writer.host}.{process}{suffix}")


def _stem(target: Path) -> str:
    """The name of the target, or in place of one that leaves no room for more its digest."""
    name = os.fsencode(target.name)
    return target.name if len(name) <= LONGEST else hashlib.sha256(name).hexdigest()[:16]


def read_temporary(path: Path) -> Temporary | None:
    """What the name of a file or folder says; None if it is not a temporary one."""
    found = NAME.fullmatch(path.name)
    if found is None:
        return None
    writer = Writer(found["host"], found["kernel"], found["namespace"], int(found["pid"]), found["run"])
    return Temporary(path, path.with_name(found["target"]), found["kind"], writer)


def final_name(path: Path) -> Path:
    """The path that `path`, which may be in a temporary folder, gets in the end."""
    found = (read_temporary(Path(part)) for part in path.parts)
    return Path(*(one.target.name if one else part for one, part in zip(found, path.parts, strict=True)))


def temporaries(folder: Path, pattern: str, *kinds: str) -> list[Temporary]:
    """What processes write or wrote in a folder for targets whose names match `pattern`, oldest first."""
    found = [one for path in folder.glob(".*") if (one := read_temporary(path)) is not None]
    found = [one for one in found if one.kind in (kinds or (PART,)) and fnmatchcase(one.target.name, pattern)]
    return sorted(found, key=lambda one: _time(one.path))


def dead_temporaries(target: Path, kind: str = PART) -> list[Path]:
    """What ended processes left under temporary names of `target`, oldest first."""
    found = temporaries(target.parent, escape(_stem(target)), kind)
    return [one.path for one in found if one.writer.is_dead(one.path)]


def remove_dead(target: Path) -> None:
    """Remove what ended processes left of a file or folder."""
    for path in dead_temporaries(target):
        remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder, as far as permissions allow."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _exists(pid: int) -> bool:
    """Whether a process of this number exists, perhaps of another user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def _time(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:  # its writer has just ended
        return 0.0
