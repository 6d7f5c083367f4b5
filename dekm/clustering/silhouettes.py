"""Silhouettes of several partitions in one or several spaces, each of whose distances are computed once."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float
from scipy.spatial.distance import pdist, squareform

SPREAD = 0.01  # least standard deviation of silhouettes that is told apart from chance


def silhouettes(H: Float[np.ndarray, "n e"], partitions: Sequence[np.ndarray]) -> np.ndarray:
    r"""Mean silhouette coefficient of each partition of the samples `H`, in [-1, 1]; more is better.

    The coefficient of a sample is :math:`(b - a) / \max(a, b)`, where a is its mean distance to the others
    of its cluster and b that to the nearest other cluster (Rousseeuw, 1987); 0 in a cluster of one sample.

    Returns
    -------
    float64 array
        One value per partition; NaN for one cluster.
    """
    D = squareform(pdist(H.astype(np.float64)))
    return np.array([_silhouette(D, np.unique(labels, return_inverse=True)[1]) for labels in partitions])


def pooled_silhouettes(
    spaces: Iterable[Float[np.ndarray, "n _"]], partitions: Sequence[np.ndarray]
) -> np.ndarray:
    """Silhouettes of partitions of the same samples in several spaces, each of which counts the same.

    The pooled score of Wang and Ye (2024, arXiv:2403.14830), of silhouettes that are standardized in each
    space, since their level and their spread follow from how an embedding was trained.

    Returns
    -------
    float64 array
        One value per partition: the mean over the spaces of how many standard deviations (at least 0.01 each)
        its silhouette is above the mean of all partitions. NaN if no space tells any of them apart.
    """
    S = np.array([silhouettes(H, partitions) for H in spaces]).reshape(-1, len(partitions))
    spread = S.std(axis=1, keepdims=True)
    if not (spread > 1e-12).any():  # equal partitions, or spaces of equal rows
        return np.full(len(partitions), np.nan)
    return ((S - S.mean(axis=1, keepdims=True)) / np.maximum(spread, SPREAD)).mean(axis=0)


def _silhouette(D: np.ndarray, labels: np.ndarray) -> float:
    sizes, own = np.bincount(labels), np.arange(len(labels))
    if len(sizes) < 2:
        return np.nan
    sums = D @ np.eye(len(sizes))[labels]  # of the distances of each sample to each cluster
    a = sums[own, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[own, labels] = np.inf
    b = means.min(axis=1)
    larger = np.maximum(a, b)
    defined = (sizes[labels] > 1) & (larger > 0)
    return float(np.where(defined, b - a, 0) @ (1 / np.where(larger > 0, larger, 1)) / len(labels))
