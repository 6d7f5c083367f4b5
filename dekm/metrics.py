"""Clustering scores in [0, 1] (Section IV-D of the paper) and the share of changed labels.

Labels may be of any type that NumPy can sort (integers, negative numbers, strings), and there may be
more or fewer clusters than classes.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, silhouette_score

from dekm.errors import InputError

SILHOUETTE_SAMPLES = 2000


def contingency(labels_true: ArrayLike, labels_pred: ArrayLike) -> np.ndarray:
    """Counts of every pair (class, cluster): an int64 array of shape (n_classes, n_clusters).

    Raises
    ------
    InputError
        If the two labellings are empty, not one-dimensional or of different lengths.
    """
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.shape != pred.shape or not true.size:
        raise InputError(
            f"labels_true of shape {true.shape} and labels_pred of shape {pred.shape} "
            "should be one-dimensional, not empty and of the same length."
        )
    classes, rows = np.unique(true, return_inverse=True)
    clusters, columns = np.unique(pred, return_inverse=True)
    counts = np.bincount(rows * len(clusters) + columns, minlength=len(classes) * len(clusters))
    return counts.reshape(len(classes), len(clusters))


def accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Unsupervised clustering accuracy ACC: the best one-to-one map of clusters to classes.

    The map is found by the Hungarian algorithm on the rectangular contingency table; samples of a
    cluster left without a class count as wrong.
    """
    counts = contingency(labels_true, labels_pred)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / counts.sum())


def nmi(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Normalized mutual information 2 I(G; C) / (H(G) + H(C)): the arithmetic mean of the entropies."""
    return float(normalized_mutual_info_score(labels_true, labels_pred, average_method="arithmetic"))


def ari(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Rand index adjusted for chance; in [-0.5, 1]."""
    return float(adjusted_rand_score(labels_true, labels_pred))


def silhouette(X: Any, labels: ArrayLike) -> float | None:
    """Mean silhouette in [-1, 1] of a labelling in the space of the samples, the same for all methods.

    Estimated on at most 2,000 samples, drawn with a fixed seed. None where it is not defined: with one
    cluster, or as many as samples.
    """
    n_samples, found = X.shape[0], np.asarray(labels)
    kept = np.random.default_rng(0).permutation(n_samples)[:SILHOUETTE_SAMPLES]
    if not 1 < len(np.unique(found[kept])) < len(kept):
        return None
    rows = X[kept].reshape(len(kept), -1)
    return float(silhouette_score(rows, found[kept]))


def label_change(previous: ArrayLike, labels: ArrayLike) -> float:
    """Share of samples that changed their cluster, after the best renaming of the clusters."""
    return 1.0 - accuracy(previous, labels)
