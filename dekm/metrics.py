"""Clustering metrics (Section IV-D of the paper) and the fraction of samples that changed their cluster.

Labels may be of any type that NumPy can sort, such as integers or strings, and the number of clusters need
not be the number of classes.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from sklearn.metrics import (
    davies_bouldin_score,
    normalized_mutual_info_score,
    silhouette_score,
)

from dekm.errors import InputError

if TYPE_CHECKING:  # the figures import this module without PyTorch
    from torch import Tensor

SILHOUETTE_SAMPLES = 2000


def contingency(labels_true: ArrayLike, labels_pred: ArrayLike) -> np.ndarray:
    """Number of samples of every pair of a class and a cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n,), (n, 1) or (1, n)
        Classes.
    labels_pred : array-like of shape (n,), (n, 1) or (1, n)
        Clusters.

    Returns
    -------
    int64 array of shape (n_classes, n_clusters)
        Classes and clusters are in sorted order.

    Raises
    ------
    InputError
        If the two labelings are empty, no vectors, of different lengths, not finite or of types that cannot
        be sorted.
    """
    return _counts(*_encoded(labels_true, labels_pred))


def _counts(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    n_classes, n_clusters = rows.max() + 1, columns.max() + 1
    counts = np.bincount(rows * n_clusters + columns, minlength=n_classes * n_clusters)
    return counts.reshape(n_classes, n_clusters)


def accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Unsupervised clustering accuracy ACC, in [0, 1].

    The fraction of samples whose cluster is mapped to their class by the best one-to-one mapping of clusters
    to classes. The Hungarian algorithm finds the mapping on the contingency table, which need not be square;
    the samples of a cluster that is mapped to no class count as wrong.
    """
    counts = contingency(labels_true, labels_pred)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / counts.sum())


def nmi(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Normalized mutual information in [0, 1]: 2 I(G; C) / (H(G) + H(C)) for classes G and clusters C."""
    return float(
        normalized_mutual_info_score(*_encoded(labels_true, labels_pred), average_method="arithmetic")
    )


def ari(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Adjusted Rand index, in [-0.5, 1]; 0 is expected for random labels."""
    return _adjusted_rand(contingency(labels_true, labels_pred))


def mean_ari(labelings: Sequence[ArrayLike]) -> float:
    """Mean adjusted Rand index of all pairs of labelings of the same length; NaN if there is none."""
    encoded = [_positions(np.asarray(labels), "labels") for labels in labelings]
    pairs = [_adjusted_rand(_counts(a, b)) for a, b in combinations(encoded, 2) if len(a) == len(b)]
    return float(np.mean(pairs)) if pairs else float("nan")


def _adjusted_rand(counts: np.ndarray) -> float:
    """Hubert and Arabie (1985), to the bit as scikit-learn, which takes 20 to 40 times as long to count."""
    n, squares = int(counts.sum()), int((counts**2).sum())
    rows, columns = (int((counts.sum(axis) ** 2).sum()) - squares for axis in (1, 0))
    if rows == columns == 0:
        return 1.0
    both, neither = squares - n, n**2 - squares - rows - columns
    expected = (both + rows) * (rows + neither) + (both + columns) * (columns + neither)
    return 2.0 * (both * neither - rows * columns) / expected


def macro_f1(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Mean F1 of the classes under the mapping of `accuracy`, in [0, 1]; a class without a cluster has 0."""
    counts = contingency(labels_true, labels_pred)
    classes, clusters = linear_sum_assignment(counts, maximize=True)
    sizes = counts.sum(1)[classes] + counts.sum(0)[clusters]
    return float((2 * counts[classes, clusters] / sizes).sum() / len(counts))


def purities(labels_true: ArrayLike, labels_pred: ArrayLike) -> np.ndarray:
    """Fraction of the samples of every cluster that are of its largest class.

    Returns
    -------
    float64 array of shape (n_clusters,)
        In the sorted order of the clusters, in (0, 1].
    """
    counts = contingency(labels_true, labels_pred)
    return counts.max(0) / counts.sum(0)


def silhouette(X: Any, labels: ArrayLike) -> float | None:
    """Mean silhouette coefficient, in [-1, 1]; more is better.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, ...)
        The samples themselves to compare methods, or an embedding to see how one method separates its own.
    labels : array-like of shape (n,)
        Clusters.

    Returns
    -------
    float or None
        The mean over at most 2,000 samples, drawn with a fixed seed. None if it is not defined because there
        is only one cluster, or every sample is a cluster.
    """
    drawn = _drawn(X, labels)
    return None if drawn is None else float(silhouette_score(*drawn))


def davies_bouldin(X: Any, labels: ArrayLike) -> float | None:
    r"""Davies-Bouldin index, at least 0; less is better.

    The mean over the clusters i of :math:`\max_{j \ne i} (s_i + s_j) / \lVert \mu_i - \mu_j \rVert`, where
    s is the mean distance of the samples of a cluster to their mean :math:`\mu` (Davies and Bouldin, 1979).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, ...)
        The samples or an embedding, as for `silhouette`.
    labels : array-like of shape (n,)
        Clusters.

    Returns
    -------
    float or None
        The index of the samples that `silhouette` takes; None if it is not defined.
    """
    drawn = _drawn(X, labels)
    if drawn is None:
        return None
    rows, clusters = drawn
    return float(davies_bouldin_score(rows.toarray() if issparse(rows) else rows, clusters))


def _drawn(X: Any, labels: ArrayLike) -> tuple[Any, np.ndarray] | None:
    """At most 2,000 samples as vectors with their clusters; None if these are all one, or all different."""
    n_samples, clusters = X.shape[0], np.asarray(labels)
    drawn = np.random.default_rng(0).permutation(n_samples)[:SILHOUETTE_SAMPLES]
    if not 1 < len(np.unique(clusters[drawn])) < len(drawn):
        return None
    return X[drawn].reshape(len(drawn), -1), clusters[drawn]


def label_change(previous: "Tensor", labels: "Tensor", *, match: bool) -> float:
    """Fraction of samples whose cluster changed between two partitions, in [0, 1].

    Parameters
    ----------
    previous, labels : int64 tensors of shape (n,)
        The two partitions.
    match : bool
        Whether to match the clusters of both by the Hungarian algorithm first, for partitions that number
        their clusters independently, such as those of two runs of K-means. Otherwise equal numbers are the
        same cluster.
    """
    if match:
        return 1.0 - accuracy(previous.cpu(), labels.cpu())
    return float((previous != labels).float().mean())


def _encoded(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both labelings as integers 0, 1, ... in the sorted order of their labels."""
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if not true.size or true.size != pred.size or not (_is_vector(true) and _is_vector(pred)):
        raise InputError(
            f"labels_true of shape {true.shape} and labels_pred of shape {pred.shape} "
            "should be one-dimensional, not empty and of the same length."
        )
    return _positions(true, "labels_true"), _positions(pred, "labels_pred")


def _is_vector(labels: np.ndarray) -> bool:
    """Whether an array has the shape (n,), (n, 1) or (1, n)."""
    return labels.ndim == 1 or (labels.ndim == 2 and 1 in labels.shape)


def _positions(labels: np.ndarray, name: str) -> np.ndarray:
    if labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        raise InputError(f"{name} should be finite; it contains NaN or infinity.")
    try:
        return np.unique(labels.ravel(), return_inverse=True)[1]
    except TypeError as error:
        raise InputError(f"{name} should be labels of one type: {error}.") from error
