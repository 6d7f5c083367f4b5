"""Tests of the difference of two mean scores, and corrections for many tests.

Every statement on a difference is an interval that the difference lies in: above 0, between -2 and 2 points,
and so on. A statement is confirmed by Student's t test of its bounds, refuted by that of its complement, and
otherwise undecided. Numbers and arrays are both accepted. docs/statistics.md has the reasons and error rates.

References
----------
Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach for assessing
the equivalence of average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15.
Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6.
Benjamini and Heller (2008), "Screening for partial conjunction hypotheses", Biometrics 64.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit  # Student's t, without the overhead of scipy.stats

LEVEL = 0.05
MARGIN = 2.0  # percentage points: means that differ by less are similar
LARGE_MARGIN = 2 * MARGIN  # percentage points: what "a large margin" means
RESOLUTION = 0.01  # percentage points: a smaller standard deviation counts as the last digit of the tables


@dataclass(frozen=True)
class Difference:
    """Estimate of the difference of two expected values.

    Attributes
    ----------
    estimate : float or numpy.ndarray
        Difference of the means.
    error : float or numpy.ndarray
        Standard error of `estimate`.
    df : float or numpy.ndarray
        Degrees of freedom of `error`; 0 if there are too few runs to know it.
    """

    estimate: Any
    error: Any
    df: Any

    @property
    def is_testable(self) -> Any:
        """Whether there are enough runs for a test."""
        return np.asarray(self.df) > 0

    def p_above(self, bound: float) -> Any:
        """One-sided p-value of the alternative that the difference is above a bound; 1 if not testable."""
        p = stdtr(self.df, (bound - np.asarray(self.estimate)) / self.error)
        return np.where(self.is_testable, p, 1.0)

    def p_below(self, bound: float) -> Any:
        """One-sided p-value of the alternative that the difference is below a bound; 1 if not testable."""
        p = stdtr(self.df, (np.asarray(self.estimate) - bound) / self.error)
        return np.where(self.is_testable, p, 1.0)

    def p_inside(self, low: float, high: float) -> Any:
        """p-value of the alternative that the difference is between two bounds.

        With two finite bounds this is the pair of one-sided tests of Schuirmann (1987), otherwise a two-sided
        t test.
        """
        p = np.maximum(self.p_above(low), self.p_below(high))
        return p if np.isfinite([low, high]).all() else np.minimum(2 * p, 1)

    def p_outside(self, low: float, high: float) -> Any:
        """p-value of the alternative that the difference is not between two bounds; a two-sided test."""
        return np.minimum(2 * np.minimum(self.p_below(low), self.p_above(high)), 1)

    def p_nonzero(self) -> Any:
        """p-value of the two-sided t test of a difference of 0."""
        return self.p_outside(0.0, 0.0)

    def interval(self) -> tuple[Any, Any]:
        """Confidence interval of confidence 1 - `LEVEL`; NaN if not testable."""
        half = stdtrit(self.df, 1 - LEVEL / 2) * self.error
        return self.estimate - half, self.estimate + half


def from_value(mean: Any, sd: Any, n: Any, value: Any, n_value: Any = np.inf) -> Difference:
    """Difference of the expected value of independent runs from that of another mean.

    Parameters
    ----------
    mean, sd, n : float or array-like
        Mean, standard deviation and number of the runs; a standard deviation of NaN counts as 0.
    value : float or array-like
        The other mean, whose standard deviation is not known.
    n_value : float or array-like, default=inf
        Number of runs it is a mean of. They count as spread as ours, so the interval of the difference is a
        prediction interval of `value`; an infinite number makes it a fixed value.

    Returns
    -------
    Difference
        With n - 1 degrees of freedom.
    """
    n = np.asarray(n, float)
    error = _spread(sd, RESOLUTION) * np.sqrt(1 / np.maximum(n, 1) + 1 / np.asarray(n_value, float))
    return Difference(np.asarray(mean) - value, error, np.maximum(n - 1, 0))


def paired(a: np.ndarray, b: np.ndarray) -> Difference:
    """Difference of two methods whose runs are paired, as those of one seed are.

    Parameters
    ----------
    a, b : numpy.ndarray of shape (n,)
        Scores in percent, in the same order of the seeds.

    Returns
    -------
    Difference
        Mean of ``a - b``, with n - 1 degrees of freedom.
    """
    differences = a - b
    sd = differences.std(ddof=1) if len(a) > 1 else np.nan
    return from_value(differences.mean(), sd, len(a), 0.0)


def welch(
    mean_a: Any, sd_a: Any, n_a: Any, mean_b: Any, sd_b: Any, n_b: Any, resolution: Any = RESOLUTION
) -> Difference:
    """Difference of two independent samples of unequal variance.

    Parameters
    ----------
    mean_a, sd_a, n_a, mean_b, sd_b, n_b : float or array-like
        Mean, standard deviation and number of runs of each; a standard deviation of NaN counts as 0.
    resolution : float or array-like
        Smallest standard deviation.

    Returns
    -------
    Difference
        Mean of a minus mean of b, with the degrees of freedom of Welch and Satterthwaite; 0 if either sample
        has fewer than two runs.
    """
    n_a, n_b = np.maximum(n_a, 1).astype(float), np.maximum(n_b, 1).astype(float)
    a, b = (_spread(sd, resolution) ** 2 / n for sd, n in ((sd_a, n_a), (sd_b, n_b)))
    smallest = np.minimum(n_a, n_b)
    df = (a + b) ** 2 / (a**2 / np.maximum(n_a - 1, 1) + b**2 / np.maximum(n_b - 1, 1))
    return Difference(np.asarray(mean_a) - mean_b, np.sqrt(a + b), np.where(smallest > 1, df, 0.0))


def _spread(sd: Any, resolution: Any) -> Any:
    return np.maximum(np.nan_to_num(np.asarray(sd, float)), resolution)


def holm(p_values: Any) -> np.ndarray:
    """p-values adjusted for their number, Holm (1979).

    Parameters
    ----------
    p_values : array-like of shape (m,)
        p-values under any dependence.

    Returns
    -------
    numpy.ndarray of shape (m,)
        Adjusted p-values, at most 1: those at most `LEVEL` contain a false rejection with at most that
        probability.
    """
    p = np.asarray(p_values, float)
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1)


def at_least(n: int, p_values: Any) -> float:
    """p-value of the alternative that at least n of m alternatives are true, Benjamini and Heller (2008).

    Parameters
    ----------
    n : int
        From 1 (the test of Simes) to m (the largest p-value).
    p_values : array-like of shape (m,)
        p-values of the m alternatives, independent or positively dependent.

    Returns
    -------
    float
        p-value.
    """
    largest = np.sort(np.asarray(p_values, float))[n - 1 :]
    return float((len(largest) / np.arange(1, len(largest) + 1) * largest).min())
