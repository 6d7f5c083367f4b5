import dataclasses

import numpy as np
import pytest

from dekm.datasets import DATASETS
from dekm.datasets.validation import check
from dekm.errors import InputError


def test_another_shape_than_that_of_table_2_is_named(loaded):
    X, y = loaded["digits"]
    with pytest.raises(
        InputError, match=r"digits: loaded shape \(1796, 8, 8, 1\) should be \(1797, 8, 8, 1\)"
    ):
        check(DATASETS["digits"], X[:-1], y[:-1])


def test_another_number_of_classes_is_named(loaded):
    X, y = loaded["digits"]
    with pytest.raises(InputError, match="digits: 9 classes should be 10"):
        check(DATASETS["digits"], X, np.where(y == 9, 8, y))


def test_other_class_counts_are_named(loaded):
    X, y = loaded["digits"]
    moved = y.copy()
    moved[np.flatnonzero(y == 0)[0]] = 1
    with pytest.raises(InputError, match=r"class counts \(177, 183, .*\) should be \(178, 182, "):
        check(DATASETS["digits"], X, moved)


def test_another_number_of_labels_than_samples_is_named(loaded):
    X, y = loaded["digits"]
    dataset = dataclasses.replace(DATASETS["digits"], class_counts=None)
    with pytest.raises(InputError, match="1796"):
        check(dataset, X, y[:-1])
