"""Arrays of untrusted HDF5 files: no other file is read, and no array is larger than what is stored."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from dekm.datasets.labels import decoded
from dekm.errors import InputError, shown
from dekm.files.reading import readable

LARGE = 2**28  # bytes of an array, above which it must be stored
MAX_RATIO = 1000  # of the bytes of a large array to those stored for it


@contextlib.contextmanager
def opened_hdf5(file: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file for a block, whose errors become `InputError`."""
    with readable(file, "HDF5 file", AttributeError, AssertionError), h5py.File(file, "r") as opened:
        yield opened


def read_hdf5(file: Path, *names: str) -> list[np.ndarray]:
    """Arrays of numbers from an HDF5 file, in the order of their paths in it.

    Raises `InputError` if the file has another format or is damaged, or an array is missing, not numeric, not
    stored in this file or larger than what is stored.
    """
    with opened_hdf5(file) as opened:
        return [values_of(member(opened, file, name), file, kinds="buif") for name in names]


def member(opened: h5py.File, file: Path, name: str) -> Any:
    """A group or an array at a path of an opened file; no link is followed."""
    parts = name.split("/")
    for depth in range(len(parts)):
        path = "/".join(parts[: depth + 1])
        if opened.get(path, getlink=True) is None:
            raise InputError(f"{file} has no {shown(path)}; it has {sorted(opened)}.")
        if not isinstance(opened.get(path, getlink=True), h5py.HardLink):
            raise InputError(f"{file}: {shown(path)} is a link.")
    return opened[name]


def values_of(item: Any, file: Path, kinds: str = "buifOS") -> np.ndarray:
    """The numbers or, as strings, the texts of an array of an opened file."""
    name = str(item.name).removeprefix("/")
    if not isinstance(item, h5py.Dataset) or item.dtype.kind not in kinds:
        what = "numbers or texts" if "O" in kinds else "numbers"
        raise InputError(f"{file}: {shown(name)} is not an array of {what}.")
    if item.external or item.is_virtual:
        raise InputError(f"{file}: the values of {shown(name)} are stored in another file.")
    size = 0 if item.size is None else item.size * item.dtype.itemsize
    stored = item.id.get_storage_size()
    if item.size is None or size > max(LARGE, MAX_RATIO * stored):
        raise InputError(
            f"{file}: {shown(name)} of shape {item.shape} is larger than the {stored} bytes stored for it."
        )
    if item.dtype.kind not in "OS":
        return np.asarray(item[()])
    if h5py.check_string_dtype(item.dtype) is None:
        raise InputError(f"{file}: {shown(name)} is not an array of numbers or texts.")
    texts = np.asarray(item[()], dtype=object)
    return np.array([decoded(text) for text in texts.reshape(-1)], dtype=str).reshape(texts.shape)


def is_array(item: Any) -> bool:
    """Whether an object of an HDF5 file is an array of numbers or texts."""
    return isinstance(item, h5py.Dataset) and item.ndim > 0 and item.dtype.kind in "buifOS"
