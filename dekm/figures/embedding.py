"""The embedding of one run in two dimensions, by clusters and by classes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from dekm.figures.classes import class_names, name_classes, scatter_classes
from dekm.figures.style import PAGE, new_figure, remove_ticks, save, save_data, style
from dekm.results.folders import Record

MAX_POINTS = 5000


def write_embedding(run: Record, title: str, folder: Path) -> None:
    """Write ``embedding.{pdf,png,csv}`` of a run: at most `MAX_POINTS` samples, drawn with a fixed seed."""
    H, labels, y = run.embedding(), run.labels(), run.true_labels()
    chosen = np.sort(np.random.default_rng(0).permutation(len(H))[:MAX_POINTS])
    points = principal_components(H[chosen])
    groups = {"cluster": labels[chosen]} | ({} if y is None else {"class": y[chosen]})
    save(draw_embedding(points, groups, title), folder, "embedding")
    frame = pd.DataFrame(points, columns=["x", "y"]).assign(sample=chosen, **groups)
    save_data(frame, folder, "embedding")


def principal_components(H: np.ndarray) -> np.ndarray:
    """The first two principal components of an embedding, (n, 2); of a one-dimensional one, and zeros."""
    centered = np.asarray(H, float) - H.mean(0)
    if centered.shape[1] == 1:
        return np.column_stack([centered, np.zeros(len(centered))])
    return PCA(2, svd_solver="covariance_eigh").fit_transform(centered)


def draw_embedding(points: np.ndarray, groups: Mapping[str, np.ndarray], title: str) -> Figure:
    """Draw the principal components of an embedding, one panel per grouping of the samples.

    Parameters
    ----------
    points : numpy.ndarray of shape (n, 2)
        Positions.
    groups : mapping of str to numpy.ndarray of shape (n,)
        The clusters and, with true labels, the classes of the samples.
    title : str
        Title of the figure.
    """
    size = float(np.clip(6000 / len(points), 0.5, 6))
    with style():
        figure = new_figure(PAGE, 3.4)
        for axes, (name, values) in zip(
            figure.subplots(1, len(groups), squeeze=False)[0], groups.items(), strict=True
        ):
            classes, names = class_names(values)
            scatter_classes(axes, points, classes, size)
            name_classes(axes, points, classes, names)
            axes.set_title(f"by {name}")
            axes.set(xlabel="1st principal component", ylabel="2nd principal component")
            remove_ticks(axes)
        figure.suptitle(title, size=8)
    return figure
