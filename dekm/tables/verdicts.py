"""Verdict on each cell of the paper's Table III, such as reproduced, and the origins of its numbers."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dekm.tables.cells import RUN_KEYS, rename_paper
from dekm.tables.comparisons import OTHER
from dekm.tables.loading import SCORES, is_other
from dekm.tables.rendering.grid import Cell, Grid
from dekm.tables.statistics.inference import LEVEL, MARGIN, from_value

# Lines of the count: the paper's methods that its own is compared with, and its own.
GROUPS = {
    "Baselines": ("k_means", "pca_k_means", "ae_k_means"),
    "Deep methods": ("dec", "dcec", "idec", "dcn", "dkm"),
    "DEKM": ("dekm",),
    "DEKM_F": ("dekm_f",),
}
VERDICTS = (
    *("reproduced", "better", "worse", "undecided", "one seed"),
    *(OTHER, "not run", "no number in the paper"),
)


def verdicts(
    cells: pd.DataFrame, paper: pd.DataFrame, labels: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Compare each cell of the paper with ours.

    The paper reports means without standard deviations, so its runs count as spread as ours. A cell is
    reproduced if our expected score is within `MARGIN` of the paper's, better or worse if it is beyond
    (t tests at `LEVEL`), and otherwise undecided; a large standard deviation makes a cell undecided, not
    reproduced. Cells on a subsample or under other settings are not the paper's.

    `cells` and `paper` are as `table3` returns and takes them; `labels` are those of datasets that have no
    cells.

    One row per cell and metric of the paper: the columns of `rename_paper`, mean, sd, n_seeds, difference,
    low and high (95 % confidence interval of the difference of the expected scores), dataset_label, and
    verdict (one of `VERDICTS`).
    """
    ours = cells[[*RUN_KEYS, "mean", "sd", "n_seeds", "difference"]].assign(other=is_other(cells))
    rows = rename_paper(paper).merge(ours, on=RUN_KEYS, how="left")
    rows["n_seeds"] = rows["n_seeds"].fillna(0).astype(int)
    known = {**(labels or {}), **dict(zip(cells["dataset"], cells["dataset_label"], strict=True))}
    rows["dataset_label"] = rows["dataset"].map(lambda dataset: known.get(dataset, dataset))
    n_runs = rows["paper_n_runs"].fillna(1)  # not known: the fewest
    found = from_value(rows["mean"], rows["sd"], rows["n_seeds"], rows["paper"], n_runs)
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

    One row per group of methods, one for all of them, one per dataset, and one for the cells that are
    doubtful in the paper, which the others do not count.
    """
    is_doubtful = rows["paper_doubtful"] == "yes"
    sound = rows[~is_doubtful]
    parts = {group: sound[sound["method"].isin(methods)] for group, methods in GROUPS.items()}
    parts["All methods"] = sound
    labels = rows["dataset_label"].unique()
    parts |= {label: sound[sound["dataset_label"] == label] for label in labels}
    parts["Doubtful in the paper"] = rows[is_doubtful]
    lines = [[Cell(name), *(Cell(str(n)) for n in _counts(part))] for name, part in parts.items()]
    columns = [("", "Cells"), *(("", verdict[0].upper() + verdict[1:]) for verdict in VERDICTS)]
    caption = (
        "Cells of the paper's Table III; ACC and NMI are counted separately. Reproduced: our expected score "
        f"is within {MARGIN:g} percentage points of the paper's; better and worse: beyond them; t tests over "
        f"our seeds, each at level {LEVEL}. The paper reports no standard deviations: the runs of which its "
        "number is a mean (three that its authors ran, one if it quotes the number) count as spread as ours. "
        "Doubtful in the paper, and counted only there: the cells that the table of origins names so. Other "
        "settings: run, but on a subsample or under other settings than the paper's; Table III names them."
    )
    return Grid("verdicts", "Verdicts on the paper's cells", columns, lines, caption)


def _counts(rows: pd.DataFrame) -> pd.Series:
    return rows["verdict"].value_counts().reindex(VERDICTS, fill_value=0)


def origins(cells: pd.DataFrame) -> pd.DataFrame:
    """Group the paper's numbers by their origin: one row per method, origin, doubt and remark.

    Columns method, method_label, numbers (labels of datasets, with the metric if only one of its numbers is
    meant), origin, doubtful and remark.
    """
    printed = cells[cells["paper"].notna()]
    keys = ["method", "method_label", "paper_origin", "paper_doubtful", "paper_remark"]
    rows = [(*key, _numbers(group)) for key, group in printed.groupby(keys, sort=False)]
    frame = pd.DataFrame(rows, columns=["method", "method_label", "origin", "doubtful", "remark", "numbers"])
    order = {method: i for i, method in enumerate(printed["method"].unique())}
    frame = frame.sort_values("method", key=lambda names: names.map(order), kind="stable")
    return frame[["method", "method_label", "numbers", "origin", "doubtful", "remark"]]


def _numbers(group: pd.DataFrame) -> str:
    metrics = group.groupby("dataset_label", sort=False)["metric"].agg(list)
    return ", ".join(
        str(label) if len(names) == len(SCORES) else f"{label} {names[0].upper()}"
        for label, names in metrics.items()
    )


def origins_grid(rows: pd.DataFrame) -> Grid:
    """Table with a row per origin of the paper's numbers."""
    lines = [
        [
            Cell("" if repeated else row["method_label"]),
            Cell(row["numbers"]),
            Cell(row["origin"]),
            Cell("yes" if row["doubtful"] == "yes" else ""),
            Cell(row["remark"]),
        ]
        for (_, row), repeated in zip(rows.iterrows(), rows["method"].duplicated(), strict=True)
    ]
    header = [("", name) for name in ("Method", "Numbers", "Origin", "Doubtful", "Remark")]
    caption = (
        "The paper runs released code where the original papers have no number, and marks the numbers that "
        "it quotes. Unverified: from memory of the publication, not checked against it."
    )
    return Grid("origins", "Origins of the paper's numbers", header, lines, caption)
