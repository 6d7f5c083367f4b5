import numpy as np
import pytest
from scipy import sparse

from dekm.datasets.subsets import stratified_subsample
from dekm.errors import InputError


def test_a_subsample_is_stratified(loaded):
    X, y = loaded["digits"]
    kept, labels = stratified_subsample(X, y, 500)
    assert (len(kept), len(labels)) == (500, 500)
    np.testing.assert_allclose(np.bincount(labels), 500 * np.bincount(y) / len(y), atol=1)


def test_a_subsample_is_the_same_each_time_and_keeps_the_order():
    X, y = np.arange(100.0)[:, None], np.arange(100) % 4
    first, second = (stratified_subsample(X, y, 40) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    assert (np.diff(first[0][:, 0]) > 0).all()
    np.testing.assert_array_equal(first[0][:, 0] % 4, first[1])


def test_a_subsample_of_a_sparse_matrix_is_sparse(loaded):
    X, y = loaded["topics"]
    kept, labels = stratified_subsample(X, y, 200)
    assert sparse.issparse(kept)
    assert kept.shape == (200, 2000)
    assert len(labels) == 200


@pytest.mark.parametrize("size", [0, 3, 101, 99, -1])
def test_a_size_that_does_not_fit_is_named(size):
    with pytest.raises(InputError, match=f"subsample={size} "):
        stratified_subsample(np.zeros((100, 2)), np.arange(100) % 4, size)
