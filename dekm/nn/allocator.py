"""The memory allocator of the C library, told to keep what a training step frees for the next step."""

import contextlib
import ctypes
import os
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
LARGEST_REUSED = 2**25  # bytes; the most that glibc allows
LARGEST_KEPT = 2**29
SETTINGS = ("MALLOC_", "GLIBC_TUNABLES")


@cache
def keep_freed_memory() -> None:
    """Let glibc keep 512 MiB at the end of its heap, and take blocks up to 32 MiB from the heap.

    By default it gives gradients and activations back to the system at every step and gets them anew, page
    by page: up to a quarter of the time of a step. It holds for the whole process. Other C libraries, and an
    environment that sets glibc's own variables, are left alone.
    """
    if any(name.startswith(SETTINGS) for name in os.environ):
        return
    with contextlib.suppress(AttributeError, OSError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, LARGEST_REUSED)
        libc.mallopt(M_TRIM_THRESHOLD, LARGEST_KEPT)
