"""Rows of the subsets of a dataset: a stratified subsample, or the samples of some classes."""

from typing import Any

import numpy as np

from dekm.errors import InputError

Samples = Any  # NumPy array, or SciPy CSR matrix for text
Labels = np.ndarray | None


def count_classes(y: np.ndarray) -> tuple[int, ...]:
    """Number of samples of each class, in sorted order of the classes."""
    return tuple(np.unique(y, return_counts=True)[1].tolist())


def stratified_rows(n_samples: int, y: Labels, size: int) -> np.ndarray:
    """Rows of a subsample, ascending, drawn with a fixed seed; stratified if there are labels.

    Raises `InputError` if `size` is out of range, or a class has fewer than two samples.
    """
    from sklearn.model_selection import train_test_split

    if y is None:
        if not 1 <= size <= n_samples:
            raise InputError(f"subsample={size} should be from 1 to {n_samples} (samples).")
        kept = np.random.default_rng(0).choice(n_samples, size, replace=False)
    else:
        if np.count_nonzero(y < 0) == 1 < len(y):  # no stratum of its own: it joins the largest class
            y = np.where(y < 0, np.bincount(y[y >= 0]).argmax(), y)
        counts = count_classes(y)
        if not len(counts) <= size <= n_samples:
            raise InputError(
                f"subsample={size} should be from {len(counts)} (classes) to {n_samples} (samples)."
            )
        if size > n_samples - len(counts):
            raise InputError(
                f"subsample={size} should be <= {n_samples - len(counts)}, or null to keep all {n_samples}."
            )
        if min(counts) < 2:
            raise InputError(
                f"subsample={size} needs at least 2 samples per class; class counts are {counts}."
            )
        kept, _ = train_test_split(np.arange(n_samples), train_size=size, stratify=y, random_state=0)
    kept.sort()
    return kept


def rows_of_classes(y: Labels, n_classes: int) -> np.ndarray:
    """Rows of the samples of randomly drawn classes, ascending, drawn with a fixed seed; -1 is no class.

    Raises `InputError` if there are no labels, or fewer than `n_classes` classes.
    """
    if y is None:
        raise InputError(f"n_classes={n_classes} needs true labels; the data are unlabelled.")
    classes = np.unique(y[y >= 0])
    if not 1 <= n_classes <= len(classes):
        raise InputError(f"n_classes={n_classes} should be from 1 to {len(classes)}.")
    kept = np.random.default_rng(0).choice(classes, n_classes, replace=False)
    return np.flatnonzero(np.isin(y, kept))
