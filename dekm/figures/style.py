"""One look for all figures, and files that are the same for the same data."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from dekm.files import write_text

COLUMN, PAGE = 3.5, 7.16  # inches: one column and the whole width of a page
DPI = 200
# Petroff (2021), "Accessible color sequences for data visualization", ten colours.
COLOURS = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#94a4a2",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#717581",
    "#92dadd",
)
MARKERS = ("o", "^", "s", "D", "v")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
INK = "#1b1f24"
RC: Any = {
    "axes.edgecolor": INK,
    "axes.grid": False,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 7.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": DPI,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "path.simplify": True,
    "pdf.fonttype": 42,
    "savefig.dpi": DPI,
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in this block with the common style, whatever the user's settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RC)
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that needs no display."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write ``<name>.pdf`` with embedded fonts and ``<name>.png``, both without time or version."""
    folder.mkdir(parents=True, exist_ok=True)
    with style():
        nothing = dict.fromkeys(("CreationDate", "Creator", "Producer"))
        figure.savefig(folder / f"{name}.pdf", metadata=nothing)
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})


def save_data(frame: pd.DataFrame, folder: Path, name: str) -> None:
    """Write the numbers behind a figure to ``<name>.csv``."""
    write_text(folder / f"{name}.csv", frame.to_csv(index=False, float_format="%.6g"))


def colour(i: int) -> str:
    """Colour of class or curve i."""
    return COLOURS[i % len(COLOURS)]


def marker(i: int) -> str:
    """Marker of class i; colour and marker together tell fifty classes apart."""
    return MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]


def tint(i: int, strength: float = 0.28) -> tuple[float, float, float]:
    """Colour i mixed with white, for areas behind points."""
    red, green, blue = (1 - strength + strength * part for part in to_rgb(colour(i)))
    return red, green, blue


def scatter_classes(axes: Axes, points: np.ndarray, classes: np.ndarray, size: float) -> None:
    """Points by class, drawn in a mixed but fixed order so that no class covers another."""
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
    """Write each class's name in the middle of its points, and not over another name."""
    size = 8 if len(names) <= 12 else 6
    gap = 0.06 * np.ptp(points, axis=0).max()
    taken = np.empty((0, 2))
    for i, name in enumerate(names):
        chosen = points[classes == i]
        if len(chosen):
            x, y = free_place(chosen, taken, gap)
            taken = np.vstack([taken, (x, y)])
            text = axes.text(x, y, name, ha="center", va="center", weight="bold", size=size)
            text.set_path_effects([withStroke(linewidth=2, foreground="white")])


def free_place(points: np.ndarray, taken: np.ndarray, gap: float) -> np.ndarray:
    """The median of the points, or the nearest of them that is `gap` away from what is taken, if one is."""
    median = np.median(points, axis=0)
    order = np.linalg.norm(points - median, axis=1).argsort()
    places = np.vstack([median, points[order]])
    free = (np.linalg.norm(places[:, np.newaxis] - taken, axis=2) >= gap).all(1)
    return places[free.argmax()]


def bare(axes: Axes) -> None:
    """Remove ticks, keep a frame."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)


def count_along_x(axes: Axes) -> None:
    """Label x, and tick it at whole iterations only."""
    axes.set_xlabel("Iteration")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7, min_n_ticks=1))


def class_names(y: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Classes 0, 1, ... of labels of any type, and their names."""
    names, classes = np.unique(y, return_inverse=True)
    return classes, [str(name) for name in names]


def percent(scores: dict[str, Any]) -> str:
    """ACC and NMI in percent as the paper's captions show them; empty without true labels."""
    if "acc" not in scores:
        return ""
    return f"({100 * scores['acc']:.1f}, {100 * scores['nmi']:.1f})"
