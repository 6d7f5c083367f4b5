"""Warnings about a finished fit whose partition is doubtful, found without true labels."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

import numpy as np


def empty_clusters(embedding: np.ndarray, n_found: int, n_clusters: int) -> str:
    """What is wrong with a fit in which only `n_found` clusters hold samples."""
    n_distinct = len(np.unique(embedding, axis=0))
    return (
        f"Only {n_found} of n_clusters={n_clusters} clusters hold samples; the embedding has {n_distinct} "
        f"distinct points for {len(embedding)} samples. "
    )


@dataclass(frozen=True)
class FinishedFit:
    """What a fit shows without true labels, and the rules by which it is doubtful.

    The thresholds were chosen on synthetic data, of which tests/methods/test_notices.py has a table, and
    docs/embeddings.md says what to do about each notice.
    """

    history: Sequence[Mapping[str, float]]  # the rows of all iterations, see `Iteration.row`
    n_samples: int
    n_clusters: int
    embedding_dim: int
    passes: float = math.inf  # over the samples between two iterations; infinite if not known
    sample_rank: float = math.nan  # effective rank of the samples; NaN if not known
    # of the samples, not of their embedding, under the labels of the first and of the last iteration; None if
    # they are not defined or the labels are the same
    silhouettes: tuple[float | None, float | None] = (None, None)

    UNSETTLED: ClassVar = 0.02  # mean fraction of labels that change in the iterations of the second half
    FALLING: ClassVar = 0.5  # of the mean of the first half: below, the labels are settling
    LATE_ITERATIONS: ClassVar = 3  # that the second half has at least, to be judged
    LATE_PASSES: ClassVar = 5  # passes over the samples in the second half, at least
    GROWTH: ClassVar = 2.0  # a size or rank counts as large or small only if it changed by this factor
    LARGE: ClassVar = 2.0  # times the mean size of a cluster
    BALANCE: ClassVar = 0.5  # of the number of effective clusters in iteration 0, each less one
    SMALL: ClassVar = 0.05  # fraction of the mean size
    FLAT: ClassVar = 1.2  # effective rank of points that are nearly on a line
    FLATTENED: ClassVar = 0.25  # of the effective rank of iteration 0, or of the k - 1 that k clusters need
    AGREEMENT: ClassVar = 0.5  # adjusted Rand index with iteration 0: below, it is another partition
    SILHOUETTE_LOSS: ClassVar = 1 / 3  # of the silhouette of iteration 0
    SILHOUETTE_FLOOR: ClassVar = 0.01  # twice the range of K-means on word counts with several seeds

    @property
    def first(self) -> Mapping[str, float]:
        """The row of iteration 0."""
        return self.history[0]

    @property
    def last(self) -> Mapping[str, float]:
        """The row of the last iteration."""
        return self.history[-1]

    def notices(self) -> list[str]:
        """What is doubtful, one sentence with advice each."""
        found = [*self._unsettled(), *self._merged(), *self._small()]
        if min(self.n_clusters, self.embedding_dim) > 2:  # a line separates two clusters
            found += self._flat()
        return [*found, *self._drifted(), *self._worse()]

    def _unsettled(self) -> Iterator[str]:
        changes = [row["changed"] for row in self.history[1:]]
        early, late = changes[: len(changes) // 2], changes[len(changes) // 2 :]
        if len(late) < self.LATE_ITERATIONS or len(late) * self.passes < self.LATE_PASSES:
            return
        if (rate := fmean(late)) >= max(self.UNSETTLED, self.FALLING * fmean(early)):
            yield (
                f"In the last {len(late)} iterations {rate:.1%} of the labels changed on average, after "
                f"{fmean(early):.1%} before: they do not settle, and many partitions of these data are about "
                "equally good. Try more steps per iteration, a smaller lr or another n_clusters, and compare "
                "with AEKMeans."
            )

    def _merged(self) -> Iterator[str]:
        before, after = int(self.first["largest"]), int(self.last["largest"])
        mean = self.n_samples / self.n_clusters
        has_grown = after > self.LARGE * mean and after >= self.GROWTH * before
        balances = [row["effective_clusters"] - 1 for row in (self.first, self.last)]
        if has_grown or balances[1] < self.BALANCE * balances[0]:
            yield (
                f"A cluster holds {after:,} of {self.n_samples:,} samples; the largest of iteration 0 held "
                f"{before:,}. The sizes are those of {balances[1] + 1:.1f} equal clusters, at first of "
                f"{balances[0] + 1:.1f}: clusters have merged. Compare with KMeans and AEKMeans."
            )

    def _small(self) -> Iterator[str]:
        before, after = int(self.first["smallest"]), int(self.last["smallest"])
        if 0 < after < self.SMALL * self.n_samples / self.n_clusters and after * self.GROWTH <= before:
            yield (
                f"A cluster holds {after:,} of {self.n_samples:,} samples; the smallest of iteration 0 held "
                f"{before:,}. Try a smaller n_clusters, and compare with KMeans and AEKMeans."
            )

    def _flat(self) -> Iterator[str]:
        before, after = self.first["effective_rank"], self.last["effective_rank"]
        advice = (
            "Try more epochs of pretraining, other scaling of the samples or a smaller lr, and compare with "
            "KMeans."
        )
        if before < self.FLAT and before * self.GROWTH <= self.sample_rank:
            yield (
                f"The pretrained embedding had collapsed before the first update: it uses {before:.1f} "
                f"dimensions (effective rank), the samples {self.sample_rank:.1f}. {advice}"
            )
        is_line = after < self.FLAT and after * self.GROWTH <= before
        if (is_line or after < self.FLATTENED * min(before, self.n_clusters - 1)) and self._is_another():
            yield (
                f"The embedding has collapsed: it uses {after:.1f} dimensions (effective rank), {before:.1f} "
                f"in iteration 0. {advice}"
            )

    def _drifted(self) -> Iterator[str]:
        first, last = self.silhouettes
        is_better = first is not None and last is not None and last > first + self.SILHOUETTE_FLOOR
        if self._is_another() and not is_better:
            yield (
                "The clusters are others than those of iteration 0 (adjusted Rand index "
                f"{self.last['ari_first']:.2f}) and separate the samples hardly better: these data may have "
                "no clusters, or several partitions that are about equally good. Compare several "
                "random_state, and AEKMeans."
            )

    def _worse(self) -> Iterator[str]:
        first, last = self.silhouettes
        if first is None or last is None or first <= 0:
            return
        if last < first - max(self.SILHOUETTE_FLOOR, self.SILHOUETTE_LOSS * first):
            yield (
                "The clusters separate the samples worse than those of iteration 0: the silhouette of the "
                f"samples is {last:.3f}, at first {first:.3f}. AEKMeans, which stops at iteration 0, or "
                "KMeans may suit these data better."
            )

    def _is_another(self) -> bool:
        """Whether the partition is another than that of iteration 0."""
        return self.last["ari_first"] < self.AGREEMENT
