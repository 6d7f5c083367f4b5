"""Measures of the partitions of a dataset that need no true labels."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dekm.metrics import mean_ari
from dekm.tables.loading import KEYS, LoadedResults
from dekm.tables.rendering.grid import Cell, Grid

# Upper and lower header and format of each measure; the metrics of a run, and the stability over its seeds.
MEASURES = {
    "silhouette": ("Samples", "Silhouette", ".3f"),
    "davies_bouldin": ("Samples", "Davies-Bouldin", ".2f"),
    "silhouette_embedding": ("Own embedding", "Silhouette", ".3f"),
    "davies_bouldin_embedding": ("Own embedding", "Davies-Bouldin", ".2f"),
    "n_clusters_found": ("Clusters", "Found", ".3g"),
    "smallest": ("Clusters", "Smallest", ".0f"),
    "largest": ("Clusters", "Largest", ".0f"),
    "stability": ("Seeds", "Stability", ".3f"),
}
CAPTION = (
    "Measures that need no true labels, mean ± standard deviation over the seeds. The silhouette is in "
    "[-1, 1], more is better; the Davies-Bouldin index is at least 0, less is better; both on at most 2,000 "
    "samples. Those of the samples themselves compare methods, although methods that cluster the samples "
    "themselves, such as K-means, have an advantage. Those of the own embedding tell how clearly a method "
    "separates its clusters, and do not compare methods. Found: clusters that hold samples; smallest and"
    " largest: their sizes. Stability: mean adjusted Rand index of pairs of seeds; 1 means equal partitions."
)


def partitions(results: LoadedResults, datasets: Sequence[str]) -> pd.DataFrame:
    """Measures of every cell of some datasets; one row per cell with runs.

    Columns dataset, dataset_label, method, method_label, n_seeds, and for each of `MEASURES` its mean and,
    with the suffix ``_sd``, its standard deviation; NaN where it is not defined.
    """
    rows: list[dict[str, Any]] = []
    for _, cell in results.cells[KEYS].iterrows():
        runs = results.runs[
            (results.runs["dataset"] == cell["dataset"]) & (results.runs["method"] == cell["method"])
        ]
        if cell["dataset"] in datasets and len(runs):
            records = results.records.cells[cell["dataset"], cell["method"]]
            stability = mean_ari([record.labels() for record in records])
            rows.append({**dict(cell), "n_seeds": len(runs), **_moments(runs), "stability": stability})
    columns = [*KEYS, "n_seeds", *(f"{name}{end}" for name in MEASURES for end in ("", "_sd"))]
    return pd.DataFrame(rows).reindex(columns=columns)


def _moments(runs: pd.DataFrame) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in MEASURES:
        values = pd.to_numeric(runs[name]).dropna() if name in runs else pd.Series(dtype=float)
        found |= {name: values.mean(), f"{name}_sd": values.std()}
    return found


def partitions_grid(rows: pd.DataFrame) -> Grid:
    """Table of the measures, with a row per dataset and method."""
    header = [("", "Dataset"), ("", "Method"), *((upper, lower) for upper, lower, _ in MEASURES.values())]
    lines = [
        [Cell(row["dataset_label"]), Cell(row["method_label"]), *(_cell(row, name) for name in MEASURES)]
        for _, row in rows.iterrows()
    ]
    return Grid("partitions", "Partitions, measured without true labels", header, lines, CAPTION)


def _cell(row: pd.Series, name: str) -> Cell:
    number_format = MEASURES[name][2]
    if pd.isna(row[name]):
        return Cell("–")
    sd = row[f"{name}_sd"]
    return Cell(f"{row[name]:{number_format}}", sd="" if pd.isna(sd) else f"{sd:{number_format}}")
