"""Checks of what a user passes to an estimator: its parameters, and samples as one float32 tensor."""

import math
import warnings
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor

from dekm.errors import InputError

SMALLEST_INTEGER = {
    "n_clusters": 1,
    "n_init": 1,
    "batch_size": 1,
    "max_iter": 0,
    "n_batches": 1,
    "n_init_update": 1,
    "update_interval": 1,
    "epochs_per_iter": 1,
    "embedding_dim": 1,
    "n_epochs": 0,
}
POSITIVE = ("alpha",)
NOT_NEGATIVE = ("lr", "tol", "gamma", "lam")


def check_parameters(estimator: BaseEstimator, words: Mapping[str, Collection[str]] | None = None) -> None:
    """Check every parameter of `estimator` whose limits are the same for all estimators.

    `words` are what its integer parameters may be instead.

    Raises
    ------
    InputError
        Naming the first parameter that is outside its limits.
    """
    for name, value in estimator.get_params(deep=False).items():
        if name in SMALLEST_INTEGER:
            check_integer(name, value, minimum=SMALLEST_INTEGER[name], words=(words or {}).get(name, ()))
        elif name in POSITIVE and not (is_number(value) and value > 0):
            raise InputError(f"{name}={value!r} should be a number > 0.")
        elif name in NOT_NEGATIVE and not (is_number(value) and value >= 0):
            raise InputError(f"{name}={value!r} should be a number >= 0.")


def check_integer(name: str, value: Any, *, minimum: int, words: Collection[str] = ()) -> None:
    """Check an integer parameter that may also be one of a few words."""
    if isinstance(value, str) and value in words:
        return
    if not is_number(value) or not isinstance(value, Integral) or int(value) < minimum:
        choices = "".join(f" or {word!r}" for word in words)
        raise InputError(f"{name}={value!r} should be an integer >= {minimum}{choices}.")


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Check a parameter that has a few values."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        *others, last = map(repr, choices)
        raise InputError(f"{name}={value!r} should be {', '.join(others)} or {last}.")


def is_number(value: Any) -> bool:
    """Whether a value is a finite real number, and no truth value."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def check_samples(estimator: BaseEstimator, X: Any, *, reset: bool) -> Float[Tensor, "n ..."]:
    """Validate X for `estimator` and return it as a float32 tensor on the CPU.

    Accepted are arrays (n, d), images (n, h, w) or (n, h, w, c), sparse matrices and data frames; grey
    images get a channel axis. With `reset` the shape of a sample is stored as ``sample_shape_``, else it
    must equal the stored one. A contiguous float32 array is not copied: one mapped from a file stays there.

    Raises
    ------
    InputError
        If X is empty, not numeric, not finite, or of another sample shape than the one fitted.
    """
    try:
        checked = validate_data(
            estimator, X, reset=reset, dtype=np.float32, ensure_2d=False, allow_nd=True, accept_sparse="csr"
        )
    except ValueError as error:
        raise InputError(str(error)) from error
    array = checked.toarray() if sparse.issparse(checked) else np.ascontiguousarray(checked)
    if array.ndim not in (2, 3, 4):
        raise InputError(
            f"X of shape {array.shape} should be (n, d), (n, h, w) or (n, h, w, c). "
            "Reshape your data: a single feature is X.reshape(-1, 1), a single sample X.reshape(1, -1)."
        )
    if array.ndim == 3:
        array = array[..., np.newaxis]
    if reset:
        estimator.sample_shape_ = array.shape[1:]
        estimator.n_features_in_ = array.shape[1]
    elif array.shape[1:] != estimator.sample_shape_:
        name = type(estimator).__name__
        message = (
            f"X has samples of shape {array.shape[1:]}, but {name} was fitted on samples of shape "
            f"{estimator.sample_shape_}."
        )
        if array.ndim == 2:  # in scikit-learn's words too, which its own checks look for
            expected = estimator.n_features_in_
            message += (
                f" X has {array.shape[1]} features, but {name} is expecting {expected} features as input."
            )
        raise InputError(message)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # nothing writes to it
        return torch.from_numpy(array)
