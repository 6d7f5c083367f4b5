"""Temporary names that say which process writes under them, so that others can tell a dead one."""

import glob
import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PART = "part"  # what is being written
REPLACED = "replaced"  # the old folder, between the two renames that put a new one in its place


class Writer(NamedTuple):
    """The process that writes under a temporary name."""

    host: str
    pid: int

    def is_dead(self) -> bool:
        """Whether the process provably has ended; of another machine's process nothing is known."""
        if self.host != socket.gethostname():
            return False
        if self.pid == os.getpid():
            return True  # a process of the same number that ended: this one has not begun to write
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except (PermissionError, OverflowError):
            return False
        return False


def temporary_path(target: Path, kind: str = PART) -> Path:
    """Where this process writes before it renames to `target`; a hidden name with the same suffix."""
    writer = f"{socket.gethostname()}.{os.getpid()}"
    return target.with_name(f".{target.name}.{kind}.{writer}{target.suffix}")


def writer_of(temporary: Path) -> Writer | None:
    """The process in a name of `temporary_path`; None for names of earlier versions, without a machine."""
    found = re.fullmatch(rf"\..*\.(?:{PART}|{REPLACED})\.(.+)\.(\d+)(?:\.[^.]*[^.\d][^.]*)?", temporary.name)
    return Writer(found[1], int(found[2])) if found else None


def temporaries(target: Path, kind: str = PART) -> Iterator[Path]:
    """All that processes wrote or write under temporary names of `target`, oldest first."""
    paths = target.parent.glob(f".{glob.escape(target.name)}.{kind}.*")
    return iter(sorted(paths, key=_time))


def _time(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:  # its writer has just ended
        return 0.0


def dead_temporaries(target: Path, kind: str = PART) -> list[Path]:
    """What ended processes left under temporary names of `target`, oldest first."""
    found = ((path, writer_of(path)) for path in temporaries(target, kind))
    return [path for path, writer in found if writer is None or writer.is_dead()]


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
