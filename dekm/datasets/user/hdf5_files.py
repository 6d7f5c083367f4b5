"""A user's HDF5 files, among them AnnData's (.h5ad) and those of MATLAB 7.3."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dekm.datasets.raw.hdf5 import read_hdf5
from dekm.errors import InputError, shown
from dekm.files.reading import readable

LIMIT = 2**40  # bytes of an array; a user's own data may be large
SPARSE = {"csr_matrix": sparse.csr_matrix, "csc_matrix": sparse.csc_matrix}


def shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of numbers or strings, and of sparse matrices and categories of AnnData.

    Parameters
    ----------
    file : Path
        HDF5 file.

    Returns
    -------
    dict of str to tuple of int
        Shapes by the paths of the arrays in the file.
    """
    import h5py

    found: dict[str, tuple[int, ...]] = {}

    def visit(name: str, item: Any) -> None:
        encoding = item.attrs.get("encoding-type")
        if any(name.startswith(f"{above}/") for above in found):
            return  # a part of a sparse matrix or of categories
        if encoding in SPARSE:
            found[name] = tuple(int(side) for side in item.attrs["shape"])
        elif encoding == "categorical":
            found[name] = item["codes"].shape
        elif isinstance(item, h5py.Dataset) and item.ndim:
            found[name] = item.shape

    with readable(file, "HDF5 file"), h5py.File(file, "r") as opened:
        opened.visititems(visit)
    return found


def read(file: Path, name: str) -> Any:
    """Read one of the arrays that `shapes` lists.

    Parameters
    ----------
    file : Path
        HDF5 file.
    name : str
        Path of the array in the file.

    Returns
    -------
    ndarray or csr_matrix
        Numbers or strings.
    """
    import h5py

    with readable(file, "HDF5 file"), h5py.File(file, "r") as opened:
        encoding = opened[name].attrs.get("encoding-type")
        shape = opened[name].attrs.get("shape")
        if encoding == "categorical":
            codes = opened[name]["codes"][()]
            if (codes < 0).any():
                raise InputError(
                    f"{file}: row {int(np.flatnonzero(codes < 0)[0])} of {shown(name)} has no category."
                )
            return _texts(opened[name]["categories"])[codes]
        if encoding not in SPARSE and opened[name].dtype.kind in "OS":
            return _texts(opened[name])
    if encoding in SPARSE:
        parts = read_hdf5(file, *(f"{name}/{part}" for part in ("data", "indices", "indptr")), limit=LIMIT)
        with readable(file, "sparse matrix in HDF5"):
            return sparse.csr_matrix(SPARSE[encoding](tuple(parts), shape=tuple(shape)), dtype=np.float32)
    return read_hdf5(file, name, limit=LIMIT)[0]


def _texts(dataset: Any) -> np.ndarray:
    if dataset.dtype.kind in "OS":
        return np.array(list(dataset.asstr()[()]), dtype=str)
    return dataset[()]
