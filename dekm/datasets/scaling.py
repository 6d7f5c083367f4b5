"""Scaling of prepared samples to the input range of the methods."""

from typing import Any

import numpy as np


def unit_scaled(X: Any) -> Any:
    """Scale uint8 pixels to [0, 1].

    Parameters
    ----------
    X : ndarray or csr_matrix
        Samples.

    Returns
    -------
    ndarray or csr_matrix
        uint8 samples divided by 255 as float32; samples of any other dtype unchanged.
    """
    return X.astype(np.float32) / np.float32(255) if X.dtype == np.uint8 else X
