"""Validation of loaded data against the row of a dataset."""

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Dataset
from dekm.datasets.subsets import Labels, Samples, count_classes
from dekm.errors import InputError


def check(dataset: Dataset, X: Samples, y: Labels) -> None:
    """Check loaded samples and encoded labels against the row of a dataset.

    Raises `InputError` if shape, number of classes or class counts differ from those of the row, or if no
    method could use the samples: there are fewer than `n_clusters`, they are empty or have values that are
    not finite.
    """
    _check_samples(dataset, X)
    if y is not None:
        _check_labels(dataset, y, X.shape[0])


def check_n_samples(label: str, n_samples: int, n_clusters: int) -> None:
    """Raise `InputError` if there are fewer samples, perhaps of a subsample, than clusters."""
    if n_samples < n_clusters:
        raise InputError(f"{label}: n_samples={n_samples} should be >= n_clusters={n_clusters}.")


def _check_samples(dataset: Dataset, X: Samples) -> None:
    n_samples = X.shape[0] if dataset.n_samples is None else dataset.n_samples
    expected = (n_samples, *(X.shape[1:] if dataset.shape is None else dataset.shape))
    if X.shape != expected:
        raise InputError(f"{dataset.label}: loaded shape {X.shape} should be {expected}.")
    check_n_samples(dataset.label, n_samples, dataset.n_clusters)
    if 0 in X.shape:
        raise InputError(f"{dataset.label}: loaded shape {X.shape} should have no axis of length 0.")
    if (dataset.kind == "images") != (len(X.shape) == 4):
        shape = "(n, h, w, c)" if dataset.kind == "images" else "(n, d)"
        raise InputError(
            f"{dataset.label}: loaded shape {X.shape} should be {shape}: kind is {dataset.kind}."
        )
    values = X.data if sparse.issparse(X) else X
    if not np.isfinite(values).all():
        raise InputError(f"{dataset.label}: loaded data have values that are not finite.")


def _check_labels(dataset: Dataset, y: np.ndarray, n_samples: int) -> None:
    if y.shape != (n_samples,):
        raise InputError(f"{dataset.label}: labels of shape {y.shape} should be ({n_samples},).")
    counts = count_classes(y)
    if dataset.n_samples is not None and len(counts) != dataset.n_clusters:
        raise InputError(f"{dataset.label}: {len(counts)} classes should be {dataset.n_clusters}.")
    if dataset.class_counts is not None and counts != dataset.class_counts:
        raise InputError(f"{dataset.label}: class counts {counts} should be {dataset.class_counts}.")
