"""Arrays of untrusted HDF5 files."""

from pathlib import Path
from typing import Any

import numpy as np

from dekm.errors import InputError, shown
from dekm.files.reading import readable

LIMIT = 2**30


def read_hdf5(file: Path, *names: str, limit: int = LIMIT) -> list[np.ndarray]:
    """Read numeric arrays from an HDF5 file.

    Parameters
    ----------
    file : Path
        HDF5 file.
    *names : str
        Paths of the arrays in the file.
    limit : int, default=2**30
        Maximum size of an array in bytes.

    Returns
    -------
    list of ndarray
        The arrays in the order of `names`.

    Raises
    ------
    InputError
        If the file has another format or is damaged, or if an array is missing, not numeric, larger than
        `limit` or stored in another file.
    """
    import h5py

    with readable(file, "HDF5 file"), h5py.File(file, "r") as opened:
        return [_read(opened, file, name, limit) for name in names]


def _read(opened: Any, file: Path, name: str, limit: int) -> np.ndarray:
    import h5py

    parts = name.split("/")
    for depth in range(len(parts)):
        path = "/".join(parts[: depth + 1])
        if opened.get(path, getlink=True) is None:
            raise InputError(f"{file} has no {shown(path)}; it has {sorted(opened)}.")
        if not isinstance(opened.get(path, getlink=True), h5py.HardLink):
            raise InputError(f"{file}: {shown(path)} is a link.")
    array = opened[name]
    if not isinstance(array, h5py.Dataset) or array.dtype.kind not in "buif":
        raise InputError(f"{file}: {shown(name)} is not an array of numbers.")
    if array.external or array.is_virtual:
        raise InputError(f"{file}: the values of {shown(name)} are stored in another file.")
    if array.size is None or array.size * array.dtype.itemsize > limit:
        raise InputError(f"{file}: {shown(name)} of shape {array.shape} is larger than {limit} bytes.")
    return np.asarray(array[()])
