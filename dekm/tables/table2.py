"""Table II: the prepared datasets beside those of the paper."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dekm.results.data import read_facts
from dekm.results.result_set import ResultSet
from dekm.tables.loading import subsample_note, warnings_note
from dekm.tables.rendering.grid import Cell, Grid, Notes

SIZES = ("n_samples", "n_clusters", "shape")


def table2(
    results: Path,
    datasets: Sequence[str],
    paper: pd.DataFrame,
    *,
    left_out: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Rows of Table II, one per dataset.

    `paper` has the columns dataset, label, n_samples, n_clusters and shape (sides joined by "x"); `left_out`
    has the reason for each dataset that was left out on purpose.

    Columns dataset, label, n_samples, n_clusters, shape, the last three of the paper, and reason, which
    explains a difference from the paper, why there are no data, or of what the preparation warned.
    """
    rows = []
    for dataset in datasets:
        facts = read_facts(ResultSet(results).data(dataset))
        records = paper[paper["dataset"] == dataset].to_dict("records")
        theirs = {str(name): value for name, value in records[0].items()} if records else {}
        ours = {
            "n_samples": facts.get("n_samples"),
            "n_clusters": facts.get("n_clusters"),
            "shape": "x".join(map(str, facts["shape"])) if "shape" in facts else None,
        }
        row: dict[str, Any] = {
            "dataset": dataset,
            "label": facts.get("label") or theirs.get("label", dataset),
        }
        row |= ours | {f"paper_{name}": theirs.get(name) for name in SIZES}
        rows.append(row | {"reason": _reason(facts, theirs, ours, (left_out or {}).get(dataset))})
    return pd.DataFrame(rows).astype(dict.fromkeys(("n_samples", "n_clusters"), "Int64"))


def _reason(facts: dict[str, Any], theirs: dict[str, Any], ours: dict[str, Any], left_out: str | None) -> str:
    if not facts:
        return f"skipped: {left_out}" if left_out else "not prepared"
    if "damaged" in facts:
        return facts["damaged"]
    different = [name for name in SIZES if theirs and str(theirs[name]) != str(ours[name])]
    note = subsample_note(facts) or (f"differs from the paper in {', '.join(different)}" if different else "")
    return "; ".join(filter(None, [note, warnings_note(facts)]))


def table2_grid(rows: pd.DataFrame) -> Grid:
    """Table II, a row per dataset, with the paper's numbers beside ours."""
    notes = Notes()
    lines = [
        [
            Cell(row["label"], note=notes.number(row["reason"])),
            *(Cell(_text(row[name]), paper=_text(row[f"paper_{name}"], absent="")) for name in SIZES),
        ]
        for _, row in rows.iterrows()
    ]
    header = [("", name) for name in ("Dataset", "Samples", "Clusters", "Dimensions")]
    caption = "The prepared data; the paper's numbers are beside ours for the datasets of the paper."
    return Grid("table2", "Table II: datasets", header, lines, caption, notes.texts)


def _text(value: Any, absent: str = "–") -> str:
    if pd.isna(value):
        return absent
    if isinstance(value, str):
        return "×".join(f"{int(side):,}" if side.isdecimal() else side for side in value.split("x"))
    return f"{int(value):,}"
