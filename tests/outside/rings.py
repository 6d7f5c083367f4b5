"""Two rings in the plane, one inside the other."""

from sklearn.datasets import make_circles


def load():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    return X, y
