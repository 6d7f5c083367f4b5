"""Settings of the C library's memory allocator that let a training step reuse the memory of the last one."""

import contextlib
import ctypes
import os
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # constants of malloc.h
MMAP_THRESHOLD = 2**25  # bytes; the maximum that glibc accepts
TRIM_THRESHOLD = 2**29  # bytes
USER_SETTINGS = ("MALLOC_", "GLIBC_TUNABLES")  # beginnings of glibc's environment variables


@cache
def keep_freed_memory() -> None:
    """Let glibc keep up to 512 MiB of freed memory, and blocks of up to 32 MiB in its heap.

    By default it returns the memory of gradients and activations to the system after every step, and the page
    faults of the next step take up to a quarter of its time. The setting is for the whole process. It is not
    made if the environment configures the allocator, or if the C library is not glibc.
    """
    if any(name.startswith(USER_SETTINGS) for name in os.environ):
        return
    with contextlib.suppress(AttributeError, OSError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD)
        libc.mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD)
