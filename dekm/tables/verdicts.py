"""Each of the paper's cells against ours: reproduced, better, worse or not run."""

import numpy as np
import pandas as pd

from dekm.tables.cells import of_subsamples
from dekm.tables.grid import Cell, Grid

POINTS = 1.0
DEVIATIONS = 2.0
VERDICTS = ("reproduced", "better", "worse", "not run", "no number in the paper")


def verdicts(cells: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """One row per cell and metric of the paper, with ours where it was run.

    A cell is reproduced if the paper's number is within two standard deviations of our seeds, or 1 point,
    of our mean. A subsample is not the paper's dataset: its cells count as not run.

    Parameters
    ----------
    cells : as `table3` returns them
    paper : as `table3` takes it
    """
    cells = cells[~of_subsamples(cells)]
    ours = cells[["dataset", "method", "metric", "mean", "sd", "n_seeds", "difference"]]
    rows = paper.rename(columns={"value": "paper", "quoted": "paper_quoted"}).merge(
        ours, on=["dataset", "method", "metric"], how="left"
    )
    rows["n_seeds"] = rows["n_seeds"].fillna(0).astype(int)
    tolerance = np.maximum(DEVIATIONS * rows["sd"].fillna(0), POINTS)
    # Both sides have two decimals at most in the paper; the allowance is for rounding.
    conditions = [
        rows["paper"].isna(),
        rows["mean"].isna(),
        rows["difference"].abs() <= tolerance + 1e-9,
        rows["difference"] > 0,
    ]
    choices = ["no number in the paper", "not run", "reproduced", "better"]
    rows["verdict"] = np.select(conditions, choices, default="worse")
    return rows


def verdicts_grid(rows: pd.DataFrame) -> Grid:
    """Number of cells of each verdict, by dataset."""
    counts = pd.crosstab(rows["dataset"], rows["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    counts = counts.reindex(rows["dataset"].unique())
    counts.loc["all"] = counts.sum()
    lines = [[Cell(str(name)), *(Cell(str(n)) for n in line)] for name, line in counts.iterrows()]
    columns = [("", "Dataset"), *(("", verdict[0].upper() + verdict[1:]) for verdict in VERDICTS)]
    caption = (
        "Cells of the paper's Table III, ACC and NMI counted apart. Reproduced: within two standard "
        "deviations of our seeds, or 1 point, of our mean."
    )
    return Grid("verdicts", "The paper's cells, judged", columns, lines, caption)
