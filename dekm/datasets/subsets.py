"""Subsets of a dataset: a stratified subsample, or the samples of some classes."""

from typing import Any

import numpy as np

from dekm.errors import InputError

Samples = Any  # NumPy array, or SciPy CSR matrix for text
Labels = np.ndarray | None


def count_classes(y: np.ndarray) -> tuple[int, ...]:
    """Number of samples of each class, in sorted order of the classes.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.

    Returns
    -------
    tuple of int
        Class counts.
    """
    return tuple(np.unique(y, return_counts=True)[1].tolist())


def stratified_subsample(X: Samples, y: Labels, size: int) -> tuple[Samples, Labels]:
    """Stratified subsample, drawn without replacement and with a fixed seed.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, ...)
        Samples.
    y : ndarray of shape (n,) or None
        Labels. Without labels the subsample is drawn uniformly.
    size : int
        Number of samples to draw.

    Returns
    -------
    X : ndarray or csr_matrix of shape (size, ...)
        The drawn samples, in their original order.
    y : ndarray of shape (size,) or None
        Their labels.

    Raises
    ------
    InputError
        If `size` is out of range, or a class has fewer than two samples.
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
                f"subsample={size} should be <= {n_samples - len(counts)}, or null to keep all {n_samples}."
            )
        if min(counts) < 2:
            raise InputError(
                f"subsample={size} needs at least 2 samples per class; class counts are {counts}."
            )
        kept, _ = train_test_split(np.arange(n_samples), train_size=size, stratify=y, random_state=0)
    kept.sort()
    return X[kept], None if y is None else y[kept]


def random_classes(X: Samples, y: Labels, n_classes: int) -> tuple[Samples, np.ndarray, list[int]]:
    """Samples of randomly drawn classes, with a fixed seed.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, ...)
        Samples.
    y : ndarray of shape (n,) or None
        Labels.
    n_classes : int
        Number of classes to draw.

    Returns
    -------
    X : ndarray or csr_matrix of shape (m, ...)
        The samples of these classes, in their original order.
    y : ndarray of shape (m,)
        Their labels.
    classes : list
        The drawn classes, sorted.

    Raises
    ------
    InputError
        If there are no labels, or fewer than `n_classes` classes.
    """
    if y is None:
        raise InputError(f"n_classes={n_classes} needs true labels; the data are unlabelled.")
    classes = np.unique(y)
    if not 1 <= n_classes <= len(classes):
        raise InputError(f"n_classes={n_classes} should be from 1 to {len(classes)}.")
    kept = np.sort(np.random.default_rng(0).choice(classes, n_classes, replace=False))
    chosen = np.isin(y, kept)
    return X[chosen], y[chosen], kept.tolist()
