"""A user's own loader: a function that returns samples and labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Loaded
from dekm.datasets.labels import label_vector
from dekm.datasets.user.features import as_samples, chosen_features, listed
from dekm.errors import InputError, shown
from dekm.outside import load_attribute
from dekm.scaling import check_channels_last


def outside(
    raw_dir: Path, *, loader: str, path: str | None = None, features: Sequence[str] | None = None
) -> Loaded:
    """Load the data that a function outside of the package returns.

    Parameters
    ----------
    loader : str
        Import path "module:function" of the function. It is called without arguments, or with `path`, and
        returns samples X, an array, data frame or sparse matrix of shape (n, d), (n, h, w) or (n, h, w, c),
        and labels y of shape (n,) or None.
    path : str, optional
        File or folder that the function reads.
    features : sequence of str, optional
        Names of the columns of a data frame to take.

    Raises
    ------
    InputError
        If the function fails, or returns something else.
    """
    function = load_attribute(loader)
    name = f"loader={shown(loader)}"
    try:
        X, y = function() if path is None else function(path)
    except Exception as error:
        text = str(error).partition("\n")[0]
        raise InputError(f"{name} should return X and y: {type(error).__name__}: {text}.") from error
    columns = [str(column) for column in X.columns] if hasattr(X, "columns") else None
    X = _as_array(X, name)
    if features is not None:
        X, columns = chosen_features(X, columns, features, name)
    samples = as_samples(X, name)
    labels = None if y is None else label_vector(y, name)
    if labels is not None and len(labels) != samples.shape[0]:
        raise InputError(f"{name}: {len(labels)} labels should be {samples.shape[0]}, one per sample.")
    return Loaded(samples, labels, None, columns)


def _as_array(X: Any, name: str) -> Any:
    """Samples as an array or a sparse matrix; a dataset of PyTorch, for example, is refused."""
    if sparse.issparse(X):
        return X
    if not isinstance(X, list | tuple) and not hasattr(X, "__array__"):
        raise InputError(f"{name} should return X as an array; it returns a {type(X).__name__}.")
    if hasattr(X, "detach"):  # a tensor, whose type NumPy may lack
        X = X.detach().cpu().to_dense()
        X = X.float() if str(X.dtype) == "torch.bfloat16" else X
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    array = np.asarray(X)
    if array.dtype == object:
        array = _numbers(X, array, name)
    if array.ndim == 4:
        check_channels_last(name, array.shape, "return np.moveaxis(X, 1, -1)")
    return array


def _numbers(X: Any, array: np.ndarray, name: str) -> np.ndarray:
    """Python objects, such as the cells of a data frame of several types, as numbers."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        kinds = [f"{column} ({kind})" for column, kind in getattr(X, "dtypes", {}).items()]
        types = f": {listed(kinds)}" if kinds else ""
        raise InputError(f"{name}: values of type object should be numbers{types}.") from error
