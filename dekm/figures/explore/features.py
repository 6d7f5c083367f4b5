"""The features by which a sample differs most from the others: columns of a table, or terms of a text."""

import numpy as np

from dekm.results.data import PreparedData

N_FEATURES = 8
BLOCK = 1024  # samples at a time


def largest_features(data: PreparedData, chosen: np.ndarray) -> tuple[dict[str, np.ndarray], list[str]]:
    """The main features of the chosen samples, and the names of all features.

    Of texts, the terms with the largest weights; of tables, the columns that are farthest from their mean, in
    standard deviations. The arrays (m, `N_FEATURES`) are index, value and, of tables, deviation of each
    feature; there are none for data without names of features.
    """
    vectors = data.vectors()
    if vectors is None:
        return {}, []
    are_texts = not isinstance(vectors.X, np.ndarray)
    if not are_texts:
        mean = vectors.X.mean(0, dtype=np.float64)
        deviation = np.maximum(vectors.X.std(0, dtype=np.float64), 1e-12)
    parts = []
    for block in (chosen[i : i + BLOCK] for i in range(0, len(chosen), BLOCK)):
        X = vectors.X[block].toarray() if are_texts else vectors.X[block]
        found = {"value": X} if are_texts else {"value": X, "deviation": (X - mean) / deviation}
        sizes = X if are_texts else np.abs(found["deviation"])
        indices = np.argsort(-sizes, axis=1, kind="stable")[:, :N_FEATURES]
        taken = {name: np.take_along_axis(array, indices, 1) for name, array in found.items()}
        parts.append({"feature": indices} | {name: array.astype(np.float32) for name, array in taken.items()})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, vectors.names
