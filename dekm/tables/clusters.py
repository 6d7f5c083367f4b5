"""The clusters of a run: their sizes, classes, features, and most typical and most ambiguous samples."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from dekm.results.data import FeatureVectors, length_of_common_folder
from dekm.results.pictures import thumbnails
from dekm.results.record import Record
from dekm.results.result_set import ResultSet
from dekm.results.runs import Runs, mean_accuracy
from dekm.tables.rendering.grid import Cell, Grid, Sample

FIGURES = ("embedding",)
COMPARED = ("k_means", "dekm")  # side by side, where the configuration does not say what to show
PURITY = "Purity: the share of the most frequent true class among the labelled samples of a cluster."
N_SAMPLES = 5
N_FEATURES = 6
KINDS = {"Most typical": "typical", "Most ambiguous": "ambiguous"}
DESCRIBED = ("cluster", "n_samples", "main_class", "purity", "features", *KINDS.values())


def shown_runs(runs: Runs, dataset: str, methods: Sequence[str], show: Sequence[str] = ()) -> list[Record]:
    """The first seeds whose clusters are shown side by side.

    Those of the methods to `show`; by default of the best row, where there are true labels, and of K-means
    and DEKM. The last method that has been run, if none of these has.
    """
    found = {method: run for method in methods if (run := runs.cells.get((dataset, method)))}
    scores = mean_accuracy(found)
    best = [max(scores, key=lambda method: scores[method])] if scores else []
    wanted = [*show, *best, *COMPARED] if not set(show) & set(found) else show
    chosen = [method for method in dict.fromkeys(wanted) if method in found]
    return [found[method][0] for method in chosen or list(found)[-1:]]


def clusters(run: Record) -> pd.DataFrame:
    """Describe the clusters of a run: one row per cluster, the largest first, with the columns `DESCRIBED`.

    The main class is the most frequent one, and the purity its share in percent; the features are those whose
    means differ most from the means of all samples; lists are separated by semicolons.
    """
    rows, named = run.composition(), named_samples(run)
    members, vectors = run.clusters()["cluster"].to_numpy(), run.data.vectors()
    rows["features"] = [
        "" if vectors is None else _features(vectors, np.flatnonzero(members == cluster))
        for cluster in rows["cluster"]
    ]
    for kind in KINDS.values():
        joined = named[named["kind"] == kind].groupby("cluster")["name"].agg("; ".join)
        rows[kind] = rows["cluster"].map(joined).fillna("")
    return rows[list(DESCRIBED)].sort_values("n_samples", ascending=False, kind="stable")


def named_samples(run: Record) -> pd.DataFrame:
    """The first `N_SAMPLES` of the typical samples, and the row in the loaded data of each."""
    table, typical = run.clusters(), run.typical()
    names = table["sample"].str[length_of_common_folder(table["sample"].tolist()) :].to_numpy()
    samples = typical["sample"].to_numpy(int)
    named = typical.assign(name=names[samples], row=table["row"].to_numpy()[samples])
    return named[named["place"] <= N_SAMPLES]


def _features(vectors: FeatureVectors, members: np.ndarray) -> str:
    """The features in which a cluster stands out: terms, or columns with their difference in deviations."""
    mean = np.asarray(vectors.X.mean(axis=0)).ravel()
    excess = np.asarray(vectors.X[members].mean(axis=0)).ravel() - mean
    if not isinstance(vectors.X, np.ndarray):  # texts: the terms that are more frequent than elsewhere
        order = np.argsort(-excess, kind="stable")[:N_FEATURES]
        return "; ".join(vectors.names[i] for i in order if excess[i] > 0)
    deviations = excess / np.maximum(vectors.X.std(axis=0), 1e-12)
    order = np.argsort(-np.abs(deviations), kind="stable")[:N_FEATURES]
    return "; ".join(f"{vectors.names[i]} {deviations[i]:+.1f}" for i in order)


def figures_of_run(results: ResultSet, run: Record) -> list[Path]:
    """The figures of a run that were drawn."""
    folder = results.figures_of_run(run.facts["dataset"], run.subject)
    return [file for figure in FIGURES if (file := folder / f"{figure}.png").is_file()]


def clusters_grid(rows: pd.DataFrame, run: Record, page: str = "") -> Grid:
    """Table of the clusters of a run, as `clusters` returns them; columns without any value are left out.

    Samples that are images are shown, and lead to the `page` of the run, if there is one.
    """
    columns = {
        "Cluster": _cells(rows["cluster"].map(str)),
        "Samples": _cells(rows["n_samples"].map("{:,}".format)),
        "Main class": _cells(rows["main_class"]),
        "Purity (%)": _cells(rows["purity"].map(lambda value: "" if np.isnan(value) else f"{value:.1f}")),
        "Stands out by": _cells(rows["features"]),
    }
    samples = _samples(run, page)
    for header, kind in KINDS.items():
        columns[header] = [
            Cell(text, samples=samples.get((kind, cluster), ()))
            for cluster, text in zip(rows["cluster"], rows[kind], strict=True)
        ]
    filled = {name: cells for name, cells in columns.items() if any(cell.text for cell in cells)}
    caption = f"{PURITY} " if "Purity (%)" in filled else ""
    caption += (
        "The most typical samples are nearest to the center of their cluster; the most ambiguous ones are "
        "nearly as close to another center. "
    )
    if "Stands out by" in filled:
        caption += (
            "A cluster stands out by the terms that are more frequent in it, or by the columns whose means "
            "differ most from those of all samples, in standard deviations. "
        )
    caption += f"All samples are in runs/{run.facts['dataset']}/{run.subject}/{run.path.name}/clusters.csv."
    return Grid(
        f"clusters_{run.facts['dataset']}_{run.subject}",
        f"Clusters of {run.label} on {run.data_facts['label']}, seed {run.facts['seed']}",
        [("", name) for name in filled],
        list(zip(*filled.values(), strict=True)),
        caption,
        beside=f"Clusters on {run.data_facts['label']}",
    )


def _cells(texts: pd.Series) -> list[Cell]:
    return [Cell(text) for text in texts]


def _samples(run: Record, page: str) -> Mapping[tuple[str, int], list[Sample]]:
    """What a page shows of the `named_samples`, by kind and cluster."""
    named, images = named_samples(run), run.images()
    pictures = [""] * len(named) if images is None else thumbnails(images, named["sample"].to_numpy(int))
    shown: dict[tuple[str, int], list[Sample]] = {}
    for row, picture in zip(named.to_dict("records"), pictures, strict=True):
        address = f"{page}#{row['row']}" if page else ""
        shown.setdefault((row["kind"], row["cluster"]), []).append(Sample(row["name"], picture, address))
    return shown
