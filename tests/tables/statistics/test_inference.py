import numpy as np
import pytest
from scipy import stats

from dekm.tables.statistics.inference import RESOLUTION, Difference, at_least, from_value, holm, paired, welch

INFINITY = float("inf")
A, B = np.array([95.1, 94.2, 96.3]), np.array([93.0, 93.4, 93.1])


def moments(values: np.ndarray) -> tuple[float, float, int]:
    return float(values.mean()), float(values.std(ddof=1)), len(values)


def test_the_paired_test_is_students() -> None:
    expected = stats.ttest_rel(A, B)
    assert paired(A, B).p_nonzero() == pytest.approx(expected.pvalue)
    assert paired(A, B).interval() == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert paired(A, B).p_inside(0, INFINITY) == pytest.approx(expected.pvalue)


def test_the_test_of_two_sets_is_welchs() -> None:
    expected = stats.ttest_ind(A, B, equal_var=False)
    found = welch(*moments(A), *moments(B))
    assert found.p_nonzero() == pytest.approx(expected.pvalue)
    assert found.df == pytest.approx(expected.df)
    many = welch(*(np.array([value, value]) for value in (*moments(A), *moments(B))))
    assert many.p_nonzero() == pytest.approx([expected.pvalue] * 2)


def test_equivalence_is_two_one_sided_tests() -> None:
    above = stats.ttest_1samp(A - B, -4, alternative="greater").pvalue
    below = stats.ttest_1samp(A - B, 4, alternative="less").pvalue
    assert paired(A, B).p_inside(-4, 4) == pytest.approx(max(above, below))


def test_a_difference_is_refuted_on_either_side_of_its_bounds() -> None:
    outside = 2 * stats.ttest_1samp(A - B, 1, alternative="greater").pvalue
    assert paired(A, B).p_outside(-1, 1) == pytest.approx(outside)
    assert paired(B, A).p_outside(-1, 1) == pytest.approx(outside)
    assert paired(A, B).p_outside(0, INFINITY) == 1


@pytest.mark.parametrize("untestable", [paired(A[:1], B[:1]), welch(90.0, np.nan, 1, 80.0, 1.0, 3)])
def test_one_run_decides_nothing(untestable: Difference) -> None:
    assert not untestable.is_testable
    assert untestable.p_nonzero() == untestable.p_inside(-100, 100) == untestable.p_outside(50, 60) == 1
    assert np.isnan(untestable.interval()).all()


def test_runs_without_spread_count_as_spread_by_the_last_digit_of_the_tables() -> None:
    same = np.full(3, 90.0)
    assert paired(same, same).error == pytest.approx(RESOLUTION / 3**0.5)
    assert paired(same, same).p_nonzero() == 1
    assert paired(same, same - 0.005).p_nonzero() > 0.3
    assert paired(same, same - 1).p_nonzero() < 0.001
    assert welch(90.0, 0.0, 3, 90.0, 0.0, 3).p_nonzero() == 1


def test_a_fixed_value_has_no_error() -> None:
    expected = stats.ttest_1samp(A, 90).pvalue
    assert from_value(*moments(A), 90.0).p_nonzero() == pytest.approx(expected)


def test_holm_multiplies_the_smallest_p_value_by_their_number() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]).tolist() == [1, 1]
    assert holm([]).size == 0


def test_a_claim_about_some_lies_between_simes_and_the_largest_p_value() -> None:
    p = [0.04, 0.01, 0.02]
    assert [at_least(n, p) for n in (1, 2, 3)] == pytest.approx([0.03, 0.04, 0.04])
    assert at_least(1, [0.01, 0.9, 0.9]) == pytest.approx(0.03)
    assert at_least(1, [1.0, 1.0]) == 1
