"""Tests of mean ranks over datasets.

References
----------
Iman and Davenport (1980), "Approximations of the critical region of the Friedman statistic", Communications
in Statistics 9. Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7.
"""

import math

import numpy as np
from scipy import stats

from dekm.tables.statistics.inference import LEVEL


def _statistic(values: np.ndarray) -> float:
    """Friedman's statistic, corrected for ties; NaN where it does not exist."""
    n_datasets, n_methods = values.shape
    if n_datasets < 2 or n_methods < 3 or (values == values[:, :1]).all():
        return float("nan")
    return float(stats.friedmanchisquare(*values.T).statistic)


def friedman(values: np.ndarray) -> float:
    """Friedman test of the hypothesis that all methods have the same mean rank.

    Parameters
    ----------
    values : numpy.ndarray of shape (n_datasets, n_methods)
        Scores.

    Returns
    -------
    float
        p-value; NaN for fewer than three methods or two datasets, or if all methods are equal.
    """
    return float(stats.chi2.sf(_statistic(values), values.shape[1] - 1))


def iman_davenport(values: np.ndarray) -> float:
    """Friedman's test with the F statistic of Iman and Davenport, which is less conservative.

    Parameters
    ----------
    values : numpy.ndarray of shape (n_datasets, n_methods)
        Scores.

    Returns
    -------
    float
        p-value; NaN as for `friedman`. If all datasets rank the methods alike, F is infinite, and the
        probability of that among all rankings is returned.
    """
    n_datasets, n_methods = values.shape
    statistic = _statistic(values)
    rest = n_datasets * (n_methods - 1) - statistic
    if rest < 1e-9:
        return math.factorial(n_methods) ** -(n_datasets - 1)
    f = (n_datasets - 1) * statistic / rest
    return float(stats.f.sf(f, n_methods - 1, (n_methods - 1) * (n_datasets - 1)))


def critical_difference(n_methods: int, n_datasets: int) -> float:
    """Smallest significant difference of two mean ranks: Nemenyi test, Demšar (2006), Equation 6.

    Parameters
    ----------
    n_methods, n_datasets : int
        Numbers of ranked methods and of datasets.

    Returns
    -------
    float
        Difference at `LEVEL`; NaN for fewer than three methods or two datasets.
    """
    if n_datasets < 2 or n_methods < 3:
        return float("nan")
    q = stats.studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def is_separable(p: float, difference: float, n_methods: int) -> bool:
    """Whether the critical difference can tell methods apart.

    Parameters
    ----------
    p : float
        p-value of the test that all mean ranks are equal; the Nemenyi test presumes its rejection.
    difference : float
        Critical difference.
    n_methods : int
        Number of methods.

    Returns
    -------
    bool
        False also if the critical difference is more than half of the largest possible one, n_methods - 1:
        then it separates hardly more than the first from the last.
    """
    return bool(p <= LEVEL and difference <= (n_methods - 1) / 2)
