"""Digits: the small handwritten digits that scikit-learn includes."""

from pathlib import Path

import numpy as np

from dekm.datasets.dataset import Dataset


def digits(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load scikit-learn's digits; the grey levels 0 to 16 are scaled to [0, 1]: float32 (1797, 8, 8, 1)."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return (images / 16).reshape(-1, 8, 8, 1).astype(np.float32), labels.astype(np.int64)


DIGITS = Dataset(
    label="digits",
    kind="images",
    n_samples=1797,
    n_clusters=10,
    shape=(8, 8, 1),
    loader="dekm.datasets.paper.digits:digits",
    licence="CC BY 4.0 (UCI, Optical Recognition of Handwritten Digits)",
    class_counts=(178, 182, 177, 183, 181, 182, 181, 179, 174, 180),
)
