"""Files of a user that hold one or several arrays."""

import contextlib
import math
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from scipy import sparse

from dekm.datasets.user import hdf5_files
from dekm.datasets.user.formats import format_of, opened_bytes
from dekm.errors import InputError, shown
from dekm.files.reading import readable

Shapes = Mapping[str, tuple[int, ...]]

ONLY = ""  # name of the array in a file that holds one
IDX_DTYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
MAT_CLASSES = {
    "logical",
    "sparse",
    "single",
    "double",
    *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)),
}


class Format(NamedTuple):
    """How a format is read.

    Attributes
    ----------
    shapes : callable
        Shapes of the arrays in a file by their names, of which as little as possible is read.
    read : callable
        One array of a file.
    """

    shapes: Callable[[Path], Shapes]
    read: Callable[[Path, str], Any]


def shapes(file: Path) -> Shapes:
    """Shapes of the arrays in a file by their names.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    return FORMATS[format_of(file)].shapes(file)


def read(file: Path, name: str) -> Any:
    """One array of a file, an ndarray or a csr_matrix.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    return FORMATS[format_of(file)].read(file, name)


def _npy_shapes(file: Path) -> Shapes:
    with readable(file, "NumPy file"), file.open("rb") as stream:
        return {ONLY: _header_shape(stream)}


def _header_shape(stream: IO[bytes]) -> tuple[int, ...]:
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(np.lib.format.read_magic(stream), np.lib.format.read_array_header_2_0)
    return tuple(read_header(stream)[0])


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
                found[name] = _header_shape(stream)
        return found


def _read_npz(file: Path, name: str) -> Any:
    if name == ONLY:
        with readable(file, "sparse matrix of SciPy"):
            return sparse.csr_matrix(sparse.load_npz(file), dtype=np.float32)
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
        return {ONLY: _idx_header(file, stream)[1]}


def _idx_header(file: Path, stream: IO[bytes]) -> tuple[str, tuple[int, ...]]:
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in IDX_DTYPES:
        raise InputError(f"{file} is not an idx file; it starts with {shown(magic)}.")
    return IDX_DTYPES[magic[2]], struct.unpack(f">{magic[3]}I", stream.read(4 * magic[3]))


def _read_idx(file: Path, name: str) -> np.ndarray:
    with opened_bytes(file, "idx file") as stream:
        dtype, shape = _idx_header(file, stream)
        values = np.frombuffer(stream.read(), dtype)
    if len(values) != math.prod(shape):
        raise InputError(f"{file} holds {len(values)} values; its header says {shape}.")
    return values.astype(values.dtype.newbyteorder("=")).reshape(shape)


def _mat_shapes(file: Path) -> Shapes:
    from scipy.io import whosmat
    from scipy.io.matlab import MatReadError

    if _is_hdf5(file):
        return {name: shape[::-1] for name, shape in hdf5_files.shapes(file).items() if "/" not in name}
    with readable(file, "MATLAB file", MatReadError), file.open("rb") as stream:
        return {
            name: tuple(shape)
            for name, shape, kind in whosmat(stream, appendmat=False)
            if kind in MAT_CLASSES
        }


def _read_mat(file: Path, name: str) -> Any:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    if _is_hdf5(file):
        return hdf5_files.read(file, name).T  # MATLAB stores columns first
    with readable(file, "MATLAB file", MatReadError), file.open("rb") as stream:
        value = loadmat(stream, appendmat=False, variable_names=[name], spmatrix=False)[name]
        return sparse.csr_matrix(value, dtype=np.float32) if sparse.issparse(value) else value


def _is_hdf5(file: Path) -> bool:
    import h5py

    return bool(h5py.is_hdf5(file))


HDF5 = Format(hdf5_files.shapes, hdf5_files.read)
FORMATS: dict[str, Format] = {
    ".npy": Format(_npy_shapes, _read_npy),
    ".npz": Format(_npz_shapes, _read_npz),
    ".mat": Format(_mat_shapes, _read_mat),
    ".idx": Format(_idx_shapes, _read_idx),
    ".h5": HDF5,
    ".hdf5": HDF5,
    ".h5ad": HDF5,
}
