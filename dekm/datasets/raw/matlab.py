"""Arrays of untrusted MATLAB files, of version 4 to 7.3."""

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
from scipy import sparse

from dekm.datasets.labels import decoded
from dekm.datasets.raw.hdf5 import is_array, opened_hdf5, read_hdf5
from dekm.errors import InputError
from dekm.files.reading import readable

READER = Path(__file__).with_name("matlab_reader.py")
CLASSES = {
    "logical",
    "sparse",
    "single",
    "double",
    *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)),
}


def mat_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of numbers in a MATLAB file, by name."""
    with readable(file, "MATLAB file"):
        if h5py.is_hdf5(file):  # version 7.3, which stores columns first
            return _hdf5_shapes(file)
        stamp = file.stat()
    return _shapes(file, stamp.st_mtime_ns, stamp.st_size)


def _hdf5_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    with opened_hdf5(file) as opened:
        named = [name for name in opened if isinstance(opened.get(name, getlink=True), h5py.HardLink)]
        arrays = {name: opened[name] for name in named if is_array(opened[name])}
        return {name: item.shape[::-1] for name, item in arrays.items() if _class(item) in CLASSES}


def _class(item: Any) -> str:
    """The class of a variable; an array of another program, which has none, is taken for numbers."""
    return decoded(np.bytes_(item.attrs.get("MATLAB_class", b"double")))


@lru_cache(maxsize=8)  # a process for each question takes half a second
def _shapes(file: Path, *stamp: int) -> dict[str, tuple[int, ...]]:
    variables = _ask(file)[0]["variables"]
    return {name: tuple(shape) for name, (kind, *shape) in variables.items() if kind in CLASSES}


def read_mat(file: Path, name: str) -> Any:
    """One array of a MATLAB file, an ndarray or a csr_matrix.

    Raises `InputError` if the file is damaged or has no such array, or it is not one of numbers.
    """
    with readable(file, "MATLAB file"):
        file.stat()
        if h5py.is_hdf5(file):
            return read_hdf5(file, name)[0].T
    form, arrays = _ask(file, name)
    if "shape" in form:
        data, indices, indptr = arrays
        with readable(file, "sparse matrix of MATLAB"):
            return sparse.csr_matrix((data, indices, indptr), shape=tuple(form["shape"]))
    return arrays[0]


def _ask(file: Path, *names: str) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What `matlab_reader` answers."""
    command = [sys.executable, "-P", str(READER), str(file), *names]
    with (
        readable(file, "MATLAB file"),
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
    ):
        stream: Any = process.stdout
        form: dict[str, Any] = json.loads(stream.readline() or "null") or {}
        pipe: Any = SimpleNamespace(read=stream.read)  # NumPy asks a file for its position
        arrays = [np.lib.format.read_array(pipe, allow_pickle=False) for _ in range(form.get("n_arrays", 0))]
    if not form:
        raise InputError(f"{file} is damaged: it ends SciPy's reader of MATLAB files ({process.returncode}).")
    if "error" in form:
        raise InputError(f"{file} is not a readable MATLAB file: {form['error'].strip().rstrip('.')}.")
    return form, arrays
