"""The clusters of one run: their sizes, classes, features, and most typical and most ambiguous samples."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from dekm.results.advice import mean_silhouettes
from dekm.results.data import FeatureVectors
from dekm.results.record import Record
from dekm.results.result_set import ResultSet
from dekm.results.runs import Runs
from dekm.tables.rendering.grid import Cell, Grid

PREFIX = "clusters_"  # of the names of the tables, before the dataset
FIGURES = ("embedding", "samples")
PURITY = "Purity: the share of the most frequent true class among the labelled samples of a cluster."
N_SAMPLES = 5
N_FEATURES = 6
DESCRIBED = ("cluster", "n_samples", "main_class", "purity", "features", "typical", "ambiguous")


def shown_run(runs: Runs, dataset: str, methods: Sequence[str]) -> Record | None:
    """The first seed of the method with the largest silhouette; else of the last method that has one."""
    ranked = [method for method, _ in mean_silhouettes(runs, dataset) if method in methods]
    found = (runs.cells.get((dataset, method)) for method in [*ranked, *reversed(methods)])
    return next((records[0] for records in found if records), None)


def clusters(run: Record) -> pd.DataFrame:
    """Describe the clusters of a run: one row per cluster, the largest first, with the columns `DESCRIBED`.

    The main class is the most frequent one, and the purity its share in percent; the features are those whose
    means differ most from the means of all samples; lists are separated by semicolons.
    """
    rows, typical, table = run.composition(), run.typical(), run.clusters()
    names = np.array(without_common_folder(table["sample"].tolist()), object)
    typical["name"] = names[typical["sample"].to_numpy(int)]
    members, vectors = table["cluster"].to_numpy(), run.data.vectors()
    rows["features"] = [
        "" if vectors is None else _features(vectors, np.flatnonzero(members == cluster))
        for cluster in rows["cluster"]
    ]
    for kind in ("typical", "ambiguous"):
        named = typical[(typical["kind"] == kind) & (typical["place"] <= N_SAMPLES)]
        rows[kind] = rows["cluster"].map(named.groupby("cluster")["name"].agg("; ".join)).fillna("")
    return rows[list(DESCRIBED)].sort_values("n_samples", ascending=False, kind="stable")


def without_common_folder(names: Sequence[str]) -> list[str]:
    """File names without the folder that all of them are in; names that are not files as they are."""
    folder = os.path.commonpath([Path(name).parent for name in names])
    return [os.path.relpath(name, folder) for name in names]


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


def clusters_grid(rows: pd.DataFrame, run: Record) -> Grid:
    """Table of the clusters of a run, as `clusters` returns them; columns without any value are left out."""
    columns = {
        "Cluster": rows["cluster"].map(str),
        "Samples": rows["n_samples"].map("{:,}".format),
        "Main class": rows["main_class"],
        "Purity (%)": rows["purity"].map(lambda value: "" if np.isnan(value) else f"{value:.1f}"),
        "Stands out by": rows["features"],
        "Most typical": rows["typical"],
        "Most ambiguous": rows["ambiguous"],
    }
    shown = {name: column for name, column in columns.items() if column.ne("").any()}
    lines = [[Cell(text) for text in row] for row in zip(*shown.values(), strict=True)]
    title = f"Clusters of {run.label} on {run.data_facts['label']}, seed {run.facts['seed']}"
    header = [("", name) for name in shown]
    caption = f"{PURITY} " if "Purity (%)" in shown else ""
    caption += (
        "The most typical samples are nearest to the center of their cluster; the most ambiguous ones are "
        "nearly as close to another center. A cluster stands out by the terms that are more frequent in it, "
        "or by the columns whose means differ most from those of all samples, in standard deviations. All "
        f"samples are in runs/{run.facts['dataset']}/{run.subject}/{run.path.name}/clusters.csv."
    )
    return Grid(f"{PREFIX}{run.facts['dataset']}", title, header, lines, caption)
