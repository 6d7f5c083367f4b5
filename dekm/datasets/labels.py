"""Class labels of any type, and their encoding as the integers 0, 1, ..."""

from typing import Any

import numpy as np

from dekm.errors import InputError


def label_vector(values: Any, origin: object) -> np.ndarray:
    """Check labels and return them as a vector, not encoded yet.

    Parameters
    ----------
    values : array-like of shape (n,), (n, 1) or (1, n)
        Labels, numbers or strings.
    origin : object
        File or folder of the labels, for error messages.

    Returns
    -------
    ndarray of shape (n,)
        Labels, numbers or strings.

    Raises
    ------
    InputError
        If the values are not a vector of numbers or strings, or a label is not finite.
    """
    labels = np.asarray(values)
    if labels.dtype.kind not in "buifUS" or labels.size != max(labels.shape, default=0):
        raise InputError(
            f"{origin}: labels of type {labels.dtype} and shape {labels.shape} should be a vector of numbers "
            "or strings."
        )
    labels = labels.reshape(-1)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError(f"{origin}: label {int(np.flatnonzero(~np.isfinite(labels))[0])} is not finite.")
    return labels


def encode_labels(values: Any, origin: object) -> np.ndarray:
    """Encode labels as the positions of the classes in sorted order.

    Parameters
    ----------
    values : array-like of shape (n,), (n, 1) or (1, n)
        Labels, numbers or strings.
    origin : object
        File or folder of the labels, for error messages.

    Returns
    -------
    ndarray of shape (n,) and dtype int64
        Labels 0, 1, ...

    Raises
    ------
    InputError
        As `label_vector`.
    """
    return name_classes(label_vector(values, origin))[0]


def name_classes(labels: np.ndarray) -> tuple[np.ndarray, list[Any] | None]:
    """Encode labels, and keep the names of their classes.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels, numbers or strings.

    Returns
    -------
    y : ndarray of shape (n,) and dtype int64
        Positions of the classes in sorted order.
    names : list or None
        The label of each class, a number or a string; None if the labels are 0, 1, ... already.
    """
    names, y = np.unique(labels, return_inverse=True)
    is_encoded = labels.dtype.kind in "iu" and np.array_equal(names, np.arange(len(names)))
    if names.dtype.kind == "S":
        names = np.char.decode(names, "latin-1")
    return y.astype(np.int64), None if is_encoded else names.tolist()
