"""The gap statistic: how much better K-means fits samples than samples without clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

N_SAMPLES = 1000
N_REFERENCES = 5
N_INIT = 5
VARIANCE = 0.9  # of the samples, in the principal components that are clustered
TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Gap:
    """The gap statistic of several numbers of clusters.

    Attributes
    ----------
    numbers : list of int
        Numbers of clusters, ascending, the first of them 1.
    values, errors : list of float
        The statistic of each number, and its standard error by the reference samples.
    """

    numbers: list[int]
    values: list[float]
    errors: list[float]

    @property
    def chosen(self) -> int | None:
        """The first number above 1 whose value is larger than that of the next one.

        1 if no value is above that of one cluster by more than two standard errors, as of noise; None if
        the statistic rises up to the last number. The authors' own rule stops at 1 for clusters that are
        all equally far from each other.
        """
        pairs = list(zip(self.values, self.errors, strict=True))[1:]
        if not pairs:
            return None
        if self.values[0] >= max(value - 2 * error for value, error in pairs):
            return 1
        following = zip(self.numbers[1:], self.values[1:], self.values[2:], strict=False)
        return next((k for k, value, after in following if value > after), None)


def gap_statistic(X: Any, numbers: Sequence[int]) -> Gap:
    """Gap statistic [1]_ of K-means on the principal components of samples.

    The reference samples are uniform in the box of the components, which is its variant (b).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, ...)
        The samples; of more than 1,000, as many are drawn with a fixed seed.
    numbers : sequence of int
        Numbers of clusters; those that are not below that of different samples have no part.

    References
    ----------
    .. [1] Tibshirani, Walther and Hastie (2001). Estimating the number of clusters in a data set via the gap
       statistic. Journal of the Royal Statistical Society B.
    """
    rng = np.random.default_rng(0)
    drawn = X[rng.permutation(X.shape[0])[:N_SAMPLES]]
    vectors = (drawn.toarray() if issparse(drawn) else np.asarray(drawn)).reshape(drawn.shape[0], -1)
    vectors = vectors.astype(np.float64)
    distinct = len(np.unique(vectors, axis=0))
    gap = Gap([k for k in [1, *sorted(numbers)] if k < distinct], [], [])
    if len(gap.numbers) < 2:
        return gap
    components = PCA(VARIANCE, svd_solver="full").fit_transform(vectors)
    low, high = components.min(axis=0), components.max(axis=0)
    references = [rng.uniform(low, high, components.shape) for _ in range(N_REFERENCES)]
    for k in gap.numbers:
        expected = [_log_inertia(reference, k, 1) for reference in references]
        gap.values.append(float(np.mean(expected) - _log_inertia(components, k, N_INIT)))
        gap.errors.append(float(np.std(expected) * (1 + 1 / N_REFERENCES) ** 0.5))
    return gap


def _log_inertia(X: np.ndarray, k: int, n_init: int) -> float:
    return float(np.log(max(KMeans(k, n_init=n_init, random_state=0).fit(X).inertia_, TINY)))
