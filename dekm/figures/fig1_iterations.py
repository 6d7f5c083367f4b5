"""Figure 1: representation learning and clustering by turns, in an embedding of two dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image
from scipy.optimize import linear_sum_assignment

from dekm.errors import InputError
from dekm.figures.sources import one
from dekm.figures.style import (
    COLUMN,
    INK,
    bare,
    class_names,
    colour,
    marker,
    new_figure,
    percent,
    save,
    save_data,
    scatter_classes,
    style,
    tint,
)
from dekm.files import open_arrays
from dekm.metrics import accuracy, contingency, nmi
from dekm.results.folders import SeedFolder, complete_run

SHOWN = (0, 1, 2, 20)
PIXELS = 300  # of a side of the background
FRAME_SIZE, FRAME_DPI = (3.6, 3.9), 110
MILLISECONDS = 350


@dataclass(frozen=True)
class Frame:
    """One saved iteration of a run with a two-dimensional embedding.

    Attributes
    ----------
    n_iter : number of updates of the representation
    H : (n, 2), embedding
    labels : (n,), row of `centers` of each point
    centers : (k, 2)
    V : (2, 2), rows are eigenvectors, the last has the largest eigenvalue; NaN where there are none
    """

    n_iter: int
    H: np.ndarray
    labels: np.ndarray
    centers: np.ndarray
    V: np.ndarray


def read_frames(run: SeedFolder) -> tuple[list[Frame], np.ndarray | None]:
    """The saved iterations of a run and the true labels, from its ``iterations.npz``."""
    file = run.file("iterations")
    if not file.is_file():
        raise InputError(
            f"{run.path} has no {file.name}: only runs with embedding_dim=2 save their iterations."
        )
    with open_arrays(file) as arrays:
        parts = (arrays[name] for name in ("n_iter", "H", "labels", "centers", "V"))
        frames = [Frame(int(n), *rest) for n, *rest in zip(*parts, strict=True)]
        return frames, arrays.get("y")


def nearest(frames: Sequence[Frame], wanted: Sequence[int] = SHOWN) -> list[Frame]:
    """The frames nearest to the wanted iterations, each once."""
    chosen = {min(frames, key=lambda frame: abs(frame.n_iter - n)).n_iter for n in wanted}
    return [frame for frame in frames if frame.n_iter in chosen]


def scores(frame: Frame, y: np.ndarray | None) -> dict[str, float]:
    """ACC and NMI of one frame; none without true labels."""
    return {} if y is None else {"acc": accuracy(y, frame.labels), "nmi": nmi(y, frame.labels)}


def line_ends(frame: Frame) -> np.ndarray:
    """Ends (2, 2) of the line along the last eigenvector: two standard deviations about the mean."""
    direction = frame.V[-1]
    mean = frame.H.mean(0)
    deviation = ((frame.H - mean) @ direction).std()
    return mean + np.outer((-2, 2), deviation * direction)


def draw(frames: Sequence[Frame], y: np.ndarray | None) -> Figure:
    """The paper's two columns of panels, titled "Iter t, (ACC, NMI)"."""
    n_rows = -(-len(frames) // 2)
    with style():
        figure = new_figure(COLUMN, 1.85 * n_rows + 0.3)
        panels = figure.subplots(n_rows, 2, squeeze=False).ravel()
        for axes, frame in zip(panels, frames, strict=False):
            _panel(axes, frame, y, _limits([frame]))
        for axes in panels[len(frames) :]:
            axes.set_visible(False)
        figure.legend(handles=_legend(y), loc="outside lower center", ncols=6, columnspacing=0.9)
    return figure


def animate(frames: Sequence[Frame], y: np.ndarray | None, file: Path) -> None:
    """Write a GIF of all frames on common axes; the last one stays."""
    limits, images = _limits(frames), []
    with style():
        for frame in frames:
            figure = new_figure(*FRAME_SIZE)
            figure.set_dpi(FRAME_DPI)
            _panel(figure.subplots(), frame, y, limits)
            figure.legend(handles=_legend(y), loc="outside lower center", ncols=6, columnspacing=0.9)
            figure.canvas.draw()
            pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]  # type: ignore[attr-defined]
            images.append(
                Image.fromarray(np.ascontiguousarray(pixels)).quantize(128, dither=Image.Dither.NONE)
            )
    durations = [MILLISECONDS] * (len(images) - 1) + [6 * MILLISECONDS]
    images[0].save(file, save_all=True, append_images=images[1:], duration=durations, loop=0)


def _panel(axes: Axes, frame: Frame, y: np.ndarray | None, limits: np.ndarray) -> None:
    classes, _ = class_names(frame.labels if y is None else y)
    (left, bottom), (right, top) = limits
    grid_x, grid_y = np.meshgrid(np.linspace(left, right, PIXELS), np.linspace(bottom, top, PIXELS))
    pixels = np.stack([grid_x.ravel(), grid_y.ravel()], axis=1)
    distances = ((pixels[:, None] - frame.centers) ** 2).sum(2)
    regions = distances.argmin(1).reshape(PIXELS, PIXELS)
    extent = (left, right, bottom, top)
    k = len(frame.centers)
    palette = ListedColormap([tint(i) for i in _class_of_cluster(classes, frame.labels, k)])
    axes.imshow(regions, extent=extent, origin="lower", cmap=palette, vmin=-0.5, vmax=k - 0.5, aspect="equal")
    for i in range(k):
        axes.contour(grid_x, grid_y, regions == i, levels=[0.5], colors="white", linewidths=0.8)
    scatter_classes(axes, frame.H, classes, size=float(np.clip(6000 / len(classes), 0.4, 6)))
    if np.isfinite(frame.V).all():
        axes.plot(*line_ends(frame).T, color=INK, linewidth=1.4)
    for size, ink, width in ((42, "white", 3), (34, "black", 1.4)):
        axes.scatter(frame.centers[:, 0], frame.centers[:, 1], marker="x", s=size, c=ink, linewidths=width)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_title(", ".join(filter(None, [f"Iter {frame.n_iter}", percent(scores(frame, y))])))
    bare(axes)


def _legend(y: np.ndarray | None) -> list[Line2D]:
    """What the marks of a panel mean."""
    names = [] if y is None else class_names(y)[1]
    points = [
        Line2D([], [], color=colour(i), marker=marker(i), linestyle="", markersize=4, label=name)
        for i, name in enumerate(names)
    ]
    centroid = Line2D([], [], color="black", marker="x", linestyle="", markersize=5, label="centroid")
    return [*points, centroid, Line2D([], [], color=INK, label="last eigenvector")]


def _class_of_cluster(classes: np.ndarray, labels: np.ndarray, k: int) -> list[int]:
    """The class whose colour a cluster's region takes; a cluster without one takes the next free."""
    counts = np.zeros((max(k, int(classes.max()) + 1), k), int)
    found = np.unique(labels)
    table = contingency(classes, labels)
    counts[np.ix_(np.unique(classes), found)] = table
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return rows[np.argsort(columns)].tolist()


def _limits(frames: Sequence[Frame]) -> np.ndarray:
    """Lower and upper corner (2, 2) of a square that holds all but stray points of the frames."""
    H = np.concatenate([frame.H for frame in frames])
    centers = np.concatenate([frame.centers for frame in frames])
    low, high = np.percentile(H, (0.2, 99.8), axis=0)
    lines = [line_ends(frame) for frame in frames if np.isfinite(frame.V).all()]
    corners = np.concatenate([low[None], high[None], centers, *lines])
    low, high = corners.min(0), corners.max(0)
    half = 0.55 * (high - low).max() + 1e-6
    middle = (low + high) / 2
    return np.stack([middle - half, middle + half])


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``fig1.{pdf,png}``, ``fig1.gif`` of all saved iterations, and the data.

    ``fig1.csv`` has one row per iteration (scores, ends of the line), ``fig1_points.csv`` the points of
    the panels.

    Parameters
    ----------
    inputs : the folder of one run with ``embedding_dim`` 2
    """
    run = complete_run(one(inputs, "the folder of a run"))
    frames, y = read_frames(run)
    chosen = nearest(frames)
    save(draw(chosen, y), folder, "fig1")
    animate(frames, y, folder / "fig1.gif")
    rows = [
        {"n_iter": frame.n_iter, "shown": frame in chosen}
        | scores(frame, y)
        | dict(zip(("x0", "y0", "x1", "y1"), line_ends(frame).ravel(), strict=True))
        for frame in frames
    ]
    save_data(pd.DataFrame(rows), folder, "fig1")
    points = [
        pd.DataFrame(frame.H, columns=["x", "y"]).assign(
            n_iter=frame.n_iter, cluster=frame.labels, **({} if y is None else {"class": y})
        )
        for frame in chosen
    ]
    save_data(pd.concat(points), folder, "fig1_points")
