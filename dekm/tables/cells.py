"""The cells of a table: means over seeds of what the runs say, beside the paper's numbers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dekm.files import read_json
from dekm.results.result_set import ResultSet
from dekm.tables.noise import standard_error, within_noise

SCORES = ("acc", "nmi")
WITHOUT_LABELS = ("inertia", "silhouette", "n_clusters_found")
PERCENT = {"acc", "nmi", "ari"}
SUBSAMPLE = "a subsample"
KEYS = ["dataset", "dataset_label", "method", "method_label"]


@dataclass(frozen=True)
class Results:
    """What a folder of results holds for some datasets and methods.

    Attributes
    ----------
    runs : one row per run: dataset, method, their labels, seed and the final metrics
    cells : one row per dataset and method in the order asked for: the labels, and `reason`, which says
        why there is no run, or which seeds lack; empty for a whole cell
    scores : metrics to show for each dataset: ACC and NMI, or what is known without true labels
    """

    runs: pd.DataFrame
    cells: pd.DataFrame
    scores: Mapping[str, tuple[str, ...]]


def read_results(
    results: Path,
    datasets: Sequence[str],
    methods: Sequence[str],
    *,
    labels: Mapping[str, str] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> Results:
    """Read the summaries of all cells; a cell without one has the reason why.

    Parameters
    ----------
    results : Path
        Folder of results.
    datasets, methods : sequence of str
        Keys of the cells.
    labels : mapping of str to str, optional
        Names of datasets and methods of which the results hold nothing.
    left_out : mapping of str to str, optional
        Datasets that were left out on purpose, and why.
    """
    result_set = ResultSet(results)
    facts = {dataset: _read(result_set.data(dataset).facts_file) for dataset in datasets}
    summaries = {
        (dataset, method): _read(result_set.cell(dataset, method).summary_file)
        for dataset in datasets
        for method in methods
    }
    names = dict(labels or {})
    names |= {method: summary["label"] for (_, method), summary in summaries.items() if summary}
    names |= {dataset: found["label"] for dataset, found in facts.items() if found}
    n_seeds = max((len(summary["seeds"]) for summary in summaries.values() if summary), default=0)
    cells, runs = [], []
    for (dataset, method), summary in summaries.items():
        cell = {
            "dataset": dataset,
            "dataset_label": names.get(dataset, dataset),
            "method": method,
            "method_label": names.get(method, method),
        }
        complete, reason = {}, ""
        if summary:
            reason = of_a_part(facts[dataset])
            complete = {seed: run for seed, run in summary["seeds"].items() if _is_finite(run)}
            if len(complete) < n_seeds:
                missing = f"{len(complete)} of {n_seeds} seeds: the others failed or were not run"
                reason = "; ".join(filter(None, (reason, missing)))
        else:
            reason = _why_not(result_set, dataset, method, left_out or {})
        cells.append(cell | {"reason": reason})
        runs += [cell | {"seed": int(seed)} | run for seed, run in complete.items()]
    frame = pd.DataFrame(runs, columns=None if runs else [*KEYS, "seed"])
    return Results(
        frame, pd.DataFrame(cells), {dataset: _scores(facts[dataset], frame, dataset) for dataset in datasets}
    )


def averages(results: Results, metrics: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """One row per cell and metric of its dataset: mean, sd, n_seeds (0 for a gap) and the cell's reason.

    Scores in [0, 1] become percent.
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


def table3(results: Results, paper: pd.DataFrame) -> pd.DataFrame:
    """One row per cell and metric, in percent: ours, the paper's, their difference, and our ranking.

    Parameters
    ----------
    results : as `read_results` returns it
    paper : columns dataset, method, metric, value (percent) and quoted ("yes" where the paper quotes
        the number from another)

    Returns
    -------
    Beside the columns of `averages`: paper, paper_quoted, difference, place (1 best, 2 second; on
    unrounded means) and tied (within noise of the best).
    """
    cells = averages(results, results.scores)
    paper = paper.rename(columns={"value": "paper", "quoted": "paper_quoted"})
    cells = cells.merge(paper, on=["dataset", "method", "metric"], how="left")
    cells["difference"] = cells["mean"] - cells["paper"]
    return rank(cells)


def rank(cells: pd.DataFrame) -> pd.DataFrame:
    """Add place and tied within each dataset and metric; without true labels nothing is better."""
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


def _scores(facts: Mapping[str, Any], runs: pd.DataFrame, dataset: str) -> tuple[str, ...]:
    if facts.get("class_counts", ()) is not None:
        return SCORES
    found = runs[runs["dataset"] == dataset].dropna(axis="columns", how="all")
    return tuple(name for name in WITHOUT_LABELS if name in found) or WITHOUT_LABELS[:1]


def of_a_part(facts: Mapping[str, Any]) -> str:
    """What to say of results on a part of a dataset; empty for the whole."""
    if facts.get("subsample") is None:
        return ""
    return f"{SUBSAMPLE} of {facts['subsample']:,}, each class in its share"


def of_subsamples(cells: pd.DataFrame) -> pd.Series:
    """Which rows, by their reason, are of a part of a dataset."""
    return cells["reason"].str.startswith(SUBSAMPLE)


def _is_finite(run: Mapping[str, Any]) -> bool:
    """Whether a run has numbers to show: no loss went astray."""
    values = [run[name] for name in (*SCORES, "inertia") if name in run]
    return all(value is not None and np.isfinite(value) for value in values)


def _why_not(results: ResultSet, dataset: str, method: str, left_out: Mapping[str, str]) -> str:
    """Why a cell has no summary: its dataset was left out, a job failed, or it was not run."""
    if dataset in left_out:
        return f"skipped: {left_out[dataset]}"
    error = results.error_of_job(dataset, method)
    return f"failed: {error}" if error else "not run"


def _read(file: Path) -> dict[str, Any]:
    """An object from a JSON file; empty where there is no such file or a killed job left half of it."""
    try:
        return read_json(file)
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
