"""The cells in which two sets of results differ."""

from pathlib import Path
from typing import Any

import pandas as pd

from dekm.errors import InputError
from dekm.files.tables import read_table
from dekm.results.result_set import ResultSet
from dekm.tables.cells import averages, standard_error
from dekm.tables.loading import read_results
from dekm.tables.rendering.grid import Cell, Grid

KEYS = ["dataset", "method", "metric"]
VALUES = ["mean", "sd", "n_seeds"]
N_ERRORS = 2.0
ROUNDING = 0.005  # percentage points; tables are written with four decimals


def compare(results: Path, reference: Path) -> pd.DataFrame:
    """Find the cells in which two sets of results differ, or that exist in one of them only.

    Two means differ if their difference is larger than two of its standard errors.

    Parameters
    ----------
    results, reference : Path
        Folder of results, folder of tables, or a ``table3.csv``.

    Returns
    -------
    pandas.DataFrame
        Columns dataset, method, metric, mean, sd, n_seeds, the last three of the reference, difference and
        verdict ("higher", "lower", "not in the reference", "not in the results").

    Raises
    ------
    InputError
        If a path is no set of results.
    """
    ours, theirs = read_means(results), read_means(reference)
    common = set(ours["metric"]) & set(theirs["metric"])
    ours, theirs = (frame[frame["metric"].isin(common)] for frame in (ours, theirs))
    both = ours.merge(theirs, on=KEYS, how="outer", suffixes=("", "_reference"), indicator="side")
    both["difference"] = both["mean"] - both["mean_reference"]
    error = standard_error(both["sd"], both["n_seeds"], both["sd_reference"], both["n_seeds_reference"])
    differ = both["difference"].abs() > N_ERRORS * error + ROUNDING
    both["verdict"] = ""
    both.loc[differ & (both["difference"] > 0), "verdict"] = "higher"
    both.loc[differ & (both["difference"] < 0), "verdict"] = "lower"
    both.loc[both["side"] == "left_only", "verdict"] = "not in the reference"
    both.loc[both["side"] == "right_only", "verdict"] = "not in the results"
    return both[both["verdict"] != ""].drop(columns="side").reset_index(drop=True)


def read_means(source: Path) -> pd.DataFrame:
    """Read the means of one set of results.

    Parameters
    ----------
    source : Path
        Folder of results, folder of tables, or a ``table3.csv``.

    Returns
    -------
    pandas.DataFrame
        Columns `KEYS` and `VALUES`; scores are in percent. Cells without runs are dropped.

    Raises
    ------
    InputError
        If the path is no set of results.
    """
    result_set = ResultSet(source)
    means = _means_of_runs(result_set) if result_set.has_runs() else _means_of_table(source)
    return means.loc[means["mean"].notna(), KEYS + VALUES]


def _means_of_runs(result_set: ResultSet) -> pd.DataFrame:
    summaries = [cell.summary() for cell in result_set.finished_cells()]
    cells = [summary for summary in summaries if summary.get("in_table", True)]
    if not cells:
        raise InputError(
            f"{result_set.path} holds no finished cell: no runs/<dataset>/<method>/summary.json exists."
        )
    datasets = dict.fromkeys(cell["dataset"] for cell in cells)
    methods = dict.fromkeys(cell["method"] for cell in cells)
    results = read_results(result_set.path, list(datasets), list(methods))
    means = averages(results, dict.fromkeys(datasets, ("acc", "nmi", "ari", "inertia")))
    unlabelled = [dataset for dataset, names in results.scores.items() if "acc" not in names]
    return means[(means["metric"] != "inertia") | means["dataset"].isin(unlabelled)]


def _means_of_table(source: Path) -> pd.DataFrame:
    files = (source, source / "table3.csv", source / "tables" / "table3.csv")
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise InputError(f"{source} should be a folder with runs/ or table3.csv, or a table3.csv.")
    return read_table(file, KEYS, VALUES, remedy="It should be a table3.csv.")


def compare_grid(rows: pd.DataFrame) -> Grid:
    """Table of the differences.

    Parameters
    ----------
    rows : pandas.DataFrame
        Differences as `compare` returns them.

    Returns
    -------
    Grid
        One row per cell.
    """
    lines = [
        [
            Cell(f"{row['dataset']} {row['method']} {row['metric'].upper()}"),
            _mean(row["mean"], row["sd"]),
            _mean(row["mean_reference"], row["sd_reference"]),
            Cell("–" if pd.isna(row["difference"]) else f"{row['difference']:+.2f}"),
            Cell(row["verdict"]),
        ]
        for _, row in rows.iterrows()
    ]
    header = ("Cell", "Results", "Reference", "Difference", "Verdict")
    caption = (
        "Cells that differ by more than two standard errors of the difference, or that exist in one set "
        f"only: {len(rows)}."
    )
    return Grid("compare", "Differences", [("", name) for name in header], lines, caption)


def _mean(mean: Any, sd: Any) -> Cell:
    if pd.isna(mean):
        return Cell("–")
    return Cell(f"{mean:.2f}", sd="" if pd.isna(sd) else f"{sd:.2f}")
