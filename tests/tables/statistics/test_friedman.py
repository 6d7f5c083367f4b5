import math

import numpy as np
import pytest
from scipy import stats

from dekm.tables.statistics.friedman import critical_difference, friedman, iman_davenport, is_separable


def test_the_critical_difference_agrees_with_demsar() -> None:
    # Demšar (2006), Table 5: q = 2.343 for three classifiers
    assert critical_difference(3, 10) == pytest.approx(2.343 * (12 / 60) ** 0.5, abs=1e-3)
    assert critical_difference(10, 6) == pytest.approx(5.53, abs=0.01)
    assert math.isnan(critical_difference(2, 10))


def test_the_tests_agree_with_demsars_example() -> None:
    # Demšar (2006), Section 3.2.2: F from chi^2, of 4 classifiers and 14 datasets
    values = np.random.default_rng(0).normal(size=(14, 4)) + np.arange(4) / 2
    chi2 = stats.friedmanchisquare(*values.T)
    assert friedman(values) == pytest.approx(chi2.pvalue)
    f = 13 * chi2.statistic / (14 * 3 - chi2.statistic)
    assert iman_davenport(values) == pytest.approx(stats.f.sf(f, 3, 39))


def test_rankings_that_agree_have_the_probability_of_that() -> None:
    assert iman_davenport(np.array([[1.0, 2, 3]] * 2)) == pytest.approx(1 / 6)
    assert iman_davenport(np.array([[1.0, 2, 3]] * 4)) == pytest.approx(1 / 6**3)


@pytest.mark.parametrize("values", [np.ones((4, 3)), np.ones((1, 5)), np.arange(8.0).reshape(4, 2)])
def test_rankings_that_cannot_be_tested_have_no_p_value(values: np.ndarray) -> None:
    assert math.isnan(friedman(values))
    assert math.isnan(iman_davenport(values))


@pytest.mark.parametrize(
    ("p", "n_methods", "n_datasets", "expected"),
    [(0.001, 10, 6, False), (0.001, 10, 12, True), (0.2, 10, 12, False), (float("nan"), 3, 1, False)],
)
def test_methods_are_separable_by_a_critical_difference_below_half_of_the_ranks(
    p: float, n_methods: int, n_datasets: int, expected: bool
) -> None:
    assert is_separable(p, critical_difference(n_methods, n_datasets), n_methods) is expected
