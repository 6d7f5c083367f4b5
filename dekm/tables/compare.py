"""Two sets of results, and the cells in which they differ."""

from pathlib import Path
from typing import Any

import pandas as pd

from dekm.errors import InputError
from dekm.results.result_set import ResultSet
from dekm.tables.cells import averages, read_results
from dekm.tables.grid import Cell, Grid
from dekm.tables.noise import standard_error

KEYS = ["dataset", "method", "metric"]
ERRORS = 2.0
ROUNDING = 0.005  # points; tables are written with four decimals


def compare(results: Path, reference: Path) -> pd.DataFrame:
    """Cells in which two sets of results differ, or that only one of them has.

    Means differ if they are farther apart than two standard errors of their difference. Each set is a
    folder of results, a folder of tables, or a ``table3.csv``.

    Returns
    -------
    Columns dataset, method, metric, mean, sd, n_seeds, the last three of the reference, difference and
    verdict ("higher", "lower", "not in the reference", "not in the results").
    """
    ours, theirs = read_means(results), read_means(reference)
    common = set(ours["metric"]) & set(theirs["metric"])
    ours, theirs = (frame[frame["metric"].isin(common)] for frame in (ours, theirs))
    both = ours.merge(theirs, on=KEYS, how="outer", suffixes=("", "_reference"), indicator="side")
    both["difference"] = both["mean"] - both["mean_reference"]
    error = standard_error(both["sd"], both["n_seeds"], both["sd_reference"], both["n_seeds_reference"])
    differ = both["difference"].abs() > ERRORS * error + ROUNDING
    both["verdict"] = ""
    both.loc[differ & (both["difference"] > 0), "verdict"] = "higher"
    both.loc[differ & (both["difference"] < 0), "verdict"] = "lower"
    both.loc[both["side"] == "left_only", "verdict"] = "not in the reference"
    both.loc[both["side"] == "right_only", "verdict"] = "not in the results"
    return both[both["verdict"] != ""].drop(columns="side").reset_index(drop=True)


def read_means(source: Path) -> pd.DataFrame:
    """Means, standard deviations and numbers of seeds, in points, of one set of results."""
    result_set = ResultSet(source)
    if result_set.has_runs():
        cells = [
            summary
            for cell in result_set.finished_cells()
            if (summary := cell.summary()).get("in_table", True)
        ]
        if not cells:
            raise InputError(f"{source} holds no finished cell: no runs/<dataset>/<method>/summary.json.")
        datasets = dict.fromkeys(cell["dataset"] for cell in cells)
        results = read_results(source, list(datasets), list(dict.fromkeys(cell["method"] for cell in cells)))
        means = averages(results, dict.fromkeys(datasets, ("acc", "nmi", "ari", "inertia")))
        unlabelled = [dataset for dataset, names in results.scores.items() if "acc" not in names]
        means = means[(means["metric"] != "inertia") | means["dataset"].isin(unlabelled)]
    else:
        files = (source, source / "table3.csv", source / "tables" / "table3.csv")
        found = [file for file in files if file.is_file()]
        if not found:
            raise InputError(f"{source} should be a folder with runs/ or table3.csv, or such a file.")
        means = pd.read_csv(found[0])
        lacking = sorted({*KEYS, "mean", "sd", "n_seeds"} - set(means))
        if lacking:
            raise InputError(f"{found[0]} lacks the columns {lacking}; it should be a table3.csv.")
    return means.loc[means["mean"].notna(), [*KEYS, "mean", "sd", "n_seeds"]]


def compare_grid(rows: pd.DataFrame) -> Grid:
    """The differences as a table."""
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
        f"{len(rows)} cells differ by more than two standard errors of the difference, "
        "or are in one set only."
    )
    return Grid("compare", "Differences", [("", name) for name in header], lines, caption)


def _mean(mean: Any, sd: Any) -> Cell:
    if pd.isna(mean):
        return Cell("–")
    return Cell(f"{mean:.2f}", sd="" if pd.isna(sd) else f"{sd:.2f}")
