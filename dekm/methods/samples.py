"""Validation and scaling of the samples that a user passes to an estimator."""

import warnings
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from dekm.errors import InputError
from dekm.scaling import (
    COLUMN_SCALINGS,
    NO_SCALING,
    InputScaling,
    check_channels_last,
    is_integer,
    learn_scaling,
    loses_digits,
)


def check_samples(
    estimator: BaseEstimator, X: Any, *, reset: bool, scaling: InputScaling | None = None
) -> Float[Tensor, "n ..."]:
    """Validate the samples of an estimator, scale them and return them as a float32 tensor on the CPU.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame
        Vectors (n, d), grey images (n, h, w), which get a channel axis, or images (n, h, w, c), which are
        scaled as `learn_image_scaling` says. A contiguous float32 array is not copied: an array that is
        mapped from a file stays in the file.
    reset : bool
        Whether to store the shape of a sample as ``sample_shape_`` and the rule of its scaling as
        ``input_scaling_``; otherwise the shape must equal the stored one, and the stored rule is applied.
    scaling : InputScaling, optional
        The rule to store; by default it is learned from X.

    Raises
    ------
    InputError
        If X is empty, not numeric, not finite, or its samples are not of the shape and range fitted.
    """
    given = as_given(X)
    rule = scaling if reset else getattr(estimator, "input_scaling_", NO_SCALING)
    keeps_digits = rule is not None and rule.kind in COLUMN_SCALINGS
    array = as_array(estimator, given, reset=reset, dtype=np.float64 if keeps_digits else np.float32)
    integers = array.ndim == 4 and is_integer(np.asarray(given).dtype)
    if reset:
        if array.ndim == 4:
            check_channels_last(
                "X", array.shape, "pass np.moveaxis(X, 1, -1), or np.swapaxes(X, 1, 2) if not"
            )
        estimator.sample_shape_ = array.shape[1:]
        estimator.n_features_in_ = array.shape[1]
        estimator.input_scaling_ = scaling or learn_scaling(array, integers=integers)
        if not keeps_digits:
            warn_of_lost_digits(given)
    elif array.shape[1:] != estimator.sample_shape_:
        raise InputError(shape_mismatch(estimator, array.shape))
    scaled = getattr(estimator, "input_scaling_", NO_SCALING)(array, integers=integers)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # it is never written to
        return torch.from_numpy(scaled)


def as_given(X: Any) -> Any:
    """Samples that NumPy can read, of the type that was given.

    `InputError` for a dataset of PyTorch, of which NumPy would make an array of tuples, or a tensor without
    data.
    """
    if isinstance(X, Dataset | DataLoader):
        raise InputError(
            f"X={type(X).__name__} should be an array, a tensor or a data frame of the samples alone, such "
            "as dataset.tensors[0]."
        )
    try:
        return _detached(X) if isinstance(X, Tensor) else X
    except NotImplementedError as error:
        raise InputError(str(error)) from error


def warn_of_lost_digits(X: Any) -> None:
    """Warn of vectors whose differences float32, the type of all estimators, rounds away."""
    values = X if sparse.issparse(X) else np.asarray(X)
    if values.ndim == 2 and values.dtype.kind in "iuf" and loses_digits(values):
        warnings.warn(
            "X has columns with an offset that is large against their range: float32 rounds their "
            "differences away. Subtract the offset first, for example with scikit-learn's StandardScaler.",
            UserWarning,
            stacklevel=6,
        )


def order_hint(estimator: BaseEstimator, X: Any) -> str:
    """What to do about the columns of a data frame that are those of the fit in another order."""
    fitted = list(getattr(estimator, "feature_names_in_", []))
    columns = list(getattr(X, "columns", []))
    return (
        " Pass X[model.feature_names_in_]."
        if columns != fitted and set(columns) >= set(fitted) > set()
        else ""
    )


def as_array(estimator: BaseEstimator, X: Any, *, reset: bool, dtype: Any = np.float32) -> np.ndarray:
    """Samples as a contiguous array (n, d) or (n, h, w, c), validated by scikit-learn."""
    try:
        accepted: dict[str, Any] = {"ensure_2d": False, "allow_nd": True, "accept_sparse": "csr"}
        checked = validate_data(estimator, X, reset=reset, dtype=dtype, **accepted)
    except ValueError as error:
        raise InputError(str(error) + order_hint(estimator, X)) from error
    array = checked.toarray() if sparse.issparse(checked) else np.ascontiguousarray(checked)
    if min(array.strides, default=0) < 0:  # of an axis of length 1, which PyTorch refuses
        array = array.copy()
    if array.ndim not in (2, 3, 4):
        raise InputError(
            f"X of shape {array.shape} should be (n, d), (n, h, w) or (n, h, w, c). "
            "Reshape your data: a single feature is X.reshape(-1, 1), a single sample X.reshape(1, -1)."
        )
    return array[..., np.newaxis] if array.ndim == 3 else array


def _detached(X: Tensor) -> np.ndarray:
    """The values of a tensor: without gradient, on the CPU, dense, and not bfloat16."""
    values = X.detach().cpu().to_dense()
    return (values.float() if values.is_floating_point() else values).numpy(force=True)


def shape_mismatch(estimator: BaseEstimator, shape: tuple[int, ...]) -> str:
    """The error text for X of a shape whose samples are not those of the fit."""
    name, fitted = type(estimator).__name__, estimator.sample_shape_
    message = f"X has samples of shape {shape[1:]}, but {name} was fitted on samples of shape {fitted}."
    if len(shape) - 1 != len(fitted):
        kinds = {1: "vectors", 3: "images"}
        message = (
            f"X holds {kinds[len(shape) - 1]}, but {name} was fitted on {kinds[len(fitted)]}: " + message
        )
    if len(shape) == 2:  # scikit-learn's estimator checks look for its own wording
        expected = estimator.n_features_in_
        message += f" X has {shape[1]} features, but {name} is expecting {expected} features as input."
    return message
