"""Untrusted idx files, the format of MNIST: a magic number, the lengths of the axes, the values."""

import math
import struct
from pathlib import Path
from typing import IO

import numpy as np

from dekm.errors import InputError, shown

DTYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MOST_AXES = 32


def read_header(stream: IO[bytes], file: Path) -> tuple[np.dtype, tuple[int, ...]]:
    """Type and shape of the array in an opened file; `InputError` if it is no idx file."""
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in DTYPES:
        raise InputError(f"{file} is not an idx file; it starts with {shown(magic)}.")
    if magic[3] > MOST_AXES:
        raise InputError(f"{file} is not an idx file: it has {magic[3]} axes.")
    return np.dtype(DTYPES[magic[2]]), struct.unpack(f">{magic[3]}I", stream.read(4 * magic[3]))


def read_values(stream: IO[bytes], file: Path) -> np.ndarray:
    """The array in an opened file; no more is unpacked than the header says.

    Raises `InputError` if the file is no idx file, or has not as many values as its header says.
    """
    dtype, shape = read_header(stream, file)
    n_bytes = math.prod(shape) * dtype.itemsize
    content = stream.read(n_bytes + 1)
    if len(content) != n_bytes:
        found = "more" if len(content) > n_bytes else f"{len(content) // dtype.itemsize}"
        raise InputError(f"{file} holds {found} values; its header says {shape}.")
    values = np.frombuffer(content, dtype).reshape(shape)
    return values.astype(dtype.newbyteorder("="), copy=False)
