"""The page of the reference results: tables that sort and filter without a network."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from itables import to_html_datatable

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"
SHOWN = {"acc": "ACC", "nmi": "NMI", "ari": "ARI"}


def page() -> str:
    """A table for each set of reference results; a sentence if there is none."""
    sets = sorted(file.parent for file in REFERENCE.glob("*/table3.csv"))
    sets += sorted(file.parent for file in REFERENCE.glob("*/tables/table3.csv"))
    if not sets:
        return "There are no reference results yet.\n"
    return "\n".join(f"## {_name(folder)}\n\n{_table(folder)}\n" for folder in sets)


def _name(folder: Path) -> str:
    return folder.relative_to(REFERENCE).parts[0]


def _table(folder: Path) -> str:
    frame = pd.DataFrame(list(rows(folder)))
    html = to_html_datatable(
        frame,
        connected=False,
        allow_html=True,
        showIndex=False,
        paging=False,
        classes="display compact",
        style="width:100%",
    )
    return f"```{{raw}} html\n{html}\n```"


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """One row for each cell and score; our number opens what is known of its runs."""
    tables = [
        pd.read_csv(folder / name) for name in ("table3.csv", "further.csv") if (folder / name).is_file()
    ]
    cells = pd.concat(tables)
    provenance = runs(folder)
    seconds = cells[cells["metric"] == "seconds"].set_index(["dataset", "method"])["mean"].to_dict()
    for cell in cells[cells["metric"].isin(SHOWN)].to_dict("records"):
        key = cell["dataset"], cell["method"]
        yield {
            "dataset": escape(str(cell["dataset_label"])),
            "method": escape(str(cell["method_label"])),
            "score": SHOWN[cell["metric"]],
            "here (%)": _opening(cell, seconds.get(key), provenance.get("/".join(key), {}), _name(folder)),
            "sd": _number(cell["sd"]),
            "paper (%)": _number(cell.get("paper")),
            "difference": _number(cell.get("difference")),
        }


def runs(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """What made the cells, by "dataset/method": the facts of their runs, if ``runs.json`` is there."""
    file = folder / "runs.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _opening(cell: Mapping[str, Any], seconds: float | None, facts: Mapping[str, Any], name: str) -> str:
    if pd.isna(cell["mean"]):
        return escape(str(cell.get("reason") or "not run"))
    details = {
        "seeds": facts.get("seeds", cell["n_seeds"]),
        "seconds of a seed": None if seconds is None else f"{seconds:.0f}",
        "commit": facts.get("commit"),
        "device": facts.get("device"),
        "again": f"snakemake --cores all runs/{cell['dataset']}/{cell['method']}/summary.json",
    }
    items = "".join(
        f"<li>{key}: <code>{escape(str(value))}</code></li>" for key, value in details.items() if value
    )
    return f"<details><summary>{cell['mean']:.2f}</summary><ul>{items}</ul></details>"


def _number(value: Any) -> float | str:
    return "" if value is None or pd.isna(value) else round(float(value), 2)
