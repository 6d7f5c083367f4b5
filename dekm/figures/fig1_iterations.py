"""Figure 1: alternating representation learning and clustering in a two-dimensional embedding."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image
from scipy.optimize import linear_sum_assignment

from dekm.figures.classes import class_names, scatter_classes
from dekm.figures.fig1_frames import Frame, frame_scores, line_ends, nearest_frames, read_frames
from dekm.figures.fonts import use_installed_fonts
from dekm.figures.sources import single_input
from dekm.figures.style import (
    COLUMN,
    INK,
    boxes_told_once,
    colour,
    legend_label,
    marker,
    new_figure,
    percent,
    remove_ticks,
    save,
    save_data,
    style,
    tint,
)
from dekm.files.writing import write_bytes
from dekm.metrics import contingency
from dekm.results.folders import read_record

PIXELS = 300  # resolution of the background, per side
FRAME_SIZE = (3.6, 3.9)  # inches
FRAME_DPI = 110
MILLISECONDS = 350  # duration of a frame


def draw(frames: Sequence[Frame], y: np.ndarray | None) -> Figure:
    """Draw the paper's two columns of panels, titled "Iter t, (ACC, NMI)".

    Panels with the regions of the clusters, the points, the centroids and the last eigenvector.

    Parameters
    ----------
    frames : sequence of Frame
        One frame per panel.
    y : numpy.ndarray of shape (n,) or None
        True labels.
    """
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
    """Write a GIF of all frames on common axes; the last frame is shown longer.

    Parameters
    ----------
    frames : sequence of Frame
        Frames in the order of the animation.
    y : numpy.ndarray of shape (n,) or None
        True labels.
    file : Path
        GIF file to write.
    """
    limits, images = _limits(frames), []
    with style():
        for frame in frames:
            figure = new_figure(*FRAME_SIZE)
            figure.set_dpi(FRAME_DPI)
            _panel(figure.subplots(), frame, y, limits)
            figure.legend(handles=_legend(y), loc="outside lower center", ncols=6, columnspacing=0.9)
            use_installed_fonts(figure)
            with boxes_told_once():
                figure.canvas.draw()
            pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]  # type: ignore[attr-defined]
            images.append(
                Image.fromarray(np.ascontiguousarray(pixels)).quantize(128, dither=Image.Dither.NONE)
            )
    durations = [MILLISECONDS] * (len(images) - 1) + [6 * MILLISECONDS]
    content = io.BytesIO()
    images[0].save(content, "GIF", save_all=True, append_images=images[1:], duration=durations, loop=0)
    write_bytes(file, content.getvalue())


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
    # Below the points: in late iterations a cluster is smaller than its cross.
    for size, ink, width in ((90, "white", 3), (80, "black", 1.2)):
        x, y_ = frame.centers.T
        axes.scatter(x, y_, marker="x", s=size, c=ink, linewidths=width, zorder=0.9)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_title(", ".join(filter(None, [f"Iter {frame.n_iter}", percent(frame_scores(frame, y))])))
    remove_ticks(axes)


def _legend(y: np.ndarray | None) -> list[Line2D]:
    """Legend of the classes, the centroids and the eigenvector."""
    names = [] if y is None else class_names(y)[1]
    points = [
        Line2D(
            [], [], color=colour(i), marker=marker(i), linestyle="", markersize=4, label=legend_label(name)
        )
        for i, name in enumerate(names)
    ]
    centroid = Line2D([], [], color="black", marker="x", linestyle="", markersize=5, label="centroid")
    return [*points, centroid, Line2D([], [], color=INK, label="last eigenvector")]


def _class_of_cluster(classes: np.ndarray, labels: np.ndarray, k: int) -> list[int]:
    """Class whose colour the region of each cluster has, by the Hungarian algorithm."""
    counts = np.zeros((max(k, int(classes.max()) + 1), k), int)
    found = np.unique(labels)
    table = contingency(classes, labels)
    counts[np.ix_(np.unique(classes), found)] = table
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return rows[np.argsort(columns)].tolist()


def _limits(frames: Sequence[Frame]) -> np.ndarray:
    """Lower and upper corner (2, 2) of a square that contains the frames except for outliers."""
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

    ``fig1.csv`` has one row per iteration (scores, ends of the line); ``fig1_points.csv`` has the points of
    the panels.

    Parameters
    ----------
    inputs : sequence of Path
        Folder of one run with ``embedding_dim=2``.
    folder : Path
        Folder of the files to write.

    Raises
    ------
    InputError
        If the folder is not such a run.
    """
    run = read_record(single_input(inputs, "the folder of a run"))
    frames, y = read_frames(run)
    chosen = nearest_frames(frames)
    save(draw(chosen, y), folder, "fig1")
    animate(frames, y, folder / "fig1.gif")
    rows = [
        {"n_iter": frame.n_iter, "shown": frame in chosen}
        | frame_scores(frame, y)
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
