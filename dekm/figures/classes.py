"""Points coloured and named by their classes."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from scipy.optimize import linear_sum_assignment

from dekm.figures.style import INK, colour, legend_label, marker
from dekm.markup import printable
from dekm.metrics import contingency

MAX_NAMES = 25
LONGEST_NAME = 12  # characters of a name on a map
LEGEND_NAME = 40  # of one in a legend


def has_label(names: np.ndarray) -> np.ndarray:
    """Which names (n,) of classes are labels; an empty text stands for none."""
    return names != "" if names.dtype.kind == "U" else np.ones(len(names), bool)


def class_numbers(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Classes 0, 1, ... of labels (n,) of any type, and the labels, sorted; no label is the last class."""
    names, classes = np.unique(y, return_inverse=True)
    if not has_label(names).all():
        names, classes = np.roll(names, -1), (classes - 1) % len(names)
    return classes, names


def class_names(y: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Classes 0, 1, ... of labels (n,) of any type, and what is written for each class."""
    classes, names = class_numbers(y)
    return classes, [printable(str(name)) or "no label" for name in names]


def align(y: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, list[str], dict[int, int]]:
    """Confusion matrix with the clusters in the order of the classes that the Hungarian algorithm assigns.

    Samples without a label are not counted.

    Returns
    -------
    int array of shape (n_classes, n_clusters)
        Numbers of samples; the clusters without a class come last.
    list of str
        The names of the classes.
    dict
        The class of each cluster, in the order of the columns; that of a cluster without one has a number
        after those of the classes.
    """
    names, clusters = np.unique(y), np.unique(labels).tolist()
    counts, names = contingency(y, labels)[has_label(names)], names[has_label(names)]
    rows, columns = linear_sum_assignment(counts, maximize=True)
    number = {j: i for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if counts[i, j]}
    left = [i for i in range(len(clusters)) if i not in number]
    number |= dict(zip(left, range(len(names), len(names) + len(left)), strict=True))
    order = sorted(number, key=lambda i: number[i])
    return counts[:, order], [printable(str(name)) for name in names], {clusters[i]: number[i] for i in order}


def scatter_classes(
    axes: Axes, points: np.ndarray, classes: np.ndarray, size: float, edge: float = 0.0
) -> None:
    """Draw points (n, 2) by class in one fixed random order, so that no class covers another.

    `size` is the area of a marker in square points, `edge` the width of its dark edge in points.
    """
    order = np.random.default_rng(0).permutation(len(points))
    x, y = points[order].T
    colours = [colour(i) for i in classes[order]]
    drawn = axes.scatter(x, y, s=size, c=colours, linewidths=edge, edgecolors=INK, rasterized=True)
    # One collection whose markers differ: one per marker would draw each marker over those before.
    paths = [_marker_path(marker(i)) for i in range(int(classes.max(initial=0)) + 1)]
    drawn.set_paths([paths[i] for i in classes[order]])


def _marker_path(name: str) -> Path:
    """Outline of a marker of size 1."""
    style = MarkerStyle(name)
    return style.get_path().transformed(style.get_transform())


def are_short(names: Sequence[str]) -> bool:
    """Whether names fit on a map; longer or more ones belong into a legend."""
    return len(names) <= MAX_NAMES and max(map(len, names)) <= LONGEST_NAME


def write_class_names(axes: Axes, points: np.ndarray, classes: np.ndarray, names: Sequence[str]) -> None:
    """Write the name of each class near the median of its points (n, 2) without overlapping other names."""
    size = 8 if len(names) <= 12 else 6
    box = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted())
    # Data units per point of the font, of which a letter is about 0.7 wide and a line 1.3 high.
    units = np.ptp(points, axis=0) / (72 * np.array([box.width, box.height]))
    taken, lengths = np.empty((0, 2)), np.empty(0)
    for i, name in enumerate(names):
        chosen = points[classes == i]
        if len(chosen):
            widths = 0.35 * (len(name) + lengths) + 0.5
            gaps = size * units * np.column_stack([widths, np.full(len(widths), 1.3)])
            x, y = free_position(chosen, taken, gaps)
            taken, lengths = np.vstack([taken, (x, y)]), np.append(lengths, len(name))
            text = axes.text(x, y, name, ha="center", va="center", weight="bold", size=size)
            text.set_path_effects([withStroke(linewidth=2, foreground="white")])


def class_legend(figure: Figure, names: Sequence[str]) -> None:
    """Write the names of classes below the panels, with the middle of long ones left out."""
    handles = class_handles([shortened(name) for name in names])
    columns = max(1, int(figure.get_figwidth() * 13 / (6 + max(len(str(h.get_label())) for h in handles))))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=6)


def class_handles(names: Sequence[str]) -> list[Line2D]:
    """The marks of classes in a legend."""
    return [
        Line2D(
            [], [], color=colour(i), marker=marker(i), linestyle="", markersize=4, label=legend_label(name)
        )
        for i, name in enumerate(names)
        if name
    ]


def shortened(name: str, length: int = LEGEND_NAME) -> str:
    """A name without the middle of a long one."""
    return name if len(name) <= length else f"{name[: length - length // 3]}…{name[1 - length // 3 :]}"


def free_position(points: np.ndarray, taken: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The median of the points (n, 2) of a class, or the point nearest to it that is free for a name.

    It is free if along one axis it keeps the smallest distances `gaps` (m, 2) to the positions `taken` (m, 2)
    of other names. The median also if no point is free.
    """
    median = np.median(points, axis=0)
    order = np.linalg.norm(points - median, axis=1).argsort()
    positions = np.vstack([median, points[order]])
    free = (np.abs(positions[:, np.newaxis] - taken) >= gaps).any(2).all(1)
    return positions[free.argmax()]
