"""The rows of METHODS as test parameters, and the comparison of two fitted methods."""

from typing import Any

import numpy as np
import pytest

import dekm
from dekm.methods import METHODS

ESTIMATORS = sorted(set(dekm.__all__) - {"Clusterer", "DeepClusterer", "Iteration"})

every_method = pytest.mark.parametrize("name", METHODS)
deep_method = pytest.mark.parametrize("name", [name for name, row in METHODS.items() if row.autoencoder])
every_kind = pytest.mark.parametrize("kind", ["blobs", "images"])


def results(estimator: Any) -> tuple[tuple[np.ndarray, ...], list[dict[str, float]]]:
    """The arrays that a fit learned, and its history without the seconds."""
    learned = (estimator.labels_, estimator.cluster_centers_, estimator.embedding_)
    history = [{key: row[key] for key in row if key != "seconds"} for row in estimator.history_]
    return learned, history


def assert_same(first: Any, second: Any) -> None:
    """Assert that two fits have bitwise equal results."""
    for a, b in zip(results(first)[0], results(second)[0], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_equal(results(first)[1], results(second)[1])
