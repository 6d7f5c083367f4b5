"""Figure 1: alternating representation learning and clustering in a two-dimensional embedding."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from dekm.figures.classes import align, class_handles, class_names, has_label, scatter_classes
from dekm.figures.fig1_frames import Frame, nearest_frames, read_frames, spread
from dekm.figures.fonts import use_installed_fonts
from dekm.figures.sources import describe_run, single_input
from dekm.figures.style import (
    COLUMN,
    INK,
    boxes_told_once,
    new_figure,
    percent,
    remove_ticks,
    save,
    save_data,
    style,
    tint,
)
from dekm.files.writing import write_bytes
from dekm.results.folders import read_run

PIXELS = 300  # resolution of the background, per side
FRAME_SIDE = 3.6  # inches
FRAME_DPI = 110
LEGEND_COLUMNS = 3
MILLISECONDS = 350  # duration of a frame
ARROW: dict[str, Any] = {
    "arrowstyle": "<->",
    "color": INK,
    "linewidth": 1.0,
    "mutation_scale": 6,
    "shrinkA": 0,
    "shrinkB": 0,
}


def draw(frames: Sequence[Frame], y: np.ndarray | None, title: str = "") -> Figure:
    """Draw the paper's two columns of panels, one for each frame, on common axes.

    Panels with the regions of the clusters, the points, and at each centroid the last eigenvector.
    """
    n_rows, limits = -(-len(frames) // 2), _limits(frames)
    with style():
        figure = new_figure(COLUMN, 2.05 * n_rows + 0.2 + _legend_height(y))
        panels = figure.subplots(n_rows, 2, squeeze=False).ravel()
        for axes, frame in zip(panels, frames, strict=False):
            _panel(axes, frame, y, limits)
        for axes in panels[len(frames) :]:
            axes.set_visible(False)
        figure.legend(handles=_legend(y), loc="outside lower center", ncols=LEGEND_COLUMNS, columnspacing=0.9)
        figure.suptitle(title, size=7)
    return figure


def animate(frames: Sequence[Frame], y: np.ndarray | None, file: Path) -> None:
    """Write a GIF of all frames on common axes; the last frame is shown longer."""
    limits, images = _limits(frames), []
    with style():
        for frame in frames:
            figure = new_figure(FRAME_SIDE, FRAME_SIDE + 0.4 + _legend_height(y))
            figure.set_dpi(FRAME_DPI)
            _panel(figure.subplots(), frame, y, limits)
            figure.legend(
                handles=_legend(y), loc="outside lower center", ncols=LEGEND_COLUMNS, columnspacing=0.9
            )
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
    groups = frame.labels if y is None else y
    classes, _ = class_names(groups)
    (left, bottom), (right, top) = limits
    grid_x, grid_y = np.meshgrid(np.linspace(left, right, PIXELS), np.linspace(bottom, top, PIXELS))
    pixels = np.stack([grid_x.ravel(), grid_y.ravel()], axis=1)
    distances = ((pixels[:, None] - frame.centers) ** 2).sum(2)
    regions = distances.argmin(1).reshape(PIXELS, PIXELS)
    extent = (left, right, bottom, top)
    k = len(frame.centers)
    class_of_cluster = np.array(_class_of_cluster(groups, frame.labels, k))
    palette = ListedColormap([tint(i) for i in class_of_cluster])
    axes.imshow(regions, extent=extent, origin="lower", cmap=palette, vmin=-0.5, vmax=k - 0.5, aspect="equal")
    for i in range(k):
        axes.contour(grid_x, grid_y, regions == i, levels=[0.5], colors="white", linewidths=0.8)
    size = float(np.clip(6000 / len(classes), 0.4, 6))
    misplaced = (class_of_cluster[frame.labels] != classes) & has_label(groups)
    scatter_classes(axes, frame.H[~misplaced], classes[~misplaced], size)
    scatter_classes(axes, frame.H[misplaced], classes[misplaced], 1.4 * size, edge=0.4)
    if np.isfinite(frame.V).all():
        for center in frame.centers:
            ends = {"xy": center + spread(frame), "xytext": center - spread(frame)}
            axes.annotate("", **ends, arrowprops=ARROW)
    x, y_ = frame.centers.T
    axes.scatter(x, y_, s=14, c="white", edgecolors=INK, linewidths=1.1, zorder=3)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_title("\n".join(filter(None, [f"Iteration {frame.n_iter}", percent(frame.scores)])))
    remove_ticks(axes)


def _legend(y: np.ndarray | None) -> list[Line2D]:
    """Legend of the classes, the centroids and the eigenvector."""
    points = class_handles([] if y is None else class_names(y)[1])
    hollow: dict[str, Any] = {"color": "white", "markeredgecolor": INK, "linestyle": ""}
    marks = [Line2D([], [], marker="o", markersize=4, label="centroid", **hollow)]
    if y is not None:
        marks.append(Line2D([], [], marker="h", markersize=4.5, label="in another cluster", **hollow))
    return [*points, *marks, Line2D([], [], color=INK, label="last eigenvector")]


def _legend_height(y: np.ndarray | None) -> float:
    """Height of the legend in inches."""
    return 0.17 * (1 + len(_legend(y)) // LEGEND_COLUMNS)


def _class_of_cluster(y: np.ndarray, labels: np.ndarray, k: int) -> list[int]:
    """Class whose colour the region of each cluster has; of an empty cluster a number after all others."""
    number = align(y, labels)[2]
    first = max(number.values()) + 1
    return [number.get(cluster, first + cluster) for cluster in range(k)]


def _limits(frames: Sequence[Frame]) -> np.ndarray:
    """Lower and upper corner (2, 2) of a square that contains the frames except for outliers."""
    H = np.concatenate([frame.H for frame in frames])
    centers = np.concatenate([frame.centers for frame in frames])
    low, high = np.percentile(H, (0.2, 99.8), axis=0)
    arrows = [
        frame.centers + sign * spread(frame)
        for frame in frames
        if np.isfinite(frame.V).all()
        for sign in (-1, 1)
    ]
    corners = np.concatenate([low[None], high[None], centers, *arrows])
    low, high = corners.min(0), corners.max(0)
    half = 0.55 * (high - low).max() + 1e-6
    middle = (low + high) / 2
    return np.stack([middle - half, middle + half])


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``fig1.{pdf,png}``, ``fig1.gif`` and the data of a run with ``embedding_dim=2``.

    ``fig1.csv`` has one row per iteration (scores, arrow of the last eigenvector); ``fig1_points.csv`` has
    the points of the panels. `InputError` if the input is not the folder of such a run.
    """
    run = read_run(single_input(inputs, "the folder of a run"))
    frames, y = read_frames(run)
    chosen = nearest_frames(frames)
    save(draw(chosen, y, describe_run(run)), folder, "fig1")
    animate(frames, y, folder / "fig1.gif")
    rows = [
        {"n_iter": frame.n_iter, "shown": frame in chosen}
        | frame.scores
        | dict(zip(("dx", "dy"), spread(frame), strict=True))
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
