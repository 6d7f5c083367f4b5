"""A user's arrays: NumPy files of rows or images."""

import contextlib
import math
import zipfile
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from dekm.datasets.labels import label_vector
from dekm.errors import InputError
from dekm.files.reading import readable


def array(raw_dir: Path, *, path: str, labels: str | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Load rows or images from a NumPy file.

    Parameters
    ----------
    raw_dir : Path
        Ignored.
    path : str
        ``.npy`` file with an array of shape (n, d), (n, h, w) or (n, h, w, c), or ``.npz`` file with such an
        array ``X`` and, if labelled, labels ``y``.
    labels : str, optional
        ``.npy`` file of labels, or text file with one label per line.

    Returns
    -------
    X : ndarray of shape (n, d) or (n, h, w, c)
        uint8 images unchanged, all other arrays as float32.
    y : ndarray of shape (n,) or None
        Labels; None for unlabelled data.

    Raises
    ------
    InputError
        If a file is damaged or has other arrays, a value is not finite, or there is not one label per row.
    """
    file = Path(path)
    arrays = _read_npz(file) if file.suffix.lower() == ".npz" else {"X": _read_npy(file)}
    X, y = as_samples(arrays["X"], file), arrays.get("y")
    if labels is not None and y is not None:
        raise InputError(f"labels={labels!r} should be left out: {file} has labels y.")
    if labels is not None:
        y = _read_labels(Path(labels))
    if y is None:
        return X, None
    found = label_vector(y, labels or file)
    if len(found) != len(X):
        raise InputError(f"{labels or file}: {len(found)} labels should be {len(X)}, one per row of {file}.")
    return X, found


def array_shape(file: Path) -> tuple[int, ...]:
    """Shape of the samples in a NumPy file, of which only the header is read.

    Parameters
    ----------
    file : Path
        ``.npy`` or ``.npz`` file.

    Returns
    -------
    tuple of int
        The shape.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    with readable(file, "NumPy file"), contextlib.ExitStack() as stack:
        stream: IO[bytes] = stack.enter_context(file.open("rb"))
        if file.suffix.lower() == ".npz":
            stream = stack.enter_context(stack.enter_context(zipfile.ZipFile(stream)).open("X.npy"))
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        return tuple(read(stream)[0])


def _read_npz(file: Path) -> dict[str, np.ndarray]:
    with (
        readable(file, "NumPy file"),
        file.open("rb") as stream,
        contextlib.closing(np.lib.npyio.NpzFile(stream, allow_pickle=False)) as opened,
    ):
        names = set(opened.files)
        members = cast(zipfile.ZipFile, opened.zip).infolist()
        if any(member.comment for member in members):  # a damaged comment length can hide the next array
            raise InputError(f"{file} is not a readable NumPy file: an array has a comment.")
        if "X" not in names or names - {"X", "y"}:
            raise InputError(f"{file} holds arrays {sorted(names)}; they should be X and, if labelled, y.")
        return {name: opened[name] for name in opened.files}


def _read_npy(file: Path) -> np.ndarray:
    with readable(file, "NumPy file"):
        mapped = np.load(file, mmap_mode="r", allow_pickle=False)
        if not isinstance(mapped, np.ndarray):
            mapped.close()
            raise InputError(f"{file} holds several arrays; its name should end with .npz.")
        return np.array(mapped)


def _read_labels(file: Path) -> Any:
    if file.suffix.lower() == ".npy":
        return _read_npy(file)
    with readable(file, "list of labels"):
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    empty = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if empty:
        raise InputError(f"{file}: line {empty[0]} has no label.")
    return np.array([line.strip() for line in lines])


def as_samples(X: np.ndarray, file: object) -> np.ndarray:
    """Samples of a user as images in uint8 or float32, or as rows in float32.

    Parameters
    ----------
    X : ndarray of shape (n, d), (n, h, w) or (n, h, w, c)
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
    if X.ndim not in (2, 3, 4) or not math.prod(X.shape):
        raise InputError(f"{file}: shape {X.shape} should be (n, d), (n, h, w) or (n, h, w, c).")
    if X.ndim == 3:
        X = X[..., np.newaxis]
    if X.dtype == np.uint8 and X.ndim == 4:
        return X
    with np.errstate(over="ignore"):
        samples = X.astype(np.float32)
    wrong = np.argwhere(~np.isfinite(samples))
    if len(wrong):
        place = ", ".join(str(int(i)) for i in wrong[0])
        raise InputError(f"{file}: the value at [{place}] is not a finite number.")
    return samples
