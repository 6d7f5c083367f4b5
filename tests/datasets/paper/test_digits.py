import numpy as np

from dekm.datasets.paper.digits import digits


def test_digits_are_scaled_to_one(tmp_path):
    X, y = digits(tmp_path)
    assert (X.shape, X.dtype, y.dtype) == ((1797, 8, 8, 1), np.float32, np.int64)
    assert (X.min(), X.max()) == (0, 1)
