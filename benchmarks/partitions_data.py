"""Tables with known classes that come with scikit-learn, as loaders of a configuration."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine


def wine() -> tuple[np.ndarray, np.ndarray]:
    """178 wines of three growers, 13 measurements."""
    return load_wine(return_X_y=True)


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """569 tumours of two kinds, 30 measurements."""
    return load_breast_cancer(return_X_y=True)
