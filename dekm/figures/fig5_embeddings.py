"""Figure 5: t-SNE of the embeddings of several methods, the same points in each."""

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
from dekm.figures.style import (
    COLUMN,
    bare,
    class_names,
    name_classes,
    new_figure,
    percent,
    save,
    save_data,
    scatter_classes,
    style,
)
from dekm.results.folders import SeedFolder, complete_run

MAX_POINTS = 10_000
PERPLEXITY = 30
SEED = 0
TITLES = {"pca_k_means": "Raw data + PCA", "ae_k_means": "AE"}


@dataclass(frozen=True)
class Panel:
    """One method: its title, and the points (n, 2) of its map."""

    title: str
    points: np.ndarray


def subset(n_samples: int, max_points: int = MAX_POINTS) -> np.ndarray:
    """Sorted indices of at most `max_points` samples, drawn with a fixed seed."""
    chosen = np.random.default_rng(SEED).permutation(n_samples)[:max_points]
    return np.sort(chosen)


def project(H: np.ndarray) -> np.ndarray:
    """The t-SNE map (n, 2) of an embedding (n, e), started from its principal components.

    On one thread, since the sums of several depend on their number; the Barnes-Hut approximation is the
    faster one up to `MAX_POINTS`.
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


def draw(panels: Sequence[Panel], y: np.ndarray | None) -> Figure:
    """Panels in two columns, coloured by the true labels (n,) if there are any."""
    n_rows = -(-len(panels) // 2)
    size = float(np.clip(6000 / len(panels[0].points), 0.5, 5))
    with style():
        figure = new_figure(COLUMN, 1.9 * n_rows)
        grid = figure.subplots(n_rows, 2, squeeze=False).ravel()
        for i, (axes, panel) in enumerate(zip(grid, panels, strict=False)):
            classes, names = class_names(np.zeros(len(panel.points), int) if y is None else y)
            scatter_classes(axes, panel.points, classes, size)
            if y is not None:
                name_classes(axes, panel.points, classes, names)
            axes.set_title(f"({'abcdefgh'[i]}) {panel.title}")
            bare(axes)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
    return figure


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``fig5.{pdf,png}`` and the maps as ``fig5.csv``.

    Parameters
    ----------
    inputs : folders of runs on one dataset, one per panel; in the paper PCA+K-means, AE+K-means, DEC and
        DEKM. The scores in the titles are those of all samples.
    """
    if not 1 <= len(inputs) <= 8:
        raise InputError(f"{len(inputs)} inputs should be 1 to 8: folders of runs.")
    runs = [complete_run(path) for path in inputs]
    if len({run.facts["data"] for run in runs}) > 1:
        raise InputError("the runs should be on the same data: their digests differ.")
    embeddings = [run.embedding() for run in runs]
    chosen, y = subset(len(embeddings[0])), runs[0].data.labels()
    y = None if y is None else y[chosen]
    with ThreadPoolExecutor(min(len(embeddings), os.cpu_count() or 1)) as pool:
        maps = list(pool.map(project, [H[chosen] for H in embeddings]))
    panels = [Panel(_title(run), points) for run, points in zip(runs, maps, strict=True)]
    save(draw(panels, y), folder, "fig5")
    frames = [
        pd.DataFrame(panel.points, columns=["x", "y"]).assign(
            panel=run.facts["method"], sample=chosen, **({} if y is None else {"class": y})
        )
        for run, panel in zip(runs, panels, strict=True)
    ]
    save_data(pd.concat(frames), folder, "fig5")


def _title(run: SeedFolder) -> str:
    name = TITLES.get(run.facts["method"], run.label)
    return f"{name} {percent(run.metrics)}".rstrip()
