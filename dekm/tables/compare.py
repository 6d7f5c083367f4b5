"""The cells in which two sets of results differ."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dekm.errors import InputError
from dekm.files.manifest import check_file
from dekm.files.reading import damaged
from dekm.files.tables import read_table
from dekm.results.published import REMEDY, has_records, read_published
from dekm.results.result_set import ResultSet
from dekm.results.runs import read_runs
from dekm.tables.cells import PERCENT, RUN_KEYS, averages, by_cell, difference, runs_of
from dekm.tables.loading import LoadedResults, is_subsample, load_cells
from dekm.tables.reference import is_published
from dekm.tables.rendering.grid import Cell, Grid
from dekm.tables.statistics.inference import LEVEL, RESOLUTION, holm, welch

VALUES = ["mean", "sd", "n_seeds"]
WITHOUT_LABELS = ("inertia", "silhouette", "davies_bouldin")  # compared for datasets without true labels
DIFFER = ("higher", "lower")
ONE_SEED, OTHER_DATA = "one seed", "other data"
NOT_IN_REFERENCE, NOT_IN_RESULTS = "not in the reference", "not in the results"


def compare(results: Path, reference: Path) -> pd.DataFrame:
    """Test every cell that two sets of results have in common for a difference.

    Runs that start from the same autoencoders are paired, others tested by Welch's test, corrected for the
    number of cells by Holm's method: if the two sets have equal expected values, the probability of any
    "higher" or "lower" is at most `LEVEL`.

    One row per cell of either set: `RUN_KEYS`, `VALUES`, those of the reference, difference, p (corrected;
    NaN if not tested) and verdict: "higher", "lower", "no difference found", `ONE_SEED` (in either set),
    `OTHER_DATA` (another digest, or a subsample in one of them), `NOT_IN_REFERENCE` or `NOT_IN_RESULTS`.
    `InputError` if a path is no set of results, or if no cell can be tested.
    """
    ours, theirs = read_means(results), read_means(reference)
    common = set(ours["metric"]) & set(theirs["metric"])
    ours, theirs = (frame[frame["metric"].isin(common)] for frame in (ours, theirs))
    both = ours.merge(theirs, on=RUN_KEYS, how="outer", suffixes=("", "_reference"), indicator="side")
    both["difference"] = both["mean"] - both["mean_reference"]
    smallest = both[["n_seeds", "n_seeds_reference"]].min(axis="columns", skipna=False)
    conditions = {
        NOT_IN_REFERENCE: both["side"] == "left_only",
        NOT_IN_RESULTS: both["side"] == "right_only",
        OTHER_DATA: (
            both["data"].ne(both["data_reference"]) & both["data"].ne("") & both["data_reference"].ne("")
        )
        | (both["subsample"] != both["subsample_reference"]),
        ONE_SEED: ~(smallest >= 2),  # also where the number is missing
    }
    both["verdict"] = np.select(list(conditions.values()), list(conditions), default="")
    _check_testable(both["verdict"], results, reference)
    tested = both[both["verdict"] == ""]
    both.loc[tested.index, "p"] = holm(_p_values(tested))
    both.loc[tested.index, "verdict"] = "no difference found"
    significant = both["p"] <= LEVEL
    both.loc[significant, "verdict"] = np.where(both["difference"][significant] > 0, *DIFFER)
    return both[[*RUN_KEYS, *VALUES, *(f"{name}_reference" for name in VALUES), "difference", "p", "verdict"]]


def _check_testable(verdicts: pd.Series, results: Path, reference: Path) -> None:
    found = set(verdicts)
    if "" in found:
        return
    if not found & {ONE_SEED, OTHER_DATA}:
        raise InputError(f"{results} and {reference} have no cell of the same dataset and method in common.")
    reasons = {
        ONE_SEED: "at least two seeds in both, which a test needs",
        OTHER_DATA: "the same data in both",
    }
    reason = "; nor ".join(text for name, text in reasons.items() if name in found)
    raise InputError(f"{results} and {reference} have no cell with {reason}.")


def _p_values(cells: pd.DataFrame) -> Any:
    """Two-sided p-values; measures without a unit have a relative resolution."""
    largest = cells[["mean", "mean_reference"]].abs().max(axis="columns")
    resolution = np.where(cells["metric"].isin(PERCENT), RESOLUTION, 1e-4 * largest.clip(lower=1e-9))
    ours = (cells["mean"], cells["sd"], cells["n_seeds"])
    theirs = (cells["mean_reference"], cells["sd_reference"], cells["n_seeds_reference"])
    p = np.asarray(welch(*ours, *theirs, resolution=resolution).p_nonzero())
    pairs = zip(cells["scores"], cells["scores_reference"], strict=True)
    return [float(difference(a, b).p_nonzero()) if a and b else p[i] for i, (a, b) in enumerate(pairs)]


def read_means(source: Path) -> pd.DataFrame:
    """The means of one set of results, without the cells that have no runs; `InputError` if the path is none.

    Columns `RUN_KEYS`, `VALUES`, subsample (a footnote, empty for whole datasets), and where single runs are
    known data (their digest, else empty) and scores (by seed, else None); scores are in percent.
    """
    result_set = ResultSet(source)
    means = _means_of_runs(result_set) if result_set.has_runs() else _means_of_table(source)
    means = means.assign(subsample=means["reason"].where(is_subsample(means), "").str.split(";").str[0])
    return means.loc[means["mean"].notna(), [*RUN_KEYS, *VALUES, "subsample", "data", "scores"]]


def _means_of_runs(result_set: ResultSet) -> pd.DataFrame:
    runs = read_runs(result_set)
    cells = [cell for cell, records in runs.cells.items() if not records or records[0].in_table]
    if not cells:
        raise InputError(
            f"{result_set.path} holds no finished cell: no runs/<dataset>/<method>/summary.json exists."
        )
    results = load_cells(result_set.path, runs, cells)
    means = averages(results, dict.fromkeys(results.scores, ("acc", "nmi", "ari", *WITHOUT_LABELS)))
    unlabelled = [dataset for dataset, names in results.scores.items() if "acc" not in names]
    kept = means[~means["metric"].isin(WITHOUT_LABELS) | means["dataset"].isin(unlabelled)]
    return _with_runs(kept, results.runs)


def _with_runs(means: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The means with the data and the scores of the single runs, as far as they are known."""
    scores = by_cell(runs_of(LoadedResults(runs, runs, {}), sorted(PERCENT)))
    data = dict(zip(zip(runs["dataset"], runs["method"], strict=True), runs["data"], strict=True))
    keys = list(means[RUN_KEYS].itertuples(index=False, name=None))
    known: Any = [scores.get(key) for key in keys]
    return means.assign(data=[data.get(key[:2], "") for key in keys], scores=known)


def _means_of_table(source: Path) -> pd.DataFrame:
    files = (source, source / "table3.csv", source / "tables" / "table3.csv")
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise InputError(f"{source} should be a folder with runs/ or table3.csv, or a table3.csv.")
    remedy = "It should be a table3.csv."
    means = read_table(file, [*RUN_KEYS, "reason"], VALUES, remedy=remedy)
    if means.duplicated(RUN_KEYS).any():
        raise damaged(file, "it has a cell twice", remedy)
    means = means[~is_published(means["method"])].fillna({"reason": ""})
    if has_records(source):
        check_file(file, REMEDY)
        return _with_runs(means, read_published(source))
    return means.assign(data="", scores=None)


def compare_grid(rows: pd.DataFrame) -> Grid:
    """Table of the cells that are higher or lower; the footnotes count the cells that were not tested."""
    found = rows[rows["verdict"].isin(DIFFER)]
    lines = [
        [
            Cell(f"{row['dataset']} {row['method']} {row['metric'].upper()}"),
            Cell(f"{row['mean']:.2f}", sd=f"{row['sd']:.2f}"),
            Cell(f"{row['mean_reference']:.2f}", sd=f"{row['sd_reference']:.2f}"),
            Cell(f"{row['difference']:+.2f}"),
            Cell(f"{row['p']:.2g}"),
            Cell(row["verdict"]),
        ]
        for _, row in found.iterrows()
    ]
    header = ("Cell", "Results", "Reference", "Difference", "p", "Verdict")
    caption = (
        f"{rows['p'].notna().sum()} cells were compared, and {len(found)} differ: t tests, paired where runs "
        "start from the same autoencoders, corrected for the number of cells (Holm). Two sets of equal "
        f"expected values differ in any cell with a probability of at most {LEVEL:.0%}."
    )
    notes = [_note(name, rows) for name in (ONE_SEED, OTHER_DATA, NOT_IN_REFERENCE, NOT_IN_RESULTS)]
    columns = [("", name) for name in header]
    return Grid("compare", "Differences", columns, lines, caption, [note for note in notes if note])


def _note(verdict: str, rows: pd.DataFrame) -> str:
    """Number of the cells that were not tested for one reason, by dataset; empty if there are none."""
    counts = rows.loc[rows["verdict"] == verdict, "dataset"].value_counts(sort=False)
    cells = ", ".join(f"{n} of {dataset}" for dataset, n in counts.items())
    return f"Not tested, {verdict}: {cells}." if cells else ""
