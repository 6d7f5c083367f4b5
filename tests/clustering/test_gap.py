import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_blobs

from dekm.clustering.gap import Gap, gap_statistic

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("k", [3, 5])
def test_it_stops_at_the_number_of_separate_groups(k):
    X, _ = make_blobs(200, 4, centers=k, cluster_std=0.7, random_state=k)
    assert gap_statistic(X, range(2, 8)).chosen == k
    assert gap_statistic(csr_matrix(X), range(2, 8)).chosen == k


@pytest.mark.parametrize("X", [RNG.uniform(size=(200, 2)), RNG.normal(size=(200, 10))])
def test_samples_without_clusters_are_one(X):
    assert gap_statistic(X, range(2, 6)).chosen == 1


def test_the_first_peak_above_one_cluster_is_chosen():
    assert Gap([1, 2, 3, 4], [0.1, 0.5, 0.4, 0.6], [0.0] * 4).chosen == 2
    assert Gap([1, 2, 3], [0.3, 0.2, 0.6], [0.0] * 3).chosen is None
    assert Gap([1, 2, 3, 4], [0.3, 0.2, 0.6, 0.5], [0.0] * 4).chosen == 3
    assert Gap([1, 2, 3], [0.3, 0.35, 0.2], [0.0, 0.03, 0.0]).chosen == 1
    assert Gap([1], [0.3], [0.0]).chosen is None


def test_groups_of_equal_distances_are_found():
    X = 8 * np.eye(5, 6)[np.arange(200) % 5] + RNG.normal(size=(200, 6))
    assert gap_statistic(X, range(2, 8)).chosen == 5


def test_numbers_that_are_not_below_that_of_the_samples_have_no_part():
    gap = gap_statistic(RNG.normal(size=(6, 2)), [2, 5, 6, 9])
    assert gap.numbers == [1, 2, 5]
    assert np.isfinite(gap.values).all()
    assert gap_statistic(np.repeat(np.eye(3), 4, axis=0), [2, 3, 4]).numbers == [1, 2]
    for few in (np.ones((9, 2, 2, 1)), np.ones((1, 2))):
        assert gap_statistic(few, [2, 3]).chosen is None
