"""Encoding of class labels of any type as the integers 0, 1, ..."""

from typing import Any

import numpy as np

from dekm.errors import InputError


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
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
