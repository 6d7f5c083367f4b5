"""Locks that the kernel releases when their holder ends, however it ends."""

import errno
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from dekm.files.leftovers import temporaries, writer_of

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
    """

    def __init__(self, target: Path, give_up: Callable[[], bool] = lambda: False) -> None:
        self.target = target
        self.give_up = give_up
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
                logger.info("waiting for %s, which writes %s", describe_writer(self.target), self.target)
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
        return True

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


def describe_writer(target: Path) -> str:
    """Who writes a target now, as far as a temporary name says."""
    writers = [writer for path in temporaries(target) if (writer := writer_of(path))]
    return f"process {writers[-1].pid} on {writers[-1].host}" if writers else "another process"
