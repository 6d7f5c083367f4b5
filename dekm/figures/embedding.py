"""The embedding of one run in two dimensions, by clusters and by classes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from dekm.figures.classes import (
    align,
    are_short,
    class_legend,
    class_names,
    scatter_classes,
    write_class_names,
)
from dekm.figures.style import PAGE, new_figure, remove_ticks, save, save_data, style
from dekm.results.record import Record

MAX_POINTS = 5000
MAX_IN_LEGEND = 40

Groups = tuple[np.ndarray, list[str]]  # the group of each sample, from 0, and the name of each group


def write_embedding(run: Record, title: str, folder: Path) -> None:
    """Write ``embedding.{pdf,png,csv}`` of a run: at most `MAX_POINTS` samples, drawn with a fixed seed."""
    H, labels, y = run.embedding(), run.labels(), run.true_labels()
    chosen = np.sort(np.random.default_rng(0).permutation(len(H))[:MAX_POINTS])
    points = principal_components(H[chosen])
    panels = {"cluster": group_clusters(labels, y)} | ({} if y is None else {"class": class_names(y)})
    shown = {name: (groups[chosen], names) for name, (groups, names) in panels.items()}
    save(draw_embedding(points, shown, title), folder, "embedding")
    columns = {"cluster": labels[chosen]} | ({} if y is None else {"class": y[chosen]})
    frame = pd.DataFrame(points, columns=["x", "y"]).assign(sample=chosen, **columns)
    save_data(frame, folder, "embedding")


def group_clusters(labels: np.ndarray, y: np.ndarray | None) -> Groups:
    """Clusters as groups; with true labels by the numbers of their classes, so that both have one colour.

    The name of a number that no cluster has is empty.
    """
    if y is None:
        return class_names(labels)
    number = align(y, labels)[2]
    names = [""] * (max(number.values()) + 1)
    for cluster, i in number.items():
        names[i] = str(cluster)
    return np.array([number[label] for label in labels.tolist()]), names


def principal_components(H: np.ndarray) -> np.ndarray:
    """The first two principal components of an embedding, (n, 2); of a one-dimensional one, and zeros."""
    centered = np.asarray(H, float) - H.mean(0)
    if centered.shape[1] == 1:
        return np.column_stack([centered, np.zeros(len(centered))])
    with np.errstate(invalid="ignore"):  # of an embedding whose points are all equal
        return PCA(2, svd_solver="covariance_eigh").fit_transform(centered)


def draw_embedding(points: np.ndarray, panels: Mapping[str, Groups], title: str) -> Figure:
    """Draw the principal components (n, 2) of an embedding, one panel per grouping of the samples.

    A grouping, the clusters or the true classes, is the group of each sample (n,), numbered from 0, and the
    names.
    """
    size = float(np.clip(6000 / len(points), 0.5, 6))
    with style():
        figure = new_figure(PAGE, 3.4)
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (name, (groups, names)) in zip(grid, panels.items(), strict=True):
            scatter_classes(axes, points, groups, size)
            if are_short(names):
                write_class_names(axes, points, groups, names)
            elif len(names) <= MAX_IN_LEGEND:
                class_legend(figure, names)
            axes.set_title(f"by {name}")
            axes.set(xlabel="1st principal component", ylabel="2nd principal component")
            remove_ticks(axes)
        figure.suptitle(title, size=8)
    return figure
