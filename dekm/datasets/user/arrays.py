"""A user's arrays: files of rows or images."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dekm.datasets.labels import label_vector
from dekm.datasets.user.array_files import read, shapes
from dekm.datasets.user.formats import format_of, opened_text
from dekm.errors import InputError, shown
from dekm.scaling import LARGEST_BYTE, check_channels_last, is_integer

CHANNEL_AXES = ("first", "last")
LABELS = ("y", "Y", "target", "labels", "label", "gnd")  # usual names


class Selected(NamedTuple):
    """Names of the arrays of a file that are the samples and, if there are some, the labels."""

    samples: str
    labels: str | None


def array(
    raw_dir: Path,
    *,
    path: str,
    labels: str | None = None,
    array: str | None = None,
    label_array: str | None = None,
    channels: str | None = None,
) -> tuple[Any, np.ndarray | None]:
    """Load rows or images from a file of arrays.

    Parameters
    ----------
    raw_dir : Path
        Ignored.
    path : str
        File of a format in `formats.ARRAYS`, with an array of shape (n, d), (n, h, w) or (n, h, w, c), or a
        sparse matrix.
    labels : str, optional
        ``.npy`` or idx file of labels, or text file with one label per line.
    array, label_array : str, optional
        Names of the arrays in a file of several ones, see `select`.
    channels : {"first", "last"}, optional
        "first" for images of shape (n, c, h, w). Without it, images whose second axis seems to be that of the
        channels are an error.

    Returns
    -------
    X : ndarray of shape (n, d) or (n, h, w, c), or csr_matrix
        Images of bytes as uint8, all others as float32.
    y : ndarray of shape (n,) or None
        Labels; None for unlabelled data.

    Raises
    ------
    InputError
        If a file is damaged or has other arrays, a value is not finite, or there is not one label per row.
    """
    file = Path(path)
    chosen = select(file, array, label_array)
    X = as_samples(_channels_last(read(file, chosen.samples), file, channels), file)
    if labels is not None and chosen.labels is not None:
        raise InputError(f"labels={shown(labels)} should be left out: {file} has labels {chosen.labels}.")
    if labels is None and chosen.labels is None:
        return X, None
    y = read(file, chosen.labels) if chosen.labels is not None else _read_labels(Path(str(labels)))
    found = label_vector(y, labels or file)
    if len(found) != X.shape[0]:
        hint = " The samples seem to be on its last axis." if len(found) == X.shape[-1] else ""
        raise InputError(
            f"{labels or file}: {len(found)} labels should be {X.shape[0]}, one per row of {file}.{hint}"
        )
    return X, found


def array_shape(file: Path, array: str | None = None, label_array: str | None = None) -> tuple[int, ...]:
    """Shape of the samples in a file of arrays, of which as little as possible is read.

    Parameters
    ----------
    file : Path
        The file.
    array, label_array : str, optional
        Names of the arrays in it, see `select`.

    Returns
    -------
    tuple of int
        The shape.

    Raises
    ------
    InputError
        If the file is damaged, or it is unclear which array is meant.
    """
    return shapes(file)[select(file, array, label_array).samples]


def select(file: Path, array: str | None = None, label_array: str | None = None) -> Selected:
    """Which arrays of a file are the samples and the labels.

    Parameters
    ----------
    file : Path
        The file.
    array, label_array : str, optional
        Their names. By default the labels are the only array with a usual name of labels, and the samples the
        only other one, or X in a file of AnnData.

    Raises
    ------
    InputError
        If there is no such array, or it is unclear which one is meant; the message lists the arrays.
    """
    found = shapes(file)
    listed = ", ".join(f"{name} {shape}" for name, shape in found.items()) or "none"
    for setting, name in (("array", array), ("label_array", label_array)):
        if name is not None and name not in found:
            raise InputError(f"{setting}={shown(name)}: {file} has no such array; it has {listed}.")
    if label_array is None and len(found) > 1:
        usual = [name for name in LABELS if name in found and name != array]
        label_array = usual[0] if len(usual) == 1 else None
    if array is None and format_of(file) == ".h5ad" and "X" in found:
        array = "X"
    others = [name for name in found if name != label_array]
    if array is None and len(others) != 1:
        raise InputError(
            f"{file} holds several arrays: {listed}. Name that of the samples in array and, if the data are "
            "labelled, that of the labels in label_array."
            if others
            else f"{file} holds no array of samples; it has {listed}."
        )
    return Selected(others[0] if array is None else array, label_array)


def _channels_last(X: Any, file: Path, channels: str | None) -> Any:
    if channels is None and X.ndim == 4:
        check_channels_last(file, X.shape, "set channels to first, or to last if it is right")
    if channels not in (None, *CHANNEL_AXES):
        raise InputError(f"channels={shown(channels)} should be first or last, for an array.")
    if channels is not None and X.ndim != 4:
        raise InputError(
            f"channels={shown(channels)} should be left out: {file} has an array of shape {X.shape}."
        )
    return np.moveaxis(X, 1, -1) if channels == "first" else X


def _read_labels(file: Path) -> Any:
    if format_of(file) in (".npy", ".idx"):
        return read(file, "")
    with opened_text(file, "list of labels") as stream:
        lines = stream.read().splitlines()
    empty = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if empty:
        raise InputError(f"{file}: line {empty[0]} has no label.")
    return np.array([line.strip() for line in lines])


def as_samples(X: Any, file: object) -> Any:
    """Samples of a user as images in uint8 or float32, or as rows in float32.

    Parameters
    ----------
    X : ndarray of shape (n, d), (n, h, w) or (n, h, w, c), or sparse matrix
        Numbers.
    file : object
        Where they come from, for error messages.

    Raises
    ------
    InputError
        If the shape is another one, or a value is not a finite number.
    """
    if X.dtype.kind not in "buif":
        raise InputError(f"{file}: values of type {X.dtype} should be numbers.")
    if sparse.issparse(X):
        rows = sparse.csr_matrix(X, dtype=np.float32)
        _check_finite(rows.data, file)
        return rows
    if X.ndim not in (2, 3, 4) or not math.prod(X.shape):
        raise InputError(f"{file}: shape {X.shape} should be (n, d), (n, h, w) or (n, h, w, c).")
    if X.ndim == 3:
        X = X[..., np.newaxis]
    if X.ndim == 4 and is_integer(X.dtype) and X.min() >= 0 and X.max() <= LARGEST_BYTE:
        return np.ascontiguousarray(X, dtype=np.uint8)
    with np.errstate(over="ignore"):
        samples = np.ascontiguousarray(X, dtype=np.float32)
    _check_finite(samples, file)
    return samples


def _check_finite(values: np.ndarray, file: object) -> None:
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        place = ", ".join(str(int(i)) for i in wrong[0])
        raise InputError(f"{file}: the value at [{place}] is not a finite number.")
