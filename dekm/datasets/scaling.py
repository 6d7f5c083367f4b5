"""The samples that a method sees of those that are prepared."""

import numpy as np

from dekm.datasets.subsets import Samples


def unit_scaled(X: Samples) -> Samples:
    """Grey values of bytes become float32 in [0, 1], all else stays."""
    return X.astype(np.float32) / np.float32(255) if X.dtype == np.uint8 else X
