"""Chemical measurements of wines from three growers, scaled to mean 0 and standard deviation 1."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler


def load(path=None):
    X, y = load_wine(return_X_y=True)
    scaler = StandardScaler().fit(X)
    if path is not None:  # new wines, which `predict` asks for
        X, y = np.loadtxt(path, delimiter=",", skiprows=1), None
    return scaler.transform(X), y
