"""The clusters of one run: their sizes, classes, features, and most typical and most ambiguous samples."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dekm.files.tables import read_table
from dekm.metrics import purities
from dekm.results.advice import mean_silhouettes
from dekm.results.data import FeatureVectors
from dekm.results.folders import SeedFolder
from dekm.results.result_set import ResultSet
from dekm.tables.loading import first_seed
from dekm.tables.rendering.grid import Cell, Grid

PREFIX = "clusters_"  # of the names of the tables, before the dataset
FIGURES = ("embedding", "samples")
PURITY = "Purity: the share of the most frequent true class among the labelled samples of a cluster."
N_SAMPLES = 5
N_FEATURES = 6
COLUMNS = ("cluster", "n_samples", "main_class", "purity", "features", "typical", "ambiguous")


def shown_run(results: ResultSet, dataset: str, methods: Sequence[str]) -> SeedFolder | None:
    """The first seed of the method with the largest silhouette, if it has a table of clusters.

    Else that of the last method that has one; None for runs of earlier versions.
    """
    ranked = [method for method, _ in mean_silhouettes(results, dataset) if method in methods]
    for method in [*ranked, *reversed(methods)]:
        seed = first_seed(results.cell(dataset, method))
        if seed is not None and seed.file("clusters").is_file():
            return seed
    return None


def clusters(run: SeedFolder) -> pd.DataFrame:
    """Describe the clusters of a run.

    Parameters
    ----------
    run : SeedFolder
        Folder of a run with a table of clusters.

    Returns
    -------
    pandas.DataFrame
        One row per cluster, the largest first: `COLUMNS`. The main class is the most frequent one, and the
        purity its share in percent; the features are those whose means differ most from the means of all
        samples; lists are separated by semicolons.
    """
    table = read_table(run.checked("clusters"), ("sample", "class"), ("cluster", "distance", "margin"))
    table["sample"] = without_common_folder(table["sample"].tolist())
    vectors, rows = run.data.vectors(), []
    for cluster, members in table.groupby("cluster"):
        row: dict[str, Any] = {"cluster": int(str(cluster)), "n_samples": len(members)}
        row |= _main_class(members.dropna(subset="class"))
        row["features"] = "" if vectors is None else _features(vectors, members.index.to_numpy())
        for name, by in (("typical", "distance"), ("ambiguous", "margin")):
            row[name] = "; ".join(members.sort_values(by, kind="stable")["sample"].head(N_SAMPLES))
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS).sort_values("n_samples", ascending=False, kind="stable")


def without_common_folder(names: Sequence[str]) -> list[str]:
    """File names without the folder that all of them are in; names that are not files as they are."""
    folder = os.path.commonpath([Path(name).parent for name in names])
    return [os.path.relpath(name, folder) for name in names]


def _main_class(members: pd.DataFrame) -> dict[str, Any]:
    """The most frequent class of the labelled members of a cluster, and its share."""
    if members.empty:
        return {"main_class": "", "purity": np.nan}
    purity = purities(members["class"], members["cluster"]).item()
    return {"main_class": str(members["class"].mode()[0]), "purity": 100 * purity}


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


def figures_of_runs(
    results: ResultSet, datasets: Sequence[str], methods: Sequence[str]
) -> dict[str, list[Path]]:
    """The figures of the shown runs, by the names of their tables, where they were drawn."""
    found = {}
    for dataset in datasets:
        if (run := shown_run(results, dataset, methods)) is not None:
            folder = results.figures_of_run(dataset, run.subject)
            files = (folder / f"{figure}.png" for figure in FIGURES)
            found[f"{PREFIX}{dataset}"] = [file for file in files if file.is_file()]
    return found


def clusters_grid(rows: pd.DataFrame, run: SeedFolder) -> Grid:
    """Table of the clusters of a run.

    Parameters
    ----------
    rows : pandas.DataFrame
        Clusters as `clusters` returns them.
    run : SeedFolder
        Folder of the run.

    Returns
    -------
    Grid
        One row per cluster; columns without any value are left out.
    """
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
