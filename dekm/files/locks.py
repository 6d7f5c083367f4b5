"""Locks that the kernel releases when their holder ends, however it ends."""

import contextlib
import errno
import logging
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

logger = logging.getLogger(__name__)

PAUSE = 0.1  # seconds between two attempts
PATIENCE = 30.0  # seconds of waiting after which the log names the holder
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}


class Lock:
    """An exclusive lock of what processes write to a target.

    Where the file system has no locks, the log says so and every process goes on: each writes under a name of
    its own, so that two writers of one target do its work twice and harm nothing. The lock is a hidden file
    beside the target; `purpose` says, to those that wait, what the process does while it holds it.
    """

    def __init__(
        self, target: Path, give_up: Callable[[], bool] = lambda: False, *, purpose: str = ""
    ) -> None:
        self.target = target
        self.give_up = give_up
        self.purpose = purpose
        self.file = target.with_name(f".{target.name}.lock")
        # No soft lock in place of a native one: it would outlive a kill.
        self._lock = FileLock(self.file, fallback_to_soft=False, on_acquired=self._sign)
        self._tell_at = 0.0

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def acquire(self) -> bool:
        """Wait for the lock; return whether it is held, which it is not if `give_up` ended the waiting."""
        self._tell_at = time.monotonic() + PATIENCE
        return self._acquire(blocking=True)

    def try_acquire(self) -> bool:
        """Acquire the lock if no other process holds it, and return whether it is held now."""
        return self._acquire(blocking=False)

    def _acquire(self, *, blocking: bool) -> bool:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(blocking=blocking, poll_interval=PAUSE, cancel_check=self._is_given_up)
        except Timeout:
            return False
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            logger.warning(
                "%s: this file system has no locks (%s); jobs that write the same folder at the same time "
                "do their work twice",
                self.target.parent,
                error.strerror,
            )
        return True

    def _is_given_up(self) -> bool:
        """Whether to wait no longer; if the wait is long, tell once for whom."""
        if self.give_up():
            return True
        if time.monotonic() > self._tell_at:
            logger.info("waiting for %s, which writes %s", self.describe_holder(), self.target)
            self._tell_at = float("inf")
        return False

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
        self._lock.release()


locked = Lock  # as it reads in a ``with`` statement


def is_locked(target: Path) -> bool:
    """Whether another process holds the lock of `target`."""
    lock = Lock(target)
    if lock.try_acquire():
        lock.release()
        return False
    return True
