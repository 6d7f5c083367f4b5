"""The cells of a table: means over seeds, their standard deviation, their rank and the paper's numbers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dekm.tables.loading import KEYS, LoadedResults
from dekm.tables.reference import is_published
from dekm.tables.statistics.inference import LEVEL, Difference, paired, welch

PERCENT = {"acc", "nmi", "ari", "f1"}
RUN_KEYS = ["dataset", "method", "metric"]


class Score(NamedTuple):
    """A score of one run."""

    value: float
    pretrained: str  # key of the autoencoder from which the run started; empty without one


def runs_of(results: LoadedResults, metrics: Sequence[str]) -> pd.DataFrame:
    """Scores of the single runs; those in [0, 1] are in percent.

    One row per run and metric: dataset, method, seed, pretrained, metric and value.
    """
    known = [name for name in metrics if name in results.runs]
    run = ["dataset", "method", "seed", "pretrained"]
    long = results.runs.melt(id_vars=run, value_vars=known, var_name="metric", value_name="value")
    long["value"] = pd.to_numeric(long["value"]) * np.where(long["metric"].isin(PERCENT), 100, 1)
    return long.dropna(subset="value")


def by_cell(runs: pd.DataFrame) -> dict[tuple[str, str, str], dict[int, Score]]:
    """The scores by seed of each dataset, method and metric."""
    cells: dict[tuple[str, str, str], dict[int, Score]] = {}
    columns = [*RUN_KEYS, "seed", "value", "pretrained"]
    for *key, seed, value, pretrained in runs[columns].itertuples(index=False):
        cells.setdefault(tuple(key), {})[seed] = Score(value, pretrained)
    return cells


def difference(a: Mapping[int, Score], b: Mapping[int, Score]) -> Difference:
    """Difference of two methods on one dataset: the mean of a minus that of b.

    Runs that start from the same autoencoder are paired; with fewer than two such pairs all runs are
    independent (Welch). It is not testable if either method has fewer than two seeds.
    """
    pairs = [(a[seed], b[seed]) for seed in sorted(a.keys() & b.keys())]
    shared = [(x.value, y.value) for x, y in pairs if x.pretrained and x.pretrained == y.pretrained]
    if len(shared) >= 2:
        return paired(*np.array(shared).T)
    return welch(*_moments(a), *_moments(b))


def _moments(scores: Mapping[int, Score]) -> tuple[float, float, int]:
    array = np.array([score.value for score in scores.values()])
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else np.nan, len(array)


def averages(results: LoadedResults, metrics: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Means and standard deviations over seeds; scores in [0, 1] are in percent.

    One row per cell and metric: `KEYS`, metric, mean, sd (n_seeds - 1 degrees of freedom), n_seeds (0 without
    runs) and reason.
    """
    wanted = pd.DataFrame(
        [(dataset, metric) for dataset, names in metrics.items() for metric in names],
        columns=["dataset", "metric"],
    )
    runs = runs_of(results, list(wanted["metric"].unique()))
    means = runs.groupby(RUN_KEYS)["value"].agg(mean="mean", sd="std", n_seeds="count").reset_index()
    cells = results.cells.merge(wanted, on="dataset").merge(means, on=RUN_KEYS, how="left")
    cells["n_seeds"] = cells["n_seeds"].fillna(0).astype(int)
    return cells[[*KEYS, "metric", "mean", "sd", "n_seeds", "reason"]]


def table3(results: LoadedResults, paper: pd.DataFrame) -> pd.DataFrame:
    """Cells of Table III, in percent.

    `paper` has the columns dataset, method, metric, value (percent), n_runs (of which it is a mean; NaN if
    not known), quoted ("yes" if the paper quotes the number from another paper), origin (where the number
    comes from), doubtful ("yes" if it is probably wrong, or not of this dataset) and remark (what is special
    about it, or empty).

    One row per cell and metric: the columns of `averages`, those of `rename_paper`, difference (ours minus
    the paper's), and place and tied as `rank` defines them.
    """
    cells = averages(results, results.scores)
    cells = cells.merge(rename_paper(paper), on=RUN_KEYS, how="left")
    cells["difference"] = cells["mean"] - cells["paper"]
    return rank(cells, runs_of(results, sorted(PERCENT)))


def not_in_paper(cells: pd.DataFrame) -> set[str]:
    """Our methods of which the paper has no number; empty if it has none of any method that is shown."""
    found = set(cells.loc[cells["paper_quoted"].notna(), "method"])
    ours = set(cells.loc[~is_published(cells["method"]), "method"])
    return ours - found if found else set()


def rename_paper(paper: pd.DataFrame) -> pd.DataFrame:
    """Columns of the paper's numbers beside ours; a remark is a string.

    dataset, method, metric, paper, paper_n_runs, paper_quoted, paper_origin, paper_doubtful and paper_remark.
    """
    names = {name: f"paper_{name}" for name in ("n_runs", "quoted", "origin", "doubtful", "remark")}
    names |= {"value": "paper"}
    return paper.rename(columns=names).fillna({"paper_doubtful": "no", "paper_remark": ""})


def rank(cells: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The cells with two columns more: their place and who is tied, within each dataset and metric.

    place is 1 for the best and 2 for the second unrounded mean, otherwise NaN. tied: may be the best, since
    with a probability of at least 1 - `LEVEL` the method of the highest expected value is first or tied.
    Metrics that need no true labels are not ranked; a method with one seed is not tested, so it is not tied.
    """
    place = pd.Series(np.nan, cells.index)
    tied = pd.Series(False, cells.index)
    values = by_cell(runs)
    scored = cells[cells["metric"].isin(PERCENT) & cells["mean"].notna()]
    for _, column in scored.groupby(["dataset", "metric"]):
        rounded = column["mean"].round(9)
        places = rounded.rank(method="min", ascending=False)
        place[column.index] = places.where(places <= 2)
        order = places.sort_values(kind="stable").index
        best, *others = (values[tuple(key)] for key in column.loc[order, RUN_KEYS].to_numpy())
        tied.loc[order[1:][_tied(best, others)]] = True
    return cells.assign(place=place, tied=tied & (place != 1))


def _tied(best: Mapping[int, Score], others: Sequence[Mapping[int, Score]]) -> np.ndarray:
    """Mask of the methods that are not significantly below the one with the best mean.

    The best expected value can be that of any other method, so each test has the level of Bonferroni.
    """
    found = [difference(other, best) for other in others]
    return np.array([bool(pair.is_testable and pair.p_below(0) > LEVEL / len(found)) for pair in found], bool)
