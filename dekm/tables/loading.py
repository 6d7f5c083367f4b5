"""The runs and the empty cells of a folder of results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dekm.errors import InputError
from dekm.results.folders import CellFolder, PreparedData
from dekm.results.result_set import ResultSet
from dekm.results.seed import SeedFolder

SCORES = ("acc", "nmi")
SCORES_WITHOUT_LABELS = ("silhouette", "davies_bouldin", "n_clusters_found")
KEYS = ["dataset", "dataset_label", "method", "method_label"]
COSTS = ("seconds", "peak_memory", "key")  # of a run, not of its partition
SUBSAMPLE = "a stratified subsample"
OTHER_SETTINGS = "run under other settings than the paper's"


@dataclass(frozen=True)
class LoadedResults:
    """The results of some datasets and methods.

    Attributes
    ----------
    runs : pandas.DataFrame
        One row per finite run: `KEYS`, seed, pretrained (key of the autoencoder from which it started; empty
        without one) and the final metrics.
    cells : pandas.DataFrame
        One row per dataset and method, in the requested order: `KEYS` and ``reason``, which says why the cell
        has no run, lacks seeds or differs from the paper's dataset; empty for a complete cell.
    scores : mapping of str to tuple of str
        Metrics of the main table for each dataset: ACC and NMI, or metrics that need no true labels.
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
    deviations: Mapping[tuple[str, str], str] | None = None,
) -> LoadedResults:
    """Read the summaries of all cells.

    Parameters
    ----------
    results : Path
        Folder of results.
    datasets, methods : sequence of str
        Keys of the cells.
    labels : mapping of str to str, optional
        Labels of the datasets and methods without results.
    left_out : mapping of str to str, optional
        Reason for each dataset that was left out on purpose.
    deviations : mapping of tuple of (str, str) to str, optional
        In what the settings of cells differ from the paper's, by dataset and method.

    Returns
    -------
    LoadedResults
        All cells, also those without runs.
    """
    result_set = ResultSet(results)
    facts = {dataset: read_facts(result_set.data(dataset)) for dataset in datasets}
    summaries = {
        (dataset, method): read_summary(result_set.cell(dataset, method))
        for dataset in datasets
        for method in methods
    }
    names = _labels(labels or {}, facts, summaries)
    n_seeds = max((len(summary.get("seeds", {})) for summary in summaries.values()), default=0)
    cells, runs = [], []
    for (dataset, method), summary in summaries.items():
        key = dict(zip(KEYS, (dataset, names[dataset], method, names[method]), strict=True))
        finite = {seed: run for seed, run in summary.get("seeds", {}).items() if _is_finite(run)}
        if "damaged" in summary:
            reason = summary["damaged"]
        elif summary:
            notes = (
                subsample_note(facts[dataset]),
                _settings_note((deviations or {}).get((dataset, method), "")),
                _seeds_note(len(finite), n_seeds),
                _equal_note(list(finite.values())),
                _empty_note([run.get("n_clusters_found") for run in finite.values()], facts[dataset]),
            )
            reason = "; ".join(filter(None, notes))
        else:
            reason = _reason_not_run(result_set, dataset, method, left_out or {})
        cells.append(key | {"reason": reason})
        cell = result_set.cell(dataset, method)
        runs += [
            key | {"seed": int(seed), "pretrained": _pretrained(cell.seed(seed))} | run
            for seed, run in finite.items()
        ]
    frame = pd.DataFrame(runs, columns=None if runs else [*KEYS, "seed", "pretrained"])
    scores = {dataset: _scores(facts[dataset], frame, dataset) for dataset in datasets}
    return LoadedResults(frame, pd.DataFrame(cells), scores)


def subsample_note(facts: Mapping[str, Any]) -> str:
    """Footnote of the results on a subsample of a dataset.

    Parameters
    ----------
    facts : mapping of str to Any
        Facts of the prepared data.

    Returns
    -------
    str
        Empty for a complete dataset.
    """
    if facts.get("subsample") is None:
        return ""
    return f"{SUBSAMPLE} of {facts['subsample']:,} samples"


def is_subsample(cells: pd.DataFrame) -> pd.Series:
    """Mask of the cells whose dataset is a subsample.

    Parameters
    ----------
    cells : pandas.DataFrame
        Cells with a column ``reason``.

    Returns
    -------
    pandas.Series of bool
        One value per row.
    """
    return cells["reason"].str.startswith(SUBSAMPLE)


def is_other(cells: pd.DataFrame) -> pd.Series:
    """Mask of the cells that are no experiment of the paper: on a subsample, or under other settings.

    Parameters
    ----------
    cells : pandas.DataFrame
        Cells with a column ``reason``.

    Returns
    -------
    pandas.Series of bool
        One value per row.
    """
    return is_subsample(cells) | cells["reason"].str.contains(OTHER_SETTINGS, regex=False)


def _settings_note(deviation: str) -> str:
    return f"{OTHER_SETTINGS}: {deviation}" if deviation else ""


def _equal_note(runs: Sequence[Mapping[str, Any]]) -> str:
    """Footnote of a cell whose seeds have the same scores: its standard deviation of 0 may mean nothing."""
    measured = [{name: value for name, value in run.items() if name not in COSTS} for run in runs]
    if len(runs) < 2 or any(run != measured[0] for run in measured):
        return ""
    found = "each finds the same partition, or random_state is ignored"
    return f"all {len(runs)} seeds agree to the last digit: {found}"


def _empty_note(found: Sequence[Any], facts: Mapping[str, Any]) -> str:
    """Footnote of a cell in which a seed has empty clusters."""
    counts = [int(count) for count in found if count is not None and count < facts.get("n_clusters", 0)]
    if not counts:
        return ""
    fewest = " to ".join(map(str, sorted({min(counts), max(counts)})))
    seeds = f"{len(counts)} of {len(found)} seeds"
    return f"only {fewest} of {facts['n_clusters']} clusters hold samples in {seeds}"


def _labels(
    given: Mapping[str, str], facts: Mapping[str, Any], summaries: Mapping[tuple[str, str], Any]
) -> dict[str, str]:
    """Label of each dataset and method: that of the results, else the given one, else the key."""
    labels = {key: key for pair in summaries for key in pair} | dict(given)
    labels |= {method: found["label"] for (_, method), found in summaries.items() if "label" in found}
    return labels | {dataset: found["label"] for dataset, found in facts.items() if "label" in found}


def _scores(facts: Mapping[str, Any], runs: pd.DataFrame, dataset: str) -> tuple[str, ...]:
    if facts.get("class_counts", ()) is not None:
        return SCORES
    found = runs[runs["dataset"] == dataset].dropna(axis="columns", how="all")
    return tuple(name for name in SCORES_WITHOUT_LABELS if name in found) or SCORES_WITHOUT_LABELS[:1]


def _is_finite(run: Mapping[str, Any]) -> bool:
    """Whether no score of a run is missing, infinite or NaN."""
    values = [run[name] for name in (*SCORES, "inertia") if name in run]
    return all(value is not None and np.isfinite(value) for value in values)


def _seeds_note(n_complete: int, n_seeds: int) -> str:
    if n_complete == n_seeds:
        return ""
    return f"{n_complete} of {n_seeds} seeds: the others failed or were not run"


def _reason_not_run(results: ResultSet, dataset: str, method: str, left_out: Mapping[str, str]) -> str:
    """Why a cell has no summary: its dataset was left out, a job failed, or it was not run."""
    if dataset in left_out:
        return f"skipped: {left_out[dataset]}"
    error = results.error_of_job(dataset, method)
    return f"failed: {error}" if error else "not run"


def read_facts(data: PreparedData) -> dict[str, Any]:
    """Description of prepared data; empty without data, only the reason ``damaged`` if it is damaged."""
    try:
        return data.facts
    except InputError as error:
        return {"damaged": str(error)}


def read_summary(cell: CellFolder) -> dict[str, Any]:
    """Summary of a cell; empty without one, only the reason ``damaged`` if it is damaged."""
    try:
        return cell.summary() if cell.summary_file.exists() else {}
    except InputError as error:
        return {"damaged": str(error)}


def _pretrained(seed: SeedFolder) -> str:
    return (seed.facts.get("pretrained") or "") if seed.has_facts() else ""


def first_seed(cell: CellFolder) -> SeedFolder | None:
    """The first seed that the summary of a cell counts; None without one, or if the summary is damaged."""
    return next((cell.seed(seed) for seed in read_summary(cell).get("seeds", {})), None)
