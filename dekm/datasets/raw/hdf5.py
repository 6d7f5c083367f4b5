"""Arrays out of HDF5 files that others wrote."""

from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.reading import readable
from dekm.errors import InputError

LIMIT = 2**30


def read_hdf5(file: Path, *names: str, limit: int = LIMIT) -> list[np.ndarray]:
    """The numeric arrays under `names`, in this order.

    Raises
    ------
    InputError
        If the file is no HDF5 file or is damaged, if an array is absent, not numeric, larger than `limit`
        bytes, or lies in another file.
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
            raise InputError(f"{file} has no {path!r}; it has {sorted(opened)}.")
        if not isinstance(opened.get(path, getlink=True), h5py.HardLink):
            raise InputError(f"{file}: {path!r} is a link.")
    array = opened[name]
    if not isinstance(array, h5py.Dataset) or array.dtype.kind not in "buif":
        raise InputError(f"{file}: {name!r} is not an array of numbers.")
    if array.external or array.is_virtual:
        raise InputError(f"{file}: the values of {name!r} lie in another file.")
    if array.size is None or array.size * array.dtype.itemsize > limit:
        raise InputError(f"{file}: {name!r} of shape {array.shape} is larger than {limit} bytes.")
    return np.asarray(array[()])
