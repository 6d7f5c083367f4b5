"""Figure 5: t-SNE maps of the same samples in the embeddings of several methods."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openTSNE
import pandas as pd
from matplotlib.figure import Figure

from dekm.errors import InputError
from dekm.figures.classes import are_short, class_legend, class_names, scatter_classes, write_class_names
from dekm.figures.sources import describe_data
from dekm.figures.style import COLUMN, new_figure, percent, remove_ticks, save, save_data, style
from dekm.results.folders import read_run
from dekm.results.record import Record

MAX_POINTS = 10_000
PERPLEXITY = 30
SEED = 0
TITLES = {"pca_k_means": "Raw data + PCA", "ae_k_means": "AE"}


@dataclass(frozen=True)
class Map:
    """The t-SNE map of one method, under the title of its panel."""

    title: str
    points: np.ndarray  # (n, 2)


def subset(n_samples: int, max_points: int = MAX_POINTS) -> np.ndarray:
    """Sorted indices of at most `max_points` samples, drawn with a fixed seed."""
    chosen = np.random.default_rng(SEED).permutation(n_samples)[:max_points]
    return np.sort(chosen)


def project(H: np.ndarray) -> np.ndarray:
    """The t-SNE map (n, 2) of an embedding (n, e), initialized with its principal components.

    Uses one thread, because the result depends on the number of threads, and the Barnes-Hut approximation,
    which is faster than the interpolation-based one up to `MAX_POINTS` points.
    """
    perplexity = min(PERPLEXITY, (len(H) - 1) / 3)
    tsne = openTSNE.TSNE(
        perplexity=perplexity,
        initialization="pca",
        negative_gradient_method="bh",
        random_state=SEED,
        n_jobs=1,
    )
    return np.asarray(tsne.fit(np.ascontiguousarray(H, float)))


def draw(panels: Sequence[Map], y: np.ndarray | None, title: str = "") -> Figure:
    """Draw at most eight maps in two columns, coloured by the true labels (n,), if there are any."""
    n_rows = -(-len(panels) // 2)
    size = float(np.clip(6000 / len(panels[0].points), 0.5, 5))
    with style():
        figure = new_figure(COLUMN, 2.1 * n_rows)
        grid = figure.subplots(n_rows, 2, squeeze=False).ravel()
        for i, (axes, panel) in enumerate(zip(grid, panels, strict=False)):
            classes, names = class_names(np.zeros(len(panel.points), int) if y is None else y)
            scatter_classes(axes, panel.points, classes, size)
            if y is not None and are_short(names):
                write_class_names(axes, panel.points, classes, names)
            axes.set_title(f"({'abcdefgh'[i]}) {panel.title}")
            remove_ticks(axes)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        if y is not None and not are_short(names):
            class_legend(figure, names)
        figure.suptitle(title, size=7)
    return figure


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``fig5.{pdf,png}`` and the maps as ``fig5.csv``.

    The inputs are folders of 1 to 8 complete runs on the same data, one per panel; others are an
    `InputError`. In the paper: PCA+K-means, AE+K-means, DEC and DEKM. The scores in the titles are of all
    samples, not of the drawn.
    """
    if not 1 <= len(inputs) <= 8:
        raise InputError(f"{len(inputs)} inputs should be 1 to 8: folders of runs.")
    runs = [read_run(path) for path in inputs]
    if len({run.facts["data"] for run in runs}) > 1:
        raise InputError("the runs should be on the same data: their digests differ.")
    embeddings = [run.embedding() for run in runs]
    chosen, y = subset(len(embeddings[0])), runs[0].true_labels()
    y = None if y is None else y[chosen]
    with ThreadPoolExecutor(min(len(embeddings), os.cpu_count() or 1)) as pool:
        maps = list(pool.map(project, [H[chosen] for H in embeddings]))
    panels = [Map(_title(run), points) for run, points in zip(runs, maps, strict=True)]
    save(draw(panels, y, figure_title(runs)), folder, "fig5")
    frames = [
        pd.DataFrame(panel.points, columns=["x", "y"]).assign(
            panel=run.facts["method"], sample=chosen, **({} if y is None else {"class": y})
        )
        for run, panel in zip(runs, panels, strict=True)
    ]
    save_data(pd.concat(frames), folder, "fig5")


def figure_title(runs: Sequence[Record]) -> str:
    """Data and seed, or the seeds of the panels from left to right if they differ."""
    seeds = [run.facts["seed"] for run in runs]
    shown = f"seed {seeds[0]}" if len(set(seeds)) == 1 else f"seeds {', '.join(map(str, seeds))}"
    return f"{describe_data(runs[0])}, {shown}"


def _title(run: Record) -> str:
    name = TITLES.get(run.facts["method"], run.label)
    return f"{name}\n{percent(run.metrics)}".rstrip()
