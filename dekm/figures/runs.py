"""One run: its curves, its confusion matrix and typical samples of its clusters."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dekm.figures.classes import align, shortened
from dekm.figures.curves import draw_curves
from dekm.figures.embedding import write_embedding
from dekm.figures.fig3_samples import show_image
from dekm.figures.sources import describe_run, read_history, single_input
from dekm.figures.style import (
    COLUMN,
    PAGE,
    new_figure,
    percent,
    save,
    save_data,
    style,
)
from dekm.results.folders import read_run
from dekm.results.pictures import to_image, value_range
from dekm.results.record import Record

logger = logging.getLogger(__name__)

MAX_WITH_COUNTS = 12  # classes or clusters up to which a confusion matrix shows its counts
LONGEST_ON_AXIS = 20  # characters of the name of a class
MAX_WITHOUT_ROTATION = 25  # clusters up to which their numbers stand upright


def draw_confusion(
    counts: np.ndarray, classes: Sequence[str], clusters: Sequence[int], purity: Sequence[float], title: str
) -> Figure:
    """Draw a confusion matrix, coloured by the fraction of each class, with the purity of each cluster (%).

    `counts` (n_classes, n_clusters) is in the order of `align`: ACC is the fraction of samples on its
    diagonal.
    """
    fractions = counts / counts.sum(1, keepdims=True)
    with style():
        side = float(np.clip(0.27 * counts.shape[1] + 1, COLUMN, PAGE))
        figure = new_figure(side, float(np.clip(0.27 * counts.shape[0] + 0.9, 2.4, PAGE)))
        axes = figure.subplots()
        image = axes.imshow(fractions, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set(xlabel="Cluster", ylabel="Class", title=title)
        axes.set_xticks(range(len(clusters)), map(str, clusters))
        axes.set_yticks(range(len(classes)), [shortened(name, LONGEST_ON_AXIS) for name in classes])
        top = axes.secondary_xaxis("top")
        top.set_xlabel("Purity (%)")
        for side_axis in (axes, top):
            side_axis.tick_params(axis="x", labelrotation=90 if len(clusters) > MAX_WITHOUT_ROTATION else 0)
        top.set_xticks(range(len(clusters)), ["" if np.isnan(value) else f"{value:.0f}" for value in purity])
        axes.spines[:].set_visible(True)
        if max(counts.shape) <= MAX_WITH_COUNTS:
            for (i, j), count in np.ndenumerate(counts):
                if count:
                    ink = "white" if fractions[i, j] > 0.55 else "black"
                    axes.text(j, i, f"{count}", ha="center", va="center", size=5.5, color=ink)
        figure.colorbar(image, ax=axes, label="Fraction of the class", fraction=0.05, pad=0.02)
    return figure


def draw_samples(images: np.ndarray, shown: pd.DataFrame, title: str) -> Figure:
    """One row per cluster of images (n, h, w, c): typical ones, a gap, and ambiguous ones."""
    clusters = shown["cluster"].unique()
    n_shown = int(shown["place"].max())
    starts = {"typical": 0.0, "ambiguous": n_shown + 0.4}  # widths of an image
    width, limits = 2 * n_shown + 0.4, value_range(images)
    with style():
        figure = new_figure(PAGE, 0.5 + PAGE / (width + 1.4) * len(clusters))
        axes = figure.subplots()  # one for all images, since Matplotlib is slow at hundreds
        for row, cluster in enumerate(clusters):
            for kind, start in starts.items():
                samples = shown.loc[(shown["cluster"] == cluster) & (shown["kind"] == kind), "sample"]
                for column, sample in enumerate(samples):
                    show_image(axes, to_image(images[sample], *limits), (start + column, row))
        axes.set(xlim=(0, width), ylim=(len(clusters), 0))
        names = [f"cluster {cluster}" for cluster in clusters]
        axes.set_yticks(np.arange(len(clusters)) + 0.5, names, size=8)
        axes.tick_params(length=0)
        for kind, text in (("typical", "Nearest to the center"), ("ambiguous", "Most ambiguous")):
            axes.text(starts[kind], -0.05, text, va="bottom")
        figure.suptitle(title, size=8)
    return figure


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``curves``, ``confusion`` (with true labels), ``embedding`` and ``samples`` of one run.

    Each is written as ``.pdf``, ``.png`` and ``.csv``; for samples other than images only ``samples.csv``,
    and for a method without iterations only ``curves.csv``. With true labels ``purity.csv`` has the size,
    main class and purity of each cluster. `InputError` if the folder is not a complete run.
    """
    run = read_run(single_input(inputs, "the folder of a run"))
    title = ", ".join(filter(None, (describe_run(run), percent(run.metrics))))
    history = read_history(run)
    save_data(history, folder, "curves")
    if len(history) > 1:
        save(draw_curves(history, title), folder, "curves")
    else:
        logger.info("no figure of curves: %s has a history of one row", run.name)
    _write_confusion(run, title, folder)
    write_embedding(run, title, folder)
    shown = run.typical()
    save_data(shown, folder, "samples")
    images = run.images()
    if images is not None:
        save(draw_samples(images, shown, title), folder, "samples")


def _write_confusion(run: Record, title: str, folder: Path) -> None:
    y, labels = run.true_labels(), run.labels()
    if y is None:
        return
    counts, classes, found = align(y, labels)
    clusters = list(found)
    composition = run.composition().set_index("cluster").loc[clusters].reset_index()
    save(
        draw_confusion(counts, classes, clusters, composition["purity"].tolist(), title), folder, "confusion"
    )
    frame = pd.DataFrame(counts, columns=[f"cluster_{cluster}" for cluster in clusters])
    frame.insert(0, "class", classes)
    save_data(frame, folder, "confusion")
    save_data(composition, folder, "purity")
