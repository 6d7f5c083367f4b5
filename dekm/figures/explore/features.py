"""The features by which a sample differs most from the others: columns of a table, or terms of a text."""

import numpy as np

from dekm.results.data import PreparedData

N_FEATURES = 8
BLOCK = 4096  # samples at a time


def largest_features(data: PreparedData, chosen: np.ndarray) -> tuple[dict[str, np.ndarray], list[str]]:
    """The main features of the chosen samples, and the names of all features.

    Of texts, the terms with the largest weights; of tables, the columns that are farthest from their mean, in
    standard deviations. The arrays (m, `N_FEATURES`) are index, value and, of tables, deviation of each
    feature; there are none for data without names of features.
    """
    vectors = data.vectors()
    if vectors is None:
        return {}, []
    count = min(N_FEATURES, len(vectors.names))
    if not isinstance(vectors.X, np.ndarray):
        weights = [largest(row.toarray()[0], count) for row in vectors.X[chosen]]
        indices, values = (np.stack(parts) for parts in zip(*weights, strict=True))
        return {"feature": indices, "value": values.astype(np.float32)}, vectors.names
    X, mean = vectors.X, vectors.X.mean(0, dtype=np.float64)
    deviation = np.maximum(X.std(0, dtype=np.float64), 1e-12)
    blocks = (chosen[i : i + BLOCK] for i in range(0, len(chosen), BLOCK))
    parts = [farthest(X[block], (X[block] - mean) / deviation, count) for block in blocks]
    indices, values, deviations = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return {"feature": indices, "value": values, "deviation": deviations}, vectors.names


def farthest(X: np.ndarray, deviations: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    """Indices, values and deviations of the columns with the largest deviations of each sample."""
    indices = np.argsort(-np.abs(deviations), axis=1, kind="stable")[:, :count]
    taken = (np.take_along_axis(array, indices, 1).astype(np.float32) for array in (X, deviations))
    return indices, *taken


def largest(values: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and values of the largest values, the first ones first."""
    indices = np.argsort(-values, kind="stable")[:count]
    return indices, values[indices]
