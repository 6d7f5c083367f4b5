"""Table II: the datasets as they were prepared, beside the paper's numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dekm.results.result_set import ResultSet
from dekm.tables.cells import of_a_part
from dekm.tables.grid import Cell, Grid, Notes

COLUMNS = ("n_samples", "n_clusters", "shape")


def table2(
    results: Path,
    datasets: Sequence[str],
    paper: pd.DataFrame,
    *,
    left_out: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """One row per dataset: label, n_samples, n_clusters, shape, the same of the paper, and a reason.

    Parameters
    ----------
    paper : columns dataset, label, n_samples, n_clusters and shape (sides joined by "x")

    Returns
    -------
    The reason says what explains a difference from the paper, or why there are no data.
    """
    rows = []
    for dataset in datasets:
        printed = paper[paper["dataset"] == dataset].to_dict("records")
        theirs = {str(name): value for name, value in printed[0].items()} if printed else {}
        facts = ResultSet(results).data(dataset).facts
        ours = {
            "n_samples": facts.get("n_samples"),
            "n_clusters": facts.get("n_clusters"),
            "shape": "x".join(map(str, facts["shape"])) if facts else None,
        }
        row: dict[str, Any] = {
            "dataset": dataset,
            "label": facts.get("label") or theirs.get("label", dataset),
        }
        row |= ours | {f"paper_{name}": theirs.get(name) for name in COLUMNS}
        rows.append(row | {"reason": _reason(facts, theirs, ours, (left_out or {}).get(dataset))})
    return pd.DataFrame(rows).astype(dict.fromkeys(("n_samples", "n_clusters"), "Int64"))


def _reason(facts: dict[str, Any], theirs: dict[str, Any], ours: dict[str, Any], why: str | None) -> str:
    if not facts:
        return f"skipped: {why}" if why else "not prepared"
    if part := of_a_part(facts):
        return part
    different = [name for name in COLUMNS if theirs and str(theirs[name]) != str(ours[name])]
    return f"differs from the paper in {', '.join(different)}" if different else ""


def table2_grid(rows: pd.DataFrame) -> Grid:
    """Datasets by what describes them."""
    notes = Notes()
    lines = [
        [
            Cell(row["label"], note=notes.number(row["reason"])),
            *(Cell(_text(row[name]), paper=_text(row[f"paper_{name}"], absent="")) for name in COLUMNS),
        ]
        for _, row in rows.iterrows()
    ]
    header = [("", name) for name in ("Dataset", "Samples", "Clusters", "Dimensions")]
    caption = "What the prepared data hold; beside it the paper's numbers, where the paper has the dataset."
    return Grid("table2", "Table II: datasets", header, lines, caption, notes.texts)


def _text(value: Any, absent: str = "–") -> str:
    if pd.isna(value):
        return absent
    if isinstance(value, str):
        return "×".join(f"{int(side):,}" for side in value.split("x"))
    return f"{int(value):,}"
