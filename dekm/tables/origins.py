"""Where the paper's numbers come from."""

import pandas as pd

from dekm.tables.loading import SCORES
from dekm.tables.rendering.grid import Cell, Grid


def origins(cells: pd.DataFrame) -> pd.DataFrame:
    """Group the paper's numbers by their origin: one row per method, origin and remark.

    Columns method, method_label, numbers (labels of datasets, with the metric if only one of its numbers is
    meant), origin and remark.
    """
    printed = cells[cells["paper"].notna()]
    keys = ["method", "method_label", "paper_origin", "paper_remark"]
    rows = [(*key, _numbers(group)) for key, group in printed.groupby(keys, sort=False)]
    frame = pd.DataFrame(rows, columns=["method", "method_label", "origin", "remark", "numbers"])
    order = {method: i for i, method in enumerate(printed["method"].unique())}
    frame = frame.sort_values("method", key=lambda names: names.map(order), kind="stable")
    return frame[["method", "method_label", "numbers", "origin", "remark"]]


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
            Cell(row["remark"]),
        ]
        for (_, row), repeated in zip(rows.iterrows(), rows["method"].duplicated(), strict=True)
    ]
    header = [("", name) for name in ("Method", "Numbers", "Origin", "Remark")]
    caption = (
        "The paper runs released code where the original papers have no number, and marks the numbers that "
        "it quotes. Unverified: from memory of the publication, not checked against it."
    )
    return Grid("origins", "Origins of the paper's numbers", header, lines, caption)
