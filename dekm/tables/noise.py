"""When two means over seeds differ, and when the seeds alone explain it."""

from typing import Any

import numpy as np


def standard_error(sd_a: Any, n_a: Any, sd_b: Any, n_b: Any) -> Any:
    """Standard error of the difference of two means; a standard deviation that is not known counts as 0.

    Takes numbers or arrays; the means are those of `n_a` and `n_b` independent runs.
    """
    variance_a = np.nan_to_num(np.asarray(sd_a, float)) ** 2 / np.maximum(n_a, 1)
    variance_b = np.nan_to_num(np.asarray(sd_b, float)) ** 2 / np.maximum(n_b, 1)
    return np.sqrt(variance_a + variance_b)


def within_noise(difference: Any, error: Any) -> Any:
    """Whether a difference is smaller than its standard error, or none at all but for rounding."""
    return np.abs(difference) <= np.maximum(error, 1e-9)
