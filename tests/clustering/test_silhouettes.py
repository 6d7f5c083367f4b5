import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from dekm.clustering.silhouettes import pooled_silhouettes, silhouettes

RNG = np.random.default_rng(0)
H = RNG.normal(size=(60, 3)).astype(np.float32)


def test_they_are_those_of_scikit_learn():
    partitions = [RNG.integers(k, size=60) for k in (2, 5, 20)] + [np.arange(60) // 2 - 1]
    partitions.append(np.r_[0, np.ones(59, int)])  # a cluster of one sample
    expected = [silhouette_score(H, labels) for labels in partitions]
    np.testing.assert_allclose(silhouettes(H, partitions), expected, rtol=1e-5)


def test_one_cluster_has_none():
    assert np.isnan(silhouettes(H, [np.zeros(60)])).all()


def test_equal_samples_have_zero():
    assert silhouettes(np.ones((6, 2)), [np.arange(6) % 2, np.arange(6)]) == pytest.approx([0, 0])


def test_each_space_counts_the_same_whatever_its_contrast():
    a, b, c = np.arange(60) % 2, np.arange(60) // 30, RNG.integers(2, size=60)
    weak, strong = H + 2 * a[:, None], H + 50 * b[:, None]
    S = np.array([silhouettes(X, [a, b, c]) for X in (weak, strong)])
    expected = ((S.T - S.mean(1)) / S.std(1)).mean(1)
    found = pooled_silhouettes([weak, strong], [a, b, c])
    np.testing.assert_allclose(found, expected)
    assert found[2] == found.min()
    assert found.sum() == pytest.approx(0)


def test_a_space_of_equal_rows_and_differences_below_a_hundredth_count_for_little():
    a, b = np.arange(60) % 2, RNG.integers(2, size=60)
    separate = H + 9 * a[:, None]
    np.testing.assert_array_equal(pooled_silhouettes([np.ones((60, 2)), separate], [a, b]), [0.5, -0.5])
    nearly = a.copy()
    nearly[0] = 1
    wide = np.concatenate([H + 0.5 * i for i in range(60)])  # of 3,600 samples one is in another cluster
    labels = [np.concatenate([part, *[a] * 59]) for part in (a, nearly)]
    assert abs(pooled_silhouettes([wide], labels)).max() < 0.1


def test_equal_partitions_or_spaces_have_no_score():
    a = np.arange(60) % 2
    assert np.isnan(pooled_silhouettes([H], [a, 1 - a])).all()
    assert np.isnan(pooled_silhouettes([np.ones((60, 2))], [a, a])).all()
    assert np.isnan(pooled_silhouettes([], [a])).all()
