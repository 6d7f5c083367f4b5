"""The chart of a set of reference results: a panel per dataset, ACC here and in the paper."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import pandas as pd

WIDTH, ROW, NAMES, RIGHT = 330, 19, 92, 14  # a panel and a row; room for the names, and right of the axis
TICKS = (0, 25, 50, 75, 100)
KEY = "ACC in percent. Filled: the mean here, with its standard deviation over the seeds; open: the paper."


def chart(cells: pd.DataFrame) -> str:
    """Panels as SVG, in the colours of the page, of the cells of ``table3.csv``; none without a score."""
    shown = cells[cells["metric"] == "acc"].dropna(subset=["mean", "paper"], how="all")
    panels = [
        _panel(str(rows["dataset_label"].iloc[0]), rows.to_dict("records"))
        for _, rows in shown.groupby("dataset", sort=False)
        if rows["mean"].notna().any()
    ]
    if not panels:
        return ""
    return f'<p class="chart-key">{KEY}</p>\n<div class="chart">{"".join(panels)}</div>'


def _panel(dataset: str, cells: list[dict[Any, Any]]) -> str:
    bottom = ROW * len(cells) + 4
    axis = "".join(
        f'<line class="grid" x1="{place(tick)}" x2="{place(tick)}" y1="0" y2="{bottom}"/>'
        f'<text class="tick" x="{place(tick)}" y="{bottom + 13}">{tick}</text>'
        for tick in TICKS
    )
    rows = "".join("".join(_row(cell, ROW * i + ROW / 2 + 2)) for i, cell in enumerate(cells))
    box = f'viewBox="0 0 {WIDTH} {bottom + 18}" role="img"'
    label = escape(f"ACC on {dataset}, here and in the paper")
    return (
        f'<figure><figcaption>{escape(dataset)}</figcaption><svg {box} aria-label="{label}">'
        f"{axis}{rows}</svg></figure>"
    )


def _row(cell: Mapping[Any, Any], y: float) -> Iterator[str]:
    name, mean, paper = str(cell["method_label"]), cell["mean"], cell["paper"]
    yield f'<text class="name" x="{NAMES - 8}" y="{y + 4}">{escape(name)}</text>'
    if pd.notna(mean) and pd.notna(paper):
        yield f'<line class="gap" x1="{place(mean)}" x2="{place(paper)}" y1="{y}" y2="{y}"/>'
    if pd.notna(mean):
        if pd.notna(cell["sd"]):
            ends = f'x1="{place(mean - cell["sd"])}" x2="{place(mean + cell["sd"])}"'
            yield f'<line class="sd" {ends} y1="{y}" y2="{y}"/>'
        kind = "own" if str(cell["method"]).startswith("dekm") else "other"
        title = f"<title>{escape(name)}: {mean:.2f}</title>"
        yield f'<circle class="{kind}" cx="{place(mean)}" cy="{y}" r="4">{title}</circle>'
    if pd.notna(paper):
        title = f"<title>{escape(name)} in the paper: {paper:.2f}</title>"
        yield f'<path class="paper" d="M{place(paper)} {y - 5}l5 5l-5 5l-5 -5z">{title}</path>'


def place(score: float) -> float:
    """Place of a score in percent on the axis of a panel."""
    return round(NAMES + (WIDTH - NAMES - RIGHT) * score / 100, 1)
