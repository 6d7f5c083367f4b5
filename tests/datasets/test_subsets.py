import numpy as np
import pytest

from dekm.datasets.subsets import rows_of_classes, stratified_rows
from dekm.errors import InputError


def test_a_subsample_is_stratified(loaded):
    y = loaded["digits"][1]
    kept = stratified_rows(len(y), y, 500)
    assert len(kept) == 500
    np.testing.assert_allclose(np.bincount(y[kept]), 500 * np.bincount(y) / len(y), atol=1)


@pytest.mark.parametrize("y", [np.arange(100) % 4, None])
def test_a_subsample_is_the_same_each_time_and_keeps_the_order(y):
    first, second = (stratified_rows(100, y, 40) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert len(first) == 40
    assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("size", [0, 3, 101, 99, -1])
def test_a_size_that_does_not_fit_is_named(size):
    with pytest.raises(InputError, match=f"subsample={size} "):
        stratified_rows(100, np.arange(100) % 4, size)


def test_the_rows_of_some_classes_are_all_samples_of_these_classes():
    y = np.array([1, 0, 2, 0, -1, 1, 2, -1])
    kept = rows_of_classes(y, 2)
    assert len(kept) == 4
    assert y[kept].min() >= 0
    assert set(kept) == set(np.flatnonzero(np.isin(y, y[kept])))


@pytest.mark.parametrize("n_unlabelled", [1, 2])
def test_a_few_samples_without_a_label_do_not_prevent_a_subsample(n_unlabelled):
    y = np.r_[np.full(n_unlabelled, -1), np.arange(100) % 4]
    kept = stratified_rows(len(y), y, 50)
    assert len(kept) == 50
    assert np.bincount(y[kept][y[kept] >= 0], minlength=4).tolist() == pytest.approx([12.5] * 4, abs=1.5)
