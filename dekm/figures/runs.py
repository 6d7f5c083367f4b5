"""What one run learned: its curves, its confusions, and the samples that its clusters look like."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dekm.figures.fig3_samples import show_image
from dekm.figures.sources import align, one, read_history
from dekm.figures.style import COLUMN, PAGE, colour, count_along_x, new_figure, save, save_data, style
from dekm.results.folders import SeedFolder, complete_run

N_SHOWN = 8
CURVES = {"acc": "ACC", "nmi": "NMI", "ari": "ARI"}
CELLS_WITH_NUMBERS = 12  # classes up to which a confusion matrix shows its counts


def draw_curves(history: pd.DataFrame, title: str) -> Figure:
    """Loss and share of changed labels over the iterations, and the scores beside them."""
    with style():
        figure = new_figure(PAGE, 2.3)
        losses, changes, scores = figure.subplots(1, 3)
        x = history["n_iter"].to_numpy(float)
        marks = {"marker": "o", "markersize": 2.5} if len(x) < 40 else {}
        for axes, name, label in (
            (losses, "loss", "Loss (mean over the batches)"),
            (changes, "changed", "Labels changed (%)"),
        ):
            values = history[name].to_numpy(float) * (100 if name == "changed" else 1)
            axes.plot(x, values, color=colour(0), **marks)
            axes.set(ylabel=label, ylim=(0, None))
            if not np.isfinite(values).any():
                axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", color="gray")
                axes.set(ylim=(0, 1))
        for i, (name, label) in enumerate(CURVES.items()):
            if name in history:
                line = ("-", "--", ":")[i]
                values = 100 * history[name].to_numpy(float)
                scores.plot(x, values, color=colour((0, 2, 1)[i]), linestyle=line, label=label, **marks)
        if "acc" in history:
            scores.set(ylabel="Score (%)")
            scores.legend()
        else:
            scores.plot(x, history["inertia"].to_numpy(float), color=colour(0), **marks)
            scores.set(ylabel="Inertia")
        for axes in (losses, changes, scores):
            count_along_x(axes)
        figure.suptitle(title, size=8)
    return figure


def draw_confusion(counts: np.ndarray, classes: Sequence[str], clusters: Sequence[int], title: str) -> Figure:
    """Classes by clusters, each row in shares of its class; the diagonal is what ACC counts.

    Parameters
    ----------
    counts : (n_classes, n_clusters) in the order of `align`
    """
    shares = counts / counts.sum(1, keepdims=True)
    with style():
        side = float(np.clip(0.27 * counts.shape[1] + 1, COLUMN, PAGE))
        figure = new_figure(side, float(np.clip(0.27 * counts.shape[0] + 0.9, 2.4, PAGE)))
        axes = figure.subplots()
        image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.set(xlabel="Cluster", ylabel="Class", title=title)
        axes.set_xticks(range(len(clusters)), map(str, clusters))
        axes.set_yticks(range(len(classes)), classes)
        axes.spines[:].set_visible(True)
        if max(counts.shape) <= CELLS_WITH_NUMBERS:
            for (i, j), count in np.ndenumerate(counts):
                if count:
                    ink = "white" if shares[i, j] > 0.55 else "black"
                    axes.text(j, i, f"{count}", ha="center", va="center", size=5.5, color=ink)
        figure.colorbar(image, ax=axes, label="Share of the class", fraction=0.05, pad=0.02)
    return figure


def representatives(H: np.ndarray, labels: np.ndarray, n_shown: int = N_SHOWN) -> pd.DataFrame:
    """The samples nearest to each centroid, and those of each cluster nearly as near to another.

    Returns
    -------
    Columns cluster, kind ("nearest" or "ambiguous"), place, sample, distance, and ratio: distance to the
    own centroid over distance to the nearest other one
    """
    clusters = np.unique(labels)
    centers = np.stack([H[labels == cluster].mean(0) for cluster in clusters])
    distances = np.stack([np.linalg.norm(H - center, axis=1) for center in centers], axis=1)
    own = np.searchsorted(clusters, labels)
    at = np.arange(len(H))
    distance = distances[at, own]
    others = distances.copy()
    others[at, own] = np.inf
    ratio = distance / np.maximum(others.min(1), 1e-12)
    rows = []
    for cluster in clusters:
        members = np.flatnonzero(labels == cluster)
        for kind, key in (("nearest", distance[members]), ("ambiguous", -ratio[members])):
            chosen = members[np.argsort(key, kind="stable")][:n_shown]
            rows.append(
                pd.DataFrame(
                    {
                        "cluster": cluster,
                        "kind": kind,
                        "place": np.arange(1, len(chosen) + 1),
                        "sample": chosen,
                        "distance": distance[chosen],
                        "ratio": ratio[chosen],
                    }
                )
            )
    return pd.concat(rows)


def draw_samples(images: np.ndarray, shown: pd.DataFrame, title: str) -> Figure:
    """One row per cluster: its most typical images, and after a gap the most ambiguous ones."""
    clusters = shown["cluster"].unique()
    n_shown = int(shown["place"].max())
    with style():
        side = PAGE / (2 * n_shown + 1.6)
        figure = new_figure(PAGE, 0.6 + side * len(clusters))
        ratios = [1.0] * n_shown + [0.4] + [1.0] * n_shown
        grid = figure.subplots(len(clusters), 2 * n_shown + 1, squeeze=False, width_ratios=ratios)
        for axes in grid.ravel():
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
        for row, cluster in zip(grid, clusters, strict=True):
            row[0].set_ylabel(f"cluster {cluster}", rotation=0, ha="right", va="center")
            for offset, kind in ((0, "nearest"), (n_shown + 1, "ambiguous")):
                samples = shown.loc[(shown["cluster"] == cluster) & (shown["kind"] == kind), "sample"]
                for axes, sample in zip(row[offset:], samples, strict=False):
                    show_image(axes, images[sample])
        for column, text in ((0, "Nearest to the centroid"), (n_shown + 1, "Most ambiguous")):
            heading = grid[0][column].annotate(
                text, (0, 1), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points"
            )
            heading.set_in_layout(False)  # or its width would be that of the column
        figure.suptitle(f"{title}\n", size=8)
    return figure


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``curves``, ``confusion`` (with true labels) and ``samples`` of one run.

    Each as ``.pdf``, ``.png`` and ``.csv``; samples that are no images have the ``.csv`` only.

    Parameters
    ----------
    inputs : the folder of one run
    """
    run = complete_run(one(inputs, "the folder of a run"))
    title = f"{run.label} on {run.facts['dataset']}, seed {run.facts['seed']}"
    save(draw_curves(read_history(run), title), folder, "curves")
    save_data(read_history(run), folder, "curves")
    _write_confusion(run, title, folder)
    shown = representatives(run.embedding(), run.labels())
    save_data(shown, folder, "samples")
    images = run.data.images()
    if images is not None:
        save(draw_samples(images, shown, title), folder, "samples")


def _write_confusion(run: SeedFolder, title: str, folder: Path) -> None:
    y = run.data.labels()
    if y is None:
        return
    counts, classes, clusters = align(y, run.labels())
    save(draw_confusion(counts, classes, clusters, title), folder, "confusion")
    frame = pd.DataFrame(counts, columns=[f"cluster_{cluster}" for cluster in clusters])
    frame.insert(0, "class", classes)
    save_data(frame, folder, "confusion")
