"""The cells of a table: means over seeds, their noise, their rank and the paper's numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dekm.tables.loading import KEYS, LoadedResults

PERCENT = {"acc", "nmi", "ari"}


def averages(results: LoadedResults, metrics: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Means and standard deviations over seeds.

    Parameters
    ----------
    results : LoadedResults
        Runs and cells.
    metrics : mapping of str to sequence of str
        Metrics of each dataset.

    Returns
    -------
    pandas.DataFrame
        One row per cell and metric: `KEYS`, metric, mean, sd (n_seeds - 1 degrees of freedom), n_seeds
        (0 without runs) and reason. Scores in [0, 1] are in percent.
    """
    wanted = pd.DataFrame(
        [(dataset, metric) for dataset, names in metrics.items() for metric in names],
        columns=["dataset", "metric"],
    )
    known = [name for name in wanted["metric"].unique() if name in results.runs]
    long = results.runs.melt(id_vars=["dataset", "method"], value_vars=known, var_name="metric")
    long["value"] = pd.to_numeric(long["value"]) * np.where(long["metric"].isin(PERCENT), 100, 1)
    means = long.groupby(["dataset", "method", "metric"])["value"].agg(["mean", "std", "count"]).reset_index()
    means = means.rename(columns={"std": "sd", "count": "n_seeds"})
    cells = results.cells.merge(wanted, on="dataset").merge(
        means, on=["dataset", "method", "metric"], how="left"
    )
    cells["n_seeds"] = cells["n_seeds"].fillna(0).astype(int)
    return cells[[*KEYS, "metric", "mean", "sd", "n_seeds", "reason"]]


def table3(results: LoadedResults, paper: pd.DataFrame) -> pd.DataFrame:
    """Cells of Table III, in percent.

    Parameters
    ----------
    results : LoadedResults
        Runs and cells.
    paper : pandas.DataFrame
        Columns dataset, method, metric, value (percent) and quoted ("yes" if the paper quotes the number
        from another paper).

    Returns
    -------
    pandas.DataFrame
        One row per cell and metric: the columns of `averages`, paper, paper_quoted, difference (ours minus
        the paper's), and place and tied as `rank` defines them.
    """
    cells = averages(results, results.scores)
    paper = paper.rename(columns={"value": "paper", "quoted": "paper_quoted"})
    cells = cells.merge(paper, on=["dataset", "method", "metric"], how="left")
    cells["difference"] = cells["mean"] - cells["paper"]
    return rank(cells)


def rank(cells: pd.DataFrame) -> pd.DataFrame:
    """Rank the cells within each dataset and metric.

    Parameters
    ----------
    cells : pandas.DataFrame
        Cells as `averages` returns them.

    Returns
    -------
    pandas.DataFrame
        `cells` with the columns place (1 for the best and 2 for the second unrounded mean, otherwise NaN)
        and tied (within noise of the best). Metrics that need no true labels are not ranked.
    """
    place = pd.Series(np.nan, cells.index)
    tied = pd.Series(False, cells.index)
    scored = cells[cells["metric"].isin(PERCENT) & cells["mean"].notna()]
    for _, column in scored.groupby(["dataset", "metric"]):
        rounded = column["mean"].round(9)
        places = rounded.rank(method="min", ascending=False)
        place[column.index] = places.where(places <= 2)
        best = column.iloc[int(rounded.argmax())]
        error = standard_error(column["sd"], column["n_seeds"], best["sd"], best["n_seeds"])
        tied[column.index] = within_noise(best["mean"] - column["mean"], error) & (places > 1)
    return cells.assign(place=place, tied=tied)


def standard_error(sd_a: Any, n_a: Any, sd_b: Any, n_b: Any) -> Any:
    """Standard error of the difference of two means of independent runs.

    Parameters
    ----------
    sd_a, sd_b : float or array-like
        Standard deviations; NaN counts as 0.
    n_a, n_b : int or array-like
        Numbers of runs.

    Returns
    -------
    float or numpy.ndarray
        Standard error, in the unit of the standard deviations.
    """
    variance_a = np.nan_to_num(np.asarray(sd_a, float)) ** 2 / np.maximum(n_a, 1)
    variance_b = np.nan_to_num(np.asarray(sd_b, float)) ** 2 / np.maximum(n_b, 1)
    return np.sqrt(variance_a + variance_b)


def within_noise(difference: Any, error: Any) -> Any:
    """Whether a difference of means is at most its standard error, or 0 up to rounding.

    Parameters
    ----------
    difference : float or array-like
        Difference of two means.
    error : float or array-like
        Its standard error.

    Returns
    -------
    bool or array-like of bool
        True where the noise of the seeds explains the difference.
    """
    return np.abs(difference) <= np.maximum(error, 1e-9)
