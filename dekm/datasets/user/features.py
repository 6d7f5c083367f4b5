"""What all readers of numbers share: their samples, and the features that a run was made with."""

import logging
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from dekm.errors import InputError, shown
from dekm.scaling import LARGEST_BYTE, is_integer, loses_digits

logger = logging.getLogger(__name__)

LISTED = 10  # names in a message


def as_samples(X: Any, origin: object) -> Any:
    """Samples of a user: images as uint8 or floats, rows as floats.

    Rows are float64 unless float32 holds the same values, because they are scaled before they are rounded;
    images are float64 only if float32 rounds differences away.

    Raises `InputError` if the shape is another one, or a value is not a finite number.
    """
    if X.dtype.kind not in "buif":
        raise InputError(f"{origin}: values of type {X.dtype} should be numbers.")
    if sparse.issparse(X):
        rows = sparse.csr_matrix(X)
        _check_finite(rows.data, origin)
        with np.errstate(over="ignore"):
            rows = rows.astype(np.float32)
        if not np.isfinite(rows.data).all():
            raise InputError(
                f"{origin}: a value is beyond {np.finfo(np.float32).max:.3g}; divide all by a number."
            )
        return rows
    if X.ndim not in (2, 3, 4) or not math.prod(X.shape):
        raise InputError(f"{origin}: shape {X.shape} should be (n, d), (n, h, w) or (n, h, w, c).")
    if X.ndim == 3:
        X = X[..., np.newaxis]
    if X.ndim == 4 and is_integer(X.dtype) and X.min() >= 0 and X.max() <= LARGEST_BYTE:
        return np.ascontiguousarray(X, dtype=np.uint8)
    _check_finite(X, origin)
    with np.errstate(over="ignore"):
        rounded = np.ascontiguousarray(X, dtype=np.float32)
    fits = not loses_digits(X) if X.ndim == 4 else np.array_equal(rounded, X)
    return rounded if fits else np.ascontiguousarray(X, dtype=np.float64)


def _check_finite(values: np.ndarray, origin: object) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        place = ", ".join(str(int(i)) for i in np.argwhere(~finite)[0])
        raise InputError(f"{origin}: the value at [{place}] is not a finite number.")


def reshaped(X: Any, image_shape: Sequence[int] | None, origin: object) -> Any:
    """Rows (n, d) as images of a shape (h, w) or (h, w, c), if one is given."""
    if image_shape is None:
        return X
    if len(image_shape) not in (2, 3) or X.ndim != 2 or math.prod(image_shape) != X.shape[1]:
        raise InputError(
            f"image_shape={shown(list(image_shape))} should be [h, w] or [h, w, c] with a product of "
            f"{X.shape[1]}: {origin} has an array of shape {X.shape}."
        )
    return (X.toarray() if sparse.issparse(X) else X).reshape(-1, *image_shape)


def chosen_features(
    X: Any, names: Sequence[str] | None, features: Sequence[str], origin: object
) -> tuple[Any, list[str]]:
    """The columns with the features of a run, in its order; those of other names are left out.

    Columns without names are taken in their places. Raises `InputError` if a feature is missing.
    """
    if names is None:
        logger.warning("%s: the columns have no names: they are matched by their places", origin)
        return X, list(features)
    places = {name: i for i, name in enumerate(names)}
    missing = [name for name in features if name not in places]
    if missing:
        raise InputError(
            f"{origin} lacks {len(missing)} of the {len(features)} features of the run: {listed(missing)}; "
            f"it has {listed(list(names))}."
        )
    others = [name for name in names if name not in set(features)]
    if others:
        logger.warning(
            "%s: %d columns are ignored, the run was made without them: %s",
            origin,
            len(others),
            listed(others),
        )
    if list(names) == list(features):
        return X, list(names)
    return X[:, [places[name] for name in features]], list(features)


def listed(names: Sequence[str]) -> str:
    """The first of some names, for a message."""
    return ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
