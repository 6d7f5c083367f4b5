"""Figure 3: sample images, one row per image dataset."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL.Image import Image

from dekm.errors import InputError
from dekm.figures.style import PAGE, new_figure, save, save_data, style
from dekm.results.data import PreparedData
from dekm.results.pictures import to_image, value_range

N_IMAGES = 12
MARGIN = 0.03  # of an image in its square


def choose_samples(n_samples: int, y: np.ndarray | None) -> np.ndarray:
    """Indices of at most `N_IMAGES` samples, drawn with a fixed seed, cycling through the classes."""
    order = np.random.default_rng(0).permutation(n_samples)
    if y is None:
        return order[:N_IMAGES]
    classes = pd.Series(np.unique(y, return_inverse=True)[1][order])
    return order[np.lexsort((classes, classes.groupby(classes).cumcount()))][:N_IMAGES]


def draw(rows: Mapping[str, Sequence[Image]]) -> Figure:
    """Draw one row of images per dataset, by its label."""
    n_columns = max(len(images) for images in rows.values())
    with style():
        figure = new_figure(PAGE, 0.1 + len(rows) * (PAGE - 0.8) / n_columns)
        grid = figure.subplots(len(rows), n_columns, squeeze=False)
        for line, (name, images) in zip(grid, rows.items(), strict=True):
            line[0].set_ylabel(name, rotation=0, ha="right", va="center")
            for axes, image in zip(line, images, strict=False):
                show_image(axes, image)
            for axes in line[len(images) :]:
                axes.set_visible(False)
    return figure


def show_image(axes: Axes, image: Image, place: tuple[float, float] | None = None) -> None:
    """Draw one image, and remove the ticks.

    `place` is the left and top end of a square of side 1 that it fills but for a margin; by default the axes.
    """
    extent = None if place is None else _extent(image, *place)
    axes.imshow(image, cmap="gray", vmin=0, vmax=255, interpolation="nearest", extent=extent)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _extent(image: Image, left: float, top: float) -> tuple[float, float, float, float]:
    """Ends of an image in the middle of a square of side 1: left, right, bottom, top."""
    width, height = (1 - 2 * MARGIN) * np.array(image.size) / max(image.size)
    x, y = left + 0.5, top + 0.5
    return x - width / 2, x + width / 2, y + height / 2, y - height / 2


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``fig3.{pdf,png}`` and the indices of the samples as ``fig3.csv``.

    The inputs are folders of prepared data, ``data/<dataset>``, top row first; datasets without images are
    skipped. `InputError` if no folder has images.
    """
    rows, chosen = {}, []
    for path in inputs:
        data = PreparedData(path)
        images, y = data.images(), data.labels()
        if images is None:
            continue
        index = choose_samples(len(images), y)
        limits = value_range(images)
        rows[data.facts["label"]] = [to_image(images[i], *limits) for i in index]
        classes = [""] * len(index) if y is None else y[index]
        chosen.append(pd.DataFrame({"dataset": path.name, "sample": index, "class": classes}))
    if not rows:
        raise InputError(f"{[str(path) for path in inputs]} should hold at least one folder of images.")
    save(draw(rows), folder, "fig3")
    save_data(pd.concat(chosen), folder, "fig3")
