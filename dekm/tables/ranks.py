"""Mean ranks over datasets, with the test of Friedman and the critical difference of Nemenyi."""

import numpy as np
import pandas as pd
from scipy import stats

from dekm.tables.grid import Cell, Grid

SIGNIFICANCE = 0.05


def mean_ranks(cells: pd.DataFrame) -> pd.DataFrame:
    """One row per metric and method, the best mean rank first.

    A method without any number is left out, then every dataset that lacks a number of the others. Ranks
    are those of unrounded means; equal ones share their mean rank.

    Returns
    -------
    Columns metric, method, method_label, mean_rank, n_datasets, friedman_p and critical_difference
    (Demšar 2006, Equation 6 with alpha = 0.05); the last two are NaN for fewer than three methods or two
    datasets.
    """
    labels = dict(zip(cells["method"], cells["method_label"], strict=True))
    rows = []
    for metric in ("acc", "nmi"):
        wide = cells[cells["metric"] == metric].pivot(index="dataset", columns="method", values="mean")
        wide = wide.dropna(axis="columns", how="all").dropna()
        if wide.empty:
            continue
        ranks = wide.round(9).rank(axis="columns", ascending=False).mean().sort_values(kind="stable")
        p, difference = friedman(wide.to_numpy()), critical_difference(wide.shape[1], len(wide))
        rows += [
            {
                "metric": metric,
                "method": method,
                "method_label": labels[method],
                "mean_rank": value,
                "n_datasets": len(wide),
                "friedman_p": p,
                "critical_difference": difference,
            }
            for method, value in ranks.items()
        ]
    columns = "metric method method_label mean_rank n_datasets friedman_p critical_difference"
    return pd.DataFrame(rows, columns=columns.split())


def friedman(values: np.ndarray) -> float:
    """p-value of the hypothesis that all columns rank alike; NaN where it cannot be tested."""
    n_datasets, n_methods = values.shape
    if n_datasets < 2 or n_methods < 3 or (values == values[:, :1]).all():
        return float("nan")
    return float(stats.friedmanchisquare(*values.T).pvalue)


def critical_difference(n_methods: int, n_datasets: int) -> float:
    """Two mean ranks this far apart differ significantly; NaN where it cannot be tested."""
    if n_datasets < 2 or n_methods < 3:
        return float("nan")
    q = stats.studentized_range.ppf(1 - SIGNIFICANCE, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def ranks_grid(ranks: pd.DataFrame) -> Grid:
    """Methods by metric, in the order of the ranks by ACC."""
    of = {(row["metric"], row["method"]): row["mean_rank"] for _, row in ranks.iterrows()}
    labels = dict(zip(ranks["method"], ranks["method_label"], strict=True))
    metrics = ranks["metric"].unique()
    rows = [
        [
            Cell(label),
            *(Cell(f"{of[metric, method]:.2f}" if (metric, method) in of else "–") for metric in metrics),
        ]
        for method, label in labels.items()
    ]
    columns = [("", "Method"), *(("Mean rank", metric.upper()) for metric in metrics)]
    return Grid("ranks", "Mean rank over datasets", columns, rows, _caption(ranks))


def _caption(ranks: pd.DataFrame) -> str:
    if ranks.empty:
        return "No dataset has numbers of all methods."
    first = ranks.iloc[0]
    caption = f"1 is best; over the {first['n_datasets']} datasets that have numbers of all methods shown."
    if pd.isna(first["critical_difference"]):
        return f"{caption} Too few datasets or methods to test a difference."
    tests = ranks.drop_duplicates("metric")
    p = ", ".join(
        f"{metric.upper()} p = {value:.2g}"
        for metric, value in zip(tests["metric"], tests["friedman_p"], strict=True)
    )
    return (
        f"{caption} Friedman's test: {p}; critical difference of Nemenyi at {SIGNIFICANCE}: "
        f"{first['critical_difference']:.2f}."
    )
