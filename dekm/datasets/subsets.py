"""Parts of a dataset: some of its samples, or of its classes."""

from typing import Any

import numpy as np

from dekm.errors import InputError

Samples = Any  # a NumPy array, or a SciPy CSR matrix of text
Labels = np.ndarray | None


def count_classes(y: np.ndarray) -> tuple[int, ...]:
    """Samples of each class, in sorted order."""
    return tuple(np.unique(y, return_counts=True)[1].tolist())


def stratified_subsample(X: Samples, y: Labels, size: int) -> tuple[Samples, Labels]:
    """`size` samples drawn with a fixed seed, each class in its share, in their old order.

    Without labels every sample is as likely.
    """
    from sklearn.model_selection import train_test_split

    n_samples = X.shape[0]
    if y is None:
        if not 1 <= size <= n_samples:
            raise InputError(f"subsample={size} should be from 1 to {n_samples} (samples).")
        kept = np.random.default_rng(0).choice(n_samples, size, replace=False)
    else:
        counts = count_classes(y)
        if not len(counts) <= size <= n_samples:
            raise InputError(
                f"subsample={size} should be from {len(counts)} (classes) to {n_samples} (samples)."
            )
        if size > n_samples - len(counts):
            raise InputError(
                f"subsample={size} leaves too few of {n_samples} samples; use null for all of them."
            )
        if min(counts) < 2:
            raise InputError(f"subsample={size} needs two samples of each class; class counts are {counts}.")
        kept, _ = train_test_split(np.arange(n_samples), train_size=size, stratify=y, random_state=0)
    kept.sort()
    return X[kept], None if y is None else y[kept]


def random_classes(X: Samples, y: Labels, n_classes: int) -> tuple[Samples, np.ndarray, list[int]]:
    """The samples of `n_classes` classes drawn with a fixed seed, their labels, and the classes."""
    if y is None:
        raise InputError(f"n_classes={n_classes} needs true labels, and there are none.")
    classes = np.unique(y)
    if not 1 <= n_classes <= len(classes):
        raise InputError(f"n_classes={n_classes} should be from 1 to {len(classes)}.")
    kept = np.sort(np.random.default_rng(0).choice(classes, n_classes, replace=False))
    chosen = np.isin(y, kept)
    return X[chosen], y[chosen], kept.tolist()
