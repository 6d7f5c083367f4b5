"""Mean ranks over datasets, with the Friedman test and the critical difference of the Nemenyi test.

References
----------
Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", JMLR 7.
"""

import numpy as np
import pandas as pd
from scipy import stats

from dekm.tables.rendering.grid import Cell, Grid

SIGNIFICANCE = 0.05


def mean_ranks(cells: pd.DataFrame) -> pd.DataFrame:
    """Mean rank of each method over the datasets, by ACC and by NMI.

    Methods without any result are dropped first, then the datasets without results of all other methods.
    Unrounded means are ranked; ties share the average of their ranks.

    Parameters
    ----------
    cells : pandas.DataFrame
        Cells as `averages` returns them.

    Returns
    -------
    pandas.DataFrame
        One row per metric and method, the best first: metric, method, method_label, mean_rank, n_datasets,
        friedman_p and critical_difference; the last two are NaN for fewer than three methods or two datasets.
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
    """Friedman test of the hypothesis that all methods have the same mean rank.

    Parameters
    ----------
    values : numpy.ndarray of shape (n_datasets, n_methods)
        Scores.

    Returns
    -------
    float
        p-value; NaN for fewer than three methods or two datasets, or if all methods are equal.
    """
    n_datasets, n_methods = values.shape
    if n_datasets < 2 or n_methods < 3 or (values == values[:, :1]).all():
        return float("nan")
    return float(stats.friedmanchisquare(*values.T).pvalue)


def critical_difference(n_methods: int, n_datasets: int) -> float:
    """Smallest significant difference of two mean ranks: Nemenyi test, Demšar (2006), Equation 6.

    Parameters
    ----------
    n_methods, n_datasets : int
        Numbers of ranked methods and of datasets.

    Returns
    -------
    float
        Difference at the level `SIGNIFICANCE`; NaN for fewer than three methods or two datasets.
    """
    if n_datasets < 2 or n_methods < 3:
        return float("nan")
    q = stats.studentized_range.ppf(1 - SIGNIFICANCE, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def ranks_grid(ranks: pd.DataFrame) -> Grid:
    """Table of the mean ranks.

    Parameters
    ----------
    ranks : pandas.DataFrame
        Ranks as `mean_ranks` returns them.

    Returns
    -------
    Grid
        One row per method, in the order of the mean ranks by ACC.
    """
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
    return Grid("ranks", "Mean rank over datasets", columns, rows, _caption(ranks))


def _caption(ranks: pd.DataFrame) -> str:
    if ranks.empty:
        return "No dataset has results of all methods."
    first = ranks.iloc[0]
    caption = f"1 is best. Mean over the {first['n_datasets']} datasets with results of all methods shown."
    if pd.isna(first["critical_difference"]):
        return f"{caption} Too few datasets or methods to test the differences."
    tests = ranks.drop_duplicates("metric")
    p = ", ".join(
        f"{metric.upper()} p = {value:.2g}"
        for metric, value in zip(tests["metric"], tests["friedman_p"], strict=True)
    )
    return (
        f"{caption} Friedman test: {p}; critical difference of the Nemenyi test at level {SIGNIFICANCE}: "
        f"{first['critical_difference']:.2f}."
    )
