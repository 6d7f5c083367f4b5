"""Verdict on each cell of the paper's Table III: reproduced, better, worse or not run."""

import numpy as np
import pandas as pd

from dekm.tables.loading import is_subsample
from dekm.tables.rendering.grid import Cell, Grid

MIN_TOLERANCE = 1.0  # percentage points
N_DEVIATIONS = 2.0
VERDICTS = ("reproduced", "better", "worse", "not run", "no number in the paper")


def verdicts(cells: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Compare each cell of the paper with ours.

    A cell is reproduced if the paper's number is within two standard deviations of our seeds, or 1 percentage
    point, of our mean. A subsample is not the paper's dataset: its cells count as not run.

    Parameters
    ----------
    cells : pandas.DataFrame
        Cells as `table3` returns them.
    paper : pandas.DataFrame
        The paper's numbers, as `table3` takes them.

    Returns
    -------
    pandas.DataFrame
        One row per cell and metric of the paper: dataset, method, metric, paper, paper_quoted, mean, sd,
        n_seeds, difference and verdict (one of `VERDICTS`).
    """
    cells = cells[~is_subsample(cells)]
    ours = cells[["dataset", "method", "metric", "mean", "sd", "n_seeds", "difference"]]
    rows = paper.rename(columns={"value": "paper", "quoted": "paper_quoted"}).merge(
        ours, on=["dataset", "method", "metric"], how="left"
    )
    rows["n_seeds"] = rows["n_seeds"].fillna(0).astype(int)
    tolerance = np.maximum(N_DEVIATIONS * rows["sd"].fillna(0), MIN_TOLERANCE)
    conditions = [
        rows["paper"].isna(),
        rows["mean"].isna(),
        rows["difference"].abs() <= tolerance + 1e-9,  # differences of decimal numbers are inexact
        rows["difference"] > 0,
    ]
    choices = ["no number in the paper", "not run", "reproduced", "better"]
    rows["verdict"] = np.select(conditions, choices, default="worse")
    return rows


def verdicts_grid(rows: pd.DataFrame) -> Grid:
    """Table of the number of cells of each verdict.

    Parameters
    ----------
    rows : pandas.DataFrame
        Verdicts as `verdicts` returns them.

    Returns
    -------
    Grid
        One row per dataset, and one for all of them.
    """
    counts = pd.crosstab(rows["dataset"], rows["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    counts = counts.reindex(rows["dataset"].unique())
    counts.loc["all"] = counts.sum()
    lines = [[Cell(str(name)), *(Cell(str(n)) for n in line)] for name, line in counts.iterrows()]
    columns = [("", "Dataset"), *(("", verdict[0].upper() + verdict[1:]) for verdict in VERDICTS)]
    caption = (
        "Cells of the paper's Table III; ACC and NMI are counted separately. Reproduced: the paper's number "
        "is within two standard deviations of our seeds, or 1 percentage point, of our mean."
    )
    return Grid("verdicts", "Verdicts on the paper's cells", columns, lines, caption)
