"""A user's arrays: files of rows or images."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dekm.datasets.dataset import Loaded
from dekm.datasets.labels import label_vector
from dekm.datasets.user import anndata_files
from dekm.datasets.user.array_files import read, read_labels, shapes
from dekm.datasets.user.features import as_samples, chosen_features, listed, reshaped
from dekm.datasets.user.formats import format_of
from dekm.errors import InputError, shown
from dekm.scaling import SHORTEST_SIDE, check_channels_last

logger = logging.getLogger(__name__)

AXES = ("first", "last")
LABELS = ("y", "Y", "target", "labels", "label", "gnd")  # usual names
LONG = 8  # ratio of the sides above which a grey image is rather a series


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
    samples: str | None = None,
    channels: str | None = None,
    image_shape: Sequence[int] | None = None,
    features: Sequence[str] | None = None,
) -> Loaded:
    """Load rows or images from a file of arrays.

    Parameters
    ----------
    path : str
        File of a format in `formats.ARRAYS`, with an array of shape (n, d), (n, h, w) or (n, h, w, c), or a
        sparse matrix.
    labels : str, optional
        File of labels, see `array_files.read_labels`.
    array, label_array : str, optional
        Names of the arrays in a file of several ones, see `select`.
    samples : {"first", "last"}, optional
        Axis of the samples; "last" for (h, w, n), as MATLAB has them. Without it, the last one is taken if it
        alone has as many entries as there are labels.
    channels : {"first", "last"}, optional
        "first" for images of shape (n, c, h, w). Without it, images whose second axis seems to be that of the
        channels are an error.
    image_shape : sequence of int, optional
        (h, w) or (h, w, c) of images whose pixels are the columns of a matrix.
    features : sequence of str, optional
        Names of the columns to take, by their names in a file of AnnData.

    Returns
    -------
    Loaded
        Images of bytes as uint8, all others as `features.as_samples` returns them; rows and columns of
        AnnData have names.

    Raises
    ------
    InputError
        If a file is damaged or has other arrays, a value is not finite, or there is not one label per row.
    """
    file = Path(path)
    chosen = select(file, array, label_array)
    y: np.ndarray | None = None
    if chosen.labels is not None:
        y = label_vector(read(file, chosen.labels), file)
    if labels is not None and y is not None:
        raise InputError(f"labels={shown(labels)} should be left out: {file} has labels {chosen.labels}.")
    X = _samples_first(read(file, chosen.samples), file, samples, None if y is None else len(y), labels)
    if labels is not None:
        y = read_labels(Path(labels), X.shape[0], file)
    if y is not None and len(y) != X.shape[0]:
        raise InputError(f"{file}: {len(y)} labels should be {X.shape[0]}, one per row of {chosen.samples}.")
    X = _channels_last(reshaped(X, image_shape, file), file, channels)
    _tell_shape(X, file, is_clear=samples is not None or y is not None)
    rows, columns = anndata_files.names(file, chosen.samples) if format_of(file) == ".h5ad" else (None, None)
    if rows is not None and len(rows) != X.shape[0]:
        rows = None
    if X.ndim != 2 or (columns is not None and len(columns) != X.shape[1]):
        columns = None
    if features is not None:
        X, columns = chosen_features(X, columns, features, file)
    return Loaded(as_samples(X, file), y, rows, columns)


def _samples_first(X: Any, file: Path, samples: str | None, n_labels: int | None, labels: str | None) -> Any:
    """An array with the axis of the samples moved to the front."""
    if samples not in (None, *AXES):
        raise InputError(f"samples={shown(samples)} should be first or last.")
    if samples is None and labels is not None:
        n_labels = _count_labels(Path(labels))
    is_last = samples is None and n_labels not in (None, X.shape[0]) and n_labels == X.shape[-1]
    if is_last:
        logger.warning(
            "%s: the samples are taken from the last axis of shape %s, which alone has as many entries as "
            "there are labels; samples: last says so",
            file,
            X.shape,
        )
    if samples != "last" and not is_last:
        return X
    return X.T.tocsr() if not isinstance(X, np.ndarray) else np.moveaxis(X, -1, 0)


def _count_labels(file: Path) -> int | None:
    """Number of labels in an array of labels; None for other files."""
    if format_of(file) not in (".npy", ".idx", ".mat"):
        return None
    found = list(shapes(file).values())
    return max(found[0], default=0) if len(found) == 1 else None


def array_shape(
    file: Path, array: str | None = None, label_array: str | None = None, samples: str | None = None
) -> tuple[int, ...]:
    """Shape of the samples in a file of arrays, of which as little as possible is read; see `select`."""
    shape = shapes(file)[select(file, array, label_array).samples]
    return (shape[-1], *shape[:-1]) if samples == "last" else shape


def select(file: Path, array: str | None = None, label_array: str | None = None) -> Selected:
    """Which arrays of a file are the samples and the labels.

    By default the labels are the only array with a usual name of labels, and the samples the only other one,
    or X in a file of AnnData. `InputError` lists the arrays if there is no such one, or it is unclear which.
    """
    found = {name: shape for name, shape in shapes(file).items() if shape}  # a single number is no array
    there = listed([f"{name} {shape}" for name, shape in found.items()]) or "none"
    for setting, name in (("array", array), ("label_array", label_array)):
        if name is not None and name not in [*found]:  # a wrong name may be a list, which no mapping takes
            raise InputError(f"{setting}={shown(name)}: {file} has no such array; it has {there}.")
    if label_array is None and len(found) > 1:
        usual = [name for name in LABELS if name in found and name != array]
        label_array = usual[0] if len(usual) == 1 else None
    if array is None and format_of(file) == ".h5ad" and "X" in found:
        array = "X"
    others = [name for name in found if name != label_array]
    if array is None and len(others) != 1:
        raise InputError(
            f"{file} holds several arrays: {there}. Name that of the samples in array and, if the data are "
            "labelled, that of the labels in label_array."
            if others
            else f"{file} holds no array of samples; it has {there}."
        )
    return Selected(others[0] if array is None else array, label_array)


def _channels_last(X: Any, file: Path, channels: str | None) -> Any:
    if channels is None and X.ndim == 4:
        check_channels_last(file, X.shape, "set channels to first, or to last if it is right")
    if channels not in (None, *AXES):
        raise InputError(f"channels={shown(channels)} should be first or last, for an array.")
    if channels is not None and X.ndim != 4:
        raise InputError(
            f"channels={shown(channels)} should be left out: {file} has an array of shape {X.shape}."
        )
    return np.moveaxis(X, 1, -1) if channels == "first" else X


def _tell_shape(X: Any, file: Path, *, is_clear: bool) -> None:
    """Log what an array is taken for, with a warning if its axes may be others."""
    if X.ndim not in (3, 4):
        return
    n, h, w, *c = X.shape
    logger.info("%s: %d images of %dx%d pixels and %d channels", file, n, h, w, *(c or [1]))
    if c:
        return
    if min(h, w) < SHORTEST_SIDE or max(h, w) > LONG * min(h, w):
        logger.warning(
            "%s: an array of shape %s is read as %d grey images of %dx%d pixels; if it holds series "
            "(n, time, channels), save them as rows, X.reshape(len(X), -1)",
            file, X.shape, n, h, w,
        )  # fmt: skip
    elif n == h != w and not is_clear:
        logger.warning(
            "%s: an array of shape %s is read as %d grey images of %dx%d pixels; if the samples are on the "
            "last axis, as MATLAB has them, set samples: last",
            file, X.shape, n, h, w,
        )  # fmt: skip
