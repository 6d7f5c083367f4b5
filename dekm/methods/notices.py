"""Warnings about a finished fit whose partition is doubtful, found without true labels.

The thresholds were chosen on synthetic data and on the demo.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

PATIENCE = 20  # iterations without a new minimum of the fraction of labels that change
UNSETTLED = 0.02  # mean fraction of labels that change in these iterations
LARGE = 0.3  # fraction of all samples in one cluster, or twice the mean size if that is more
SMALL = 0.05  # fraction of the mean size
GROWTH = 2.0  # a size or rank counts as large or small only if it changed by this factor since iteration 0
FLAT = 1.2  # effective rank of an embedding that is nearly a line
FLATTENED = 0.25  # fraction of the effective rank in iteration 0, or of the k - 1 that k clusters need
SILHOUETTE_LOSS = 1 / 3  # of the silhouette of iteration 0
SILHOUETTE_FLOOR = 0.02  # the smallest difference of two silhouettes that counts

History = Sequence[Mapping[str, float]]


def empty_clusters(embedding: np.ndarray, n_found: int, n_clusters: int) -> str:
    """What is wrong with a fit in which only `n_found` clusters hold samples."""
    n_distinct = len(np.unique(embedding, axis=0))
    return (
        f"Only {n_found} of n_clusters={n_clusters} clusters hold samples; the embedding has {n_distinct} "
        f"distinct points for {len(embedding)} samples. "
    )


def notices(
    history: History,
    n_samples: int,
    n_clusters: int,
    embedding_dim: int,
    first: float | None,
    last: float | None,
) -> list[str]:
    """What is doubtful in a fit, one sentence with advice each.

    Parameters
    ----------
    history : sequence of mapping
        The rows of all iterations, see `Iteration.row`.
    n_samples, n_clusters, embedding_dim : int
        Number of samples and of clusters, and dimension of the embedding.
    first, last : float or None
        Silhouettes of the samples, not of their embedding, under the labels of the first and of the last
        iteration; None if they are not defined.
    """
    found = [*_unsettled(history), *_sizes(history, n_samples, n_clusters)]
    if min(n_clusters, embedding_dim) > 2:
        found += _flat(history, n_clusters)
    return found + list(_worse(first, last))


def _unsettled(history: History) -> Iterator[str]:
    """Yield a notice if many labels changed for long with no new minimum."""
    minimum = float("inf")
    stretch: list[float] = []
    longest: list[float] = []
    for row in history[1:]:
        stretch = [] if row["changed"] < minimum else [*stretch, row["changed"]]
        minimum = min(minimum, row["changed"])
        longest = max(longest, stretch, key=len)
    if len(longest) >= PATIENCE and sum(longest) / len(longest) >= UNSETTLED:
        yield (
            f"For {len(longest)} iterations {sum(longest) / len(longest):.1%} of the labels changed on "
            "average, with no new minimum: many partitions of these data are about equally good. Try more "
            "steps per iteration, a smaller lr or another n_clusters, and compare with AEKMeans."
        )


def _sizes(history: History, n_samples: int, n_clusters: int) -> Iterator[str]:
    """Yield a notice for a cluster that has become large or small."""
    first, last = history[0], history[-1]
    mean = n_samples / n_clusters
    if last["largest"] > max(LARGE * n_samples, 2 * mean) and last["largest"] >= GROWTH * first["largest"]:
        yield (
            f"A cluster holds {last['largest']:,} of {n_samples:,} samples; the largest of iteration 0 held "
            f"{first['largest']:,}. Several clusters have merged: compare with KMeans and AEKMeans."
        )
    if 0 < last["smallest"] < SMALL * mean and last["smallest"] * GROWTH <= first["smallest"]:
        yield (
            f"A cluster holds {last['smallest']:,} of {n_samples:,} samples; the smallest of iteration 0 "
            f"held {first['smallest']:,}. Try a smaller n_clusters, and compare with KMeans and AEKMeans."
        )


def _flat(history: History, n_clusters: int) -> Iterator[str]:
    """Yield a notice for an embedding that has lost its dimensions."""
    first, last = history[0]["effective_rank"], history[-1]["effective_rank"]
    is_line = last < FLAT and last * GROWTH <= first
    if is_line or last < FLATTENED * min(first, n_clusters - 1):
        yield (
            f"The embedding has collapsed: it uses {last:.1f} dimensions (effective rank), {first:.1f} in "
            "iteration 0. Try more epochs of pretraining, other scaling of the samples or a smaller lr, and "
            "compare with KMeans."
        )


def _worse(first: float | None, last: float | None) -> Iterator[str]:
    """Yield a notice for labels that separate the samples clearly worse than those of iteration 0."""
    if first is None or last is None:
        return
    if last < first - max(SILHOUETTE_FLOOR, SILHOUETTE_LOSS * abs(first)):
        yield (
            "The clusters separate the samples worse than those of iteration 0: the silhouette of the "
            f"samples is {last:.3f}, at first {first:.3f}. AEKMeans, which stops at iteration 0, or KMeans "
            "may suit these data better."
        )
