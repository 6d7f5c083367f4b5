"""Matrices of untrusted MATLAB files."""

from pathlib import Path

import numpy as np

from dekm.datasets.raw.hdf5 import read_hdf5
from dekm.errors import InputError
from dekm.files.reading import readable

LIMIT = 2**30


def read_mat(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the variables X and Y of a MATLAB file of version 5 or 7.3.

    Parameters
    ----------
    file : Path
        MATLAB file.

    Returns
    -------
    X : ndarray
        Dense matrix.
    Y : ndarray
        Labels.

    Raises
    ------
    InputError
        If the file is damaged, or a variable is missing, too large or not a dense array of numbers.
    """
    import h5py
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import MatReadError

    with readable(file, "MATLAB file", MatReadError), file.open("rb") as stream:
        if h5py.is_hdf5(file):
            X, labels = read_hdf5(file, "X", "Y", limit=LIMIT)
            return X.T, labels  # MATLAB stores columns first
        shapes = {name: shape for name, shape, _ in whosmat(stream, appendmat=False)}
        if not {"X", "Y"} <= set(shapes):
            raise InputError(f"{file} has variables {sorted(shapes)}; they should include X and Y.")
        if any(np.prod(shapes[name], dtype=float) * 8 > LIMIT for name in ("X", "Y")):
            raise InputError(f"{file}: X of shape {shapes['X']} is larger than {LIMIT} bytes.")
        variables = loadmat(stream, appendmat=False, variable_names=["X", "Y"], spmatrix=False)
    X, labels = variables["X"], variables["Y"]
    if not (isinstance(X, np.ndarray) and isinstance(labels, np.ndarray) and X.dtype.kind in "buif"):
        raise InputError(f"{file}: X and Y should be dense matrices of numbers.")
    return X, labels
