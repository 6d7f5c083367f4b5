"""The runs and the empty cells of a folder of results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dekm.results.data import read_facts
from dekm.results.record import describe_warnings
from dekm.results.result_set import ResultSet
from dekm.results.runs import Runs

SCORES = ("acc", "nmi")
SCORES_WITHOUT_LABELS = ("silhouette", "davies_bouldin", "n_clusters_found")
KEYS = ["dataset", "dataset_label", "method", "method_label"]
COSTS = ("seconds", "peak_memory")  # of a run, not of its partition
SUBSAMPLE = "a stratified subsample"
OTHER_SETTINGS = "run under other settings than the paper's"


@dataclass(frozen=True)
class Labels:
    """Names in tables: of datasets by their keys, and of methods by theirs, which may be the same words."""

    datasets: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadedResults:
    """The results of some datasets and methods.

    `runs` has one row per finite run: `KEYS`, seed, pretrained (key of the autoencoder from which it started;
    empty without one) and the final metrics. `cells` has one row per dataset and method, in the requested
    order: `KEYS` and reason, which says why the cell has no run, lacks seeds or differs from the paper's
    dataset; empty for a complete cell.
    """

    runs: pd.DataFrame
    cells: pd.DataFrame
    # metrics of the main table for each dataset: ACC and NMI, or what needs no true labels
    scores: Mapping[str, tuple[str, ...]]
    records: Runs = field(default_factory=lambda: Runs({}, {}))  # the same runs with all that they left


def load_cells(
    results: Path,
    runs: Runs,
    cells: Iterable[tuple[str, str]],
    *,
    labels: Labels | None = None,
    left_out: Mapping[str, str] | None = None,
    deviations: Mapping[tuple[str, str], str] | None = None,
) -> LoadedResults:
    """Some cells of a folder of results, also those without runs."""
    result_set, wanted = ResultSet(results), list(cells)
    facts = {dataset: read_facts(result_set.data(dataset)) for dataset, _ in wanted}
    names = _labels(labels or Labels(), facts, runs)
    finite = {cell: [run for run in runs.cells.get(cell, []) if run.is_finite] for cell in wanted}
    table = Runs(finite, {}).table
    n_seeds = max((_n_counted(runs, cell) for cell in wanted), default=0)
    rows = []
    for dataset, method in wanted:
        found, damage = finite[dataset, method], runs.problems.get((dataset, method), [])
        failed = runs.failed.get((dataset, method), [])
        if (dataset, method) in runs.cells:
            notes = (
                subsample_note(facts[dataset]),
                labels_note(facts[dataset]),
                _settings_note((deviations or {}).get((dataset, method), "")),
                *damage,
                "" if damage else _seeds_note(len(found), len(failed), n_seeds),
                _equal_note([run.metrics for run in found]),
                describe_warnings([*found, *failed]),
                _empty_note([run.metrics.get("n_clusters_found") for run in found], facts[dataset]),
            )
            reason = "; ".join(filter(None, notes))
        else:
            reason = _reason_not_run(result_set, dataset, method, left_out or {})
        shown = names.datasets.get(dataset, dataset), names.methods.get(method, method)
        rows.append((dataset, shown[0], method, shown[1], reason))
    found_cells = pd.DataFrame(rows, columns=[*KEYS, "reason"])
    ours = found_cells[KEYS].merge(table.drop(columns=["label", "in_table"]), on=["dataset", "method"])
    scores = {dataset: _scores(facts[dataset], ours, dataset) for dataset in facts}
    return LoadedResults(ours, found_cells, scores, runs)


def subsample_note(facts: Mapping[str, Any]) -> str:
    """Footnote of the results on a subsample of a dataset; empty for a complete one."""
    if facts.get("subsample") is None:
        return ""
    return f"{SUBSAMPLE} of {facts['subsample']:,} samples"


def labels_note(facts: Mapping[str, Any]) -> str:
    """Footnote of the scores of a dataset whose true labels are few or of one class; else empty."""
    counts = facts.get("class_counts") or ()
    if len(counts) == 1:
        return (
            "all true labels are equal: ACC is the fraction of samples in the largest cluster, and no score "
            "is informative"
        )
    n_labelled = sum(counts)
    if not n_labelled or n_labelled == facts["n_samples"]:
        return ""
    return f"only the {n_labelled:,} of {facts['n_samples']:,} samples that have a true label are scored"


def warnings_note(facts: Mapping[str, Any]) -> str:
    """Sentence on what the preparation of a dataset warned of; else empty."""
    texts = facts.get("warnings", ())
    return f"Warnings of the preparation of {facts['label']}: {'; '.join(texts)}." if texts else ""


def is_subsample(cells: pd.DataFrame) -> pd.Series:
    """Mask of the cells whose dataset is a subsample, by their column ``reason``."""
    return cells["reason"].str.startswith(SUBSAMPLE)


def is_other(cells: pd.DataFrame) -> pd.Series:
    """Mask of the cells that are no experiment of the paper: on a subsample, or under other settings."""
    return is_subsample(cells) | cells["reason"].str.contains(OTHER_SETTINGS, regex=False)


def _n_counted(runs: Runs, cell: tuple[str, str]) -> int:
    return sum(len(found.get(cell, [])) for found in (runs.cells, runs.problems, runs.failed))


def _settings_note(deviation: str) -> str:
    return f"{OTHER_SETTINGS}: {deviation}" if deviation else ""


def _equal_note(runs: Sequence[Mapping[str, Any]]) -> str:
    """Footnote of a cell whose seeds have the same scores: its standard deviation of 0 may mean nothing."""
    measured = [
        {name: value for name, value in run.items() if name not in COSTS and value is not None}
        for run in runs
    ]
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


def _labels(given: Labels, facts: Mapping[str, Any], runs: Runs) -> Labels:
    """Label of each dataset and method: the given one of a method, else that of the results, else the key."""
    cells = (*runs.failed.items(), *runs.cells.items())
    recorded = {method: records[0].label for (_, method), records in cells if records}
    described = {dataset: found["label"] for dataset, found in facts.items() if "label" in found}
    return Labels({**given.datasets, **described}, {**recorded, **given.methods})


def _scores(facts: Mapping[str, Any], runs: pd.DataFrame, dataset: str) -> tuple[str, ...]:
    if facts.get("class_counts", ()) is not None:
        return SCORES
    found = runs[runs["dataset"] == dataset].dropna(axis="columns", how="all")
    return tuple(name for name in SCORES_WITHOUT_LABELS if name in found) or SCORES_WITHOUT_LABELS[:1]


def _seeds_note(n_complete: int, n_failed: int, n_seeds: int) -> str:
    if n_complete == n_seeds:
        return ""
    others = "" if n_complete + n_failed == n_seeds else ": the others failed or were not run"
    return f"{n_complete} of {n_seeds} seeds{others}"


def _reason_not_run(results: ResultSet, dataset: str, method: str, left_out: Mapping[str, str]) -> str:
    """Why a cell has no summary: its dataset was left out, a job failed, or it was not run."""
    if dataset in left_out:
        return f"skipped: {left_out[dataset]}"
    error = results.error_of_job(dataset, method)
    return f"failed: {error}" if error else "not run"
