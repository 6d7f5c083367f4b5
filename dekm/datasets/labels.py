"""Labels of any type to the numbers 0, 1, ..."""

from typing import Any

import numpy as np

from dekm.errors import InputError


def encode_labels(values: Any, origin: object) -> np.ndarray:
    """Number the distinct labels in sorted order: int64 of shape (n,).

    Parameters
    ----------
    values : numbers or strings of shape (n,), (n, 1) or (1, n)
    origin : where they come from, for the text of an error
    """
    labels = np.asarray(values)
    if labels.dtype.kind not in "buifUS" or labels.size != max(labels.shape, default=0):
        raise InputError(
            f"{origin}: labels of type {labels.dtype} and shape {labels.shape} should be one a row."
        )
    labels = labels.reshape(-1)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError(f"{origin}: label {int(np.flatnonzero(~np.isfinite(labels))[0])} is not a number.")
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
