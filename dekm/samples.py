"""From what a user passes as X to one float32 tensor."""

import warnings
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor

from dekm.errors import InputError


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
