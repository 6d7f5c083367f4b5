"""Measures of the partitions of a dataset that need no true labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dekm.metrics import mean_ari
from dekm.results.comparison import Comparison
from dekm.tables.loading import KEYS, LoadedResults
from dekm.tables.rendering.grid import Cell, Grid
from dekm.tables.scores import METRICS

# Upper and lower header and format of each measure; the comparison, metrics of a run, and the stability.
MEASURES = {
    "pooled": ("All embeddings", "Pooled silhouette", "+.2f"),
    "silhouette": ("Samples", *METRICS["silhouette"]),
    "davies_bouldin": ("Samples", *METRICS["davies_bouldin"]),
    "silhouette_embedding": ("Own embedding", *METRICS["silhouette"]),
    "davies_bouldin_embedding": ("Own embedding", *METRICS["davies_bouldin"]),
    "n_clusters_found": ("Clusters", "Found", ".3g"),
    "smallest": ("Clusters", "Smallest", ".0f"),
    "largest": ("Clusters", "Largest", ".0f"),
    "stability": ("Seeds", "Stability", ".3f"),
}
CAPTION = (
    "Measures that need no true labels, mean ± standard deviation over the seeds. The pooled silhouette "
    "compares the methods: the silhouette of a partition in each learned embedding of the dataset, "
    "standardized over all partitions there, as a mean over the embeddings; more is better, 0 is the mean of "
    "all partitions. The other silhouettes, in [-1, 1], more is better, and Davies-Bouldin indices, at least "
    "0, less is better, do not compare methods: in the samples, methods that cluster the samples themselves, "
    "such as K-means, have an advantage, and in the own embedding those that contract it most. Found: "
    "clusters that hold samples; smallest and largest: their sizes. Stability: mean adjusted Rand index of "
    "pairs of seeds; 1 means equal partitions."
)


def partitions(results: LoadedResults, compared: Mapping[str, Comparison]) -> pd.DataFrame:
    """Measures of every cell of the datasets that were compared; one row per cell with runs.

    Columns dataset, dataset_label, method, method_label, n_seeds, and for each of `MEASURES` its mean and,
    with the suffix ``_sd``, its standard deviation; NaN where it is not defined.
    """
    rows: list[dict[str, Any]] = []
    for _, cell in results.cells[KEYS].iterrows():
        runs = results.runs[
            (results.runs["dataset"] == cell["dataset"]) & (results.runs["method"] == cell["method"])
        ]
        if cell["dataset"] in compared and len(runs):
            records = results.records.cells[cell["dataset"], cell["method"]]
            pooled = compared[cell["dataset"]].scores.get(cell["method"], [])
            found = {"stability": mean_ari([record.labels() for record in records])}
            rows.append({**dict(cell), "n_seeds": len(runs), **_moments(runs, pooled), **found})
    columns = [*KEYS, "n_seeds", *(f"{name}{end}" for name in MEASURES for end in ("", "_sd"))]
    return pd.DataFrame(rows).reindex(columns=columns)


def _moments(runs: pd.DataFrame, pooled: Sequence[float]) -> dict[str, float]:
    scores = pd.Series(pooled, dtype=float)
    found: dict[str, float] = {"pooled": scores.mean(), "pooled_sd": scores.std()}
    for name in [name for name in MEASURES if name != "pooled"]:
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
    spread = "" if pd.isna(sd) else f"{sd:{number_format.removeprefix('+')}}"  # it has no sign
    return Cell(f"{row[name]:{number_format}}", sd=spread)
