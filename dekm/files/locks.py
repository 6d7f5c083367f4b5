"""Locks that the kernel releases when their holder ends, however it ends."""

import contextlib
import errno
import logging
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

PAUSE = 0.1  # seconds between two attempts
PATIENCE = 30.0  # seconds of waiting after which the log says for whom
HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}


class Lock:
    """An exclusive lock, by `flock`, of what processes write to a target.

    Where the file system has no locks, the log says so and every process goes on: each writes under a name of
    its own, so that two writers of one target do its work twice and harm nothing.

    Parameters
    ----------
    target : Path
        File or folder; the lock is a hidden file beside it.
    give_up : callable
        Whether not to wait any longer and to go on without the lock.
    purpose : str
        What the process does while it holds the lock, for those that wait.
    """

    def __init__(
        self, target: Path, give_up: Callable[[], bool] = lambda: False, *, purpose: str = ""
    ) -> None:
        self.target = target
        self.give_up = give_up
        self.purpose = purpose
        self.file = target.with_name(f".{target.name}.lock")
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self) -> bool:
        """Wait for the lock; return whether it is held, which it is not if `give_up` returned True."""
        started, told = time.monotonic(), False
        while not self.try_acquire():
            if self.give_up():
                return False
            if not told and time.monotonic() - started > PATIENCE:
                logger.info("waiting for %s, which writes %s", self.describe_holder(), self.target)
                told = True
            time.sleep(PAUSE)
        return True

    def try_acquire(self) -> bool:
        """Acquire the lock if no other process holds it, and return whether it is held now."""
        self.target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock_file(descriptor)
        except OSError as error:
            if error.errno in HELD:
                os.close(descriptor)
                return False
            logger.warning(
                "%s: this file system has no locks (%s); jobs that write the same folder at the same time "
                "do their work twice",
                self.target.parent,
                error.strerror,
            )
        self._descriptor = descriptor
        self._sign(descriptor)
        return True

    def _sign(self, descriptor: int) -> None:
        """Write into the locked file which process holds the lock."""
        holder = f"process {os.getpid()} on {socket.gethostname()}"
        text = f"{holder} ({self.purpose})" if self.purpose else holder
        with contextlib.suppress(OSError):  # a full disk is no reason not to go on
            os.truncate(descriptor, 0)
            os.write(descriptor, text.encode(errors="replace"))

    def describe_holder(self) -> str:
        """Which process holds the lock, or held it last, on which machine."""
        try:
            return self.file.read_text(encoding="utf-8", errors="replace") or "another process"
        except OSError:
            return "another process"

    def release(self) -> None:
        """Let the next process have the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lock_file(descriptor: int) -> None:
    """Lock an open file without waiting."""
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def locked(target: Path, give_up: Callable[[], bool] = lambda: False) -> Lock:
    """The lock of the writers of `target`, for a ``with`` statement."""
    return Lock(target, give_up)


def is_locked(target: Path) -> bool:
    """Whether another process holds the lock of `target`."""
    lock = Lock(target)
    if lock.try_acquire():
        lock.release()
        return False
    return True
