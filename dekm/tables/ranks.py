"""Mean ranks over datasets, with Friedman's and Nemenyi's tests."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from dekm.tables.loading import is_subsample
from dekm.tables.rendering.grid import Cell, Grid
from dekm.tables.statistics.friedman import critical_difference, friedman, iman_davenport, is_separable
from dekm.tables.statistics.inference import LEVEL

COLUMNS = [
    "metric",
    "method",
    "method_label",
    "mean_rank",
    "n_datasets",
    "friedman_p",
    "iman_davenport_p",
    "critical_difference",
    "separable",
]


def mean_ranks(cells: pd.DataFrame) -> pd.DataFrame:
    """Mean rank of each method over the datasets, by ACC and by NMI, of cells as `averages` returns them.

    Subsamples are dropped first, then the methods without any result, then the datasets without results of
    all other methods. Unrounded means are ranked; ties share the average of their ranks.

    One row per metric and method, the best first: metric, method, method_label, mean_rank, n_datasets,
    friedman_p, iman_davenport_p, critical_difference (these are NaN for fewer than three methods or two
    datasets) and separable (as `is_separable` defines it).
    """
    labels = dict(zip(cells["method"], cells["method_label"], strict=True))
    whole = cells[~is_subsample(cells)]
    rows = []
    for metric in ("acc", "nmi"):
        wide = whole[whole["metric"] == metric].pivot(index="dataset", columns="method", values="mean")
        wide = wide.dropna(axis="columns", how="all").dropna().round(9)
        if wide.empty:
            continue
        ranks = wide.rank(axis="columns", ascending=False).mean().sort_values(kind="stable")
        tests = _tests(wide.to_numpy())
        rows += [
            (metric, method, labels[str(method)], value, len(wide), *tests) for method, value in ranks.items()
        ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _tests(values: np.ndarray) -> tuple[float, float, float, bool]:
    n_datasets, n_methods = values.shape
    difference = critical_difference(n_methods, n_datasets)
    p = iman_davenport(values)
    return friedman(values), p, difference, is_separable(p, difference, n_methods)


def ranks_grid(ranks: pd.DataFrame, outside: Collection[str] = ()) -> Grid:
    """Table of the mean ranks in the order of those by ACC; the caption names methods not of the paper."""
    by_key = {(row["metric"], row["method"]): row["mean_rank"] for _, row in ranks.iterrows()}
    labels = dict(zip(ranks["method"], ranks["method_label"], strict=True))
    metrics = ranks["metric"].unique()
    rows = [
        [
            Cell(label),
            *(
                Cell(f"{by_key[metric, method]:.2f}" if (metric, method) in by_key else "–")
                for metric in metrics
            ),
        ]
        for method, label in labels.items()
    ]
    columns = [("", "Method"), *(("Mean rank", metric.upper()) for metric in metrics)]
    caption = _caption(ranks)
    if named := [label for method, label in labels.items() if method in outside]:
        caption += f" Ranked too, though not in the paper's table: {', '.join(named)}."
    return Grid("ranks", "Mean rank over datasets", columns, rows, caption)


def _caption(ranks: pd.DataFrame) -> str:
    if ranks.empty:
        return "No dataset has results of all methods."
    first = ranks.iloc[0]
    caption = (
        f"1 is best. Mean over the {first['n_datasets']} whole datasets with results of all methods shown."
    )
    if pd.isna(first["critical_difference"]):
        return f"{caption} Too few datasets or methods to test the differences."
    p = ", ".join(
        f"{row['metric'].upper()} {row['iman_davenport_p']:.2g} (Friedman {row['friedman_p']:.2g})"
        for _, row in ranks.drop_duplicates("metric").iterrows()
    )
    difference, largest = first["critical_difference"], (ranks["metric"] == first["metric"]).sum() - 1
    text = f"{caption} p-values of equal mean ranks, by the test of Iman and Davenport: {p}."
    text += f" Critical difference of the Nemenyi test at level {LEVEL}: {difference:.2f} ranks"
    if ranks["separable"].any():
        return f"{text}."
    return f"{text} of at most {largest}: too few datasets to tell methods apart by their ranks."
