"""Verdict on each cell of the paper's Table III: reproduced, better, worse, undecided and others."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dekm.tables.cells import rename_paper
from dekm.tables.comparisons import OTHER
from dekm.tables.loading import is_other
from dekm.tables.rendering.grid import Cell, Grid
from dekm.tables.statistics.inference import LEVEL, MARGIN, from_value

VERDICTS = (
    *("reproduced", "better", "worse", "undecided", "one seed"),
    *(OTHER, "not run", "no number in the paper"),
)


def verdicts(
    cells: pd.DataFrame, paper: pd.DataFrame, labels: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Compare each cell of the paper with ours.

    The paper reports no standard deviations, so its number is a fixed value and `MARGIN` allows for its
    error. A cell is reproduced if our expected score is within `MARGIN` of it, better or worse if it is
    beyond `MARGIN` (t tests at `LEVEL`), and otherwise undecided; a large standard deviation makes a cell
    undecided, not reproduced. Cells on a subsample or under other settings are not the paper's.

    Parameters
    ----------
    cells : pandas.DataFrame
        Cells as `table3` returns them.
    paper : pandas.DataFrame
        The paper's numbers, as `table3` takes them.
    labels : mapping of str to str, optional
        Labels of the datasets that have no cells.

    Returns
    -------
    pandas.DataFrame
        One row per cell and metric of the paper: the columns of `rename_paper`, mean, sd, n_seeds,
        difference, low and high (95 % confidence interval of the difference), dataset_label, and verdict
        (one of `VERDICTS`).
    """
    keys = ["dataset", "method", "metric"]
    ours = cells[[*keys, "mean", "sd", "n_seeds", "difference"]].assign(other=is_other(cells))
    rows = rename_paper(paper).merge(ours, on=keys, how="left")
    rows["n_seeds"] = rows["n_seeds"].fillna(0).astype(int)
    known = {**(labels or {}), **dict(zip(cells["dataset"], cells["dataset_label"], strict=True))}
    rows["dataset_label"] = rows["dataset"].map(lambda dataset: known.get(dataset, dataset))
    found = from_value(rows["mean"], rows["sd"], rows["n_seeds"], rows["paper"])
    rows["low"], rows["high"] = found.interval()
    conditions = {
        "no number in the paper": rows["paper"].isna(),
        "not run": rows["mean"].isna(),
        OTHER: rows.pop("other").eq(True),
        "one seed": ~found.is_testable,
        "reproduced": found.p_inside(-MARGIN, MARGIN) <= LEVEL,
        "better": 2 * found.p_above(MARGIN) <= LEVEL,
        "worse": 2 * found.p_below(-MARGIN) <= LEVEL,
    }
    rows["verdict"] = np.select(list(conditions.values()), list(conditions), default="undecided")
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
    counts = pd.crosstab(rows["dataset_label"], rows["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    counts = counts.reindex(rows["dataset_label"].unique())
    counts.loc["all"] = counts.sum()
    lines = [[Cell(str(name)), *(Cell(str(n)) for n in line)] for name, line in counts.iterrows()]
    columns = [("", "Dataset"), *(("", verdict[0].upper() + verdict[1:]) for verdict in VERDICTS)]
    caption = (
        "Cells of the paper's Table III; ACC and NMI are counted separately. Reproduced: our expected score "
        f"is within {MARGIN:g} percentage points of the paper's number; better and worse: beyond them; t "
        f"tests over our seeds, each at level {LEVEL}. The paper reports no standard deviations: its numbers "
        "count as fixed values. Other settings: run, but on a subsample or under other settings than the "
        "paper's; Table III names them."
    )
    return Grid("verdicts", "Verdicts on the paper's cells", columns, lines, caption)
