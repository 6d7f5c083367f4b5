"""Files of a user that hold one or several arrays."""

import contextlib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from scipy import sparse

from dekm.datasets.labels import label_vector
from dekm.datasets.raw import idx
from dekm.datasets.raw.matlab import mat_shapes, read_mat
from dekm.datasets.user import anndata_files
from dekm.datasets.user.features import listed
from dekm.datasets.user.formats import ARRAYS, TABLES, format_of, opened_bytes, opened_text
from dekm.datasets.user.table_files import open_table
from dekm.errors import InputError
from dekm.files.reading import readable

Shapes = Mapping[str, tuple[int, ...]]

ONLY = ""  # name of the array in a file that holds one


class Format(NamedTuple):
    """How a format is read: the shapes of the arrays in a file by name, and one array."""

    shapes: Callable[[Path], Shapes]
    read: Callable[[Path, str], Any]


def shapes(file: Path) -> Shapes:
    """Shapes of the arrays in a file by their names; `InputError` if the file is damaged."""
    return FORMATS[format_of(file)].shapes(file)


def read(file: Path, name: str) -> Any:
    """One array of a file, an ndarray or a csr_matrix; `InputError` if the file is damaged."""
    return FORMATS[format_of(file)].read(file, name)


def read_labels(file: Path, n_samples: int, samples: object) -> np.ndarray:
    """Labels of `samples` from a file of their own.

    The file holds one array, is a table of one column, or a text with one label per line; an empty line
    means no label.
    """
    kind = format_of(file)
    if kind in TABLES:
        table = open_table(file)
        names = [name for name in table.names if name not in table.index]
        if len(names) != 1:
            raise InputError(f"{file}: a table of labels should have one column; it has {listed(names)}.")
        values: Any = table.read([], names).cells[names[0]]
    elif kind in ARRAYS:
        found = shapes(file)
        if len(found) != 1:
            raise InputError(f"{file}: a file of labels should hold one array; it has {listed([*found])}.")
        values = read(file, next(iter(found)))
    else:
        with opened_text(file, "list of labels") as stream:
            values = np.array(stream.read().splitlines(), dtype=str)
    y = label_vector(values, file)
    if len(y) != n_samples:
        raise InputError(f"{file}: {len(y)} labels should be {n_samples}, one per row of {samples}.")
    return y


def _npy_shapes(file: Path) -> Shapes:
    with readable(file, "NumPy file"), file.open("rb") as stream:
        return {ONLY: _header_shape(stream, file)}


def _header_shape(stream: IO[bytes], file: Path) -> tuple[int, ...]:
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(np.lib.format.read_magic(stream), np.lib.format.read_array_header_2_0)
    shape, _, dtype = read_header(stream)
    if dtype.hasobject:
        raise InputError(
            f"{file}: an array holds Python objects, which can run code; save numbers, or texts by "
            "np.array(texts, dtype=str)."
        )
    return tuple(shape)


def _read_npy(file: Path, name: str) -> np.ndarray:
    with readable(file, "NumPy file"):
        mapped = np.load(file, mmap_mode="r", allow_pickle=False)
        if not isinstance(mapped, np.ndarray):
            mapped.close()
            raise InputError(f"{file} holds several arrays; its name should end with .npz.")
        return np.array(mapped)


def _npz_shapes(file: Path) -> Shapes:
    with readable(file, "NumPy file"), zipfile.ZipFile(file) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if {"format", "shape", "data"} <= set(names):  # of scipy.sparse.save_npz
            with archive.open("shape.npy") as stream:
                return {ONLY: tuple(np.lib.format.read_array(stream, allow_pickle=False).tolist())}
        found = {}
        for name in names:
            with archive.open(f"{name}.npy") as stream:
                found[name] = _header_shape(stream, file)
        return found


def _read_npz(file: Path, name: str) -> Any:
    if name == ONLY:
        with readable(file, "sparse matrix of SciPy"):
            return sparse.csr_matrix(sparse.load_npz(file))
    with (
        readable(file, "NumPy file"),
        file.open("rb") as stream,
        contextlib.closing(np.lib.npyio.NpzFile(stream, allow_pickle=False)) as opened,
    ):
        members = cast(zipfile.ZipFile, opened.zip).infolist()
        if any(member.comment for member in members):  # a damaged comment length can hide the next array
            raise InputError(f"{file} is not a readable NumPy file: an array has a comment.")
        return opened[name]


def _idx_shapes(file: Path) -> Shapes:
    with opened_bytes(file, "idx file") as stream:
        return {ONLY: idx.read_header(stream, file)[1]}


def _read_idx(file: Path, name: str) -> np.ndarray:
    with opened_bytes(file, "idx file") as stream:
        return idx.read_values(stream, file)


HDF5 = Format(anndata_files.shapes, anndata_files.read)
FORMATS: dict[str, Format] = {
    ".npy": Format(_npy_shapes, _read_npy),
    ".npz": Format(_npz_shapes, _read_npz),
    ".mat": Format(mat_shapes, read_mat),
    ".idx": Format(_idx_shapes, _read_idx),
    ".h5": HDF5,
    ".hdf5": HDF5,
    ".h5ad": HDF5,
}
