"""Points coloured and named by their classes."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from dekm.figures.style import colour, marker


def class_names(y: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Encode labels of any type as classes 0, 1, ...

    Parameters
    ----------
    y : numpy.ndarray of shape (n,)
        Labels.

    Returns
    -------
    classes : numpy.ndarray of shape (n,)
        Class of each sample.
    names : list of str
        Label of each class.
    """
    names, classes = np.unique(y, return_inverse=True)
    return classes, [str(name) for name in names]


def scatter_classes(axes: Axes, points: np.ndarray, classes: np.ndarray, size: float) -> None:
    """Draw points by class, in a fixed random order so that no class covers another.

    Parameters
    ----------
    axes : Axes
        Axes to draw in.
    points : numpy.ndarray of shape (n, 2)
        Positions.
    classes : numpy.ndarray of shape (n,)
        Classes 0, 1, ...
    size : float
        Area of a marker in square points.
    """
    order = np.random.default_rng(0).permutation(len(points))
    colours = np.array([colour(i) for i in range(classes.max() + 1)])
    for kind in dict.fromkeys(marker(i) for i in np.unique(classes)):
        chosen = order[[marker(i) == kind for i in classes[order]]]
        axes.scatter(
            points[chosen, 0],
            points[chosen, 1],
            s=size,
            c=colours[classes[chosen]],
            marker=kind,
            linewidths=0,
            rasterized=True,
        )


def name_classes(axes: Axes, points: np.ndarray, classes: np.ndarray, names: list[str]) -> None:
    """Write the name of each class near the median of its points without overlapping other names.

    Parameters
    ----------
    axes : Axes
        Axes to draw in.
    points : numpy.ndarray of shape (n, 2)
        Positions.
    classes : numpy.ndarray of shape (n,)
        Classes 0, 1, ...
    names : list of str
        Name of each class.
    """
    size = 8 if len(names) <= 12 else 6
    gap = 0.06 * np.ptp(points, axis=0).max()
    taken = np.empty((0, 2))
    for i, name in enumerate(names):
        chosen = points[classes == i]
        if len(chosen):
            x, y = free_position(chosen, taken, gap)
            taken = np.vstack([taken, (x, y)])
            text = axes.text(x, y, name, ha="center", va="center", weight="bold", size=size)
            text.set_path_effects([withStroke(linewidth=2, foreground="white")])


def free_position(points: np.ndarray, taken: np.ndarray, gap: float) -> np.ndarray:
    """Find a position for a name.

    Parameters
    ----------
    points : numpy.ndarray of shape (n, 2)
        Points of a class.
    taken : numpy.ndarray of shape (m, 2)
        Positions of other names.
    gap : float
        Minimum distance to the other names.

    Returns
    -------
    numpy.ndarray of shape (2,)
        The median of the points, or else the point nearest to it that keeps the distance; the median if no
        point keeps it.
    """
    median = np.median(points, axis=0)
    order = np.linalg.norm(points - median, axis=1).argsort()
    positions = np.vstack([median, points[order]])
    free = (np.linalg.norm(positions[:, np.newaxis] - taken, axis=2) >= gap).all(1)
    return positions[free.argmax()]
