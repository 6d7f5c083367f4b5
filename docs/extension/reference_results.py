"""The page of the reference results: charts, and tables that sort and filter without a network."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from itables import options, to_html_datatable
from itables.javascript import generate_init_offline_itables_html

from docs.extension import reference_chart

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"
SHOWN = {"acc": "ACC", "nmi": "NMI", "ari": "ARI", "f1": "F1"}
OPTIONS = {
    "connected": False,
    "allow_html": True,
    "showIndex": False,
    "paging": False,
    "display_logo_when_loading": False,
    "maxBytes": 0,
}


def page() -> str:
    """A table for each set of reference results, and their pages; a sentence if there is none."""
    sets = sorted(file.parent for file in REFERENCE.glob("*/table3.csv"))
    tables = [
        f"## {folder.name}\n\n{_links(folder)}\n\n{_chart(folder)}\n\n{_table(folder)}" for folder in sets
    ]
    pages = [file.relative_to(REFERENCE) for folder in sets for file in sorted(folder.rglob("*.md"))]
    entries = "\n".join(
        f"{file.with_suffix('')} <../results/reference/{file.with_suffix('')}>" for file in pages
    )
    toctree = f"```{{toctree}}\n:hidden:\n\n{entries}\n```\n" if pages else ""
    script = _raw(generate_init_offline_itables_html(options.dt_bundle))
    return "\n".join([script, *tables, toctree]) if sets else "There are no reference results yet.\n"


def _links(folder: Path) -> str:
    """Links to the pages of a set: what made it, its tables, and the cards of its trained models."""
    kinds = {
        "How it was made, and what is missing": ["README.md"],
        "Tables": sorted(file.name for file in folder.glob("*.md") if file.name != "README.md"),
        "Trained models": sorted(file.relative_to(folder).as_posix() for file in folder.glob("models/*.md")),
    }
    return "\n".join(
        f"- {kind}: "
        + ", ".join(f"[{Path(name).stem}](../results/reference/{folder.name}/{name})" for name in names)
        for kind, names in kinds.items()
        if names
    )


def _chart(folder: Path) -> str:
    return _raw(reference_chart.chart(pd.read_csv(folder / "table3.csv")))


def _table(folder: Path) -> str:
    html = to_html_datatable(pd.DataFrame(rows(folder)), classes="display compact", **OPTIONS)
    return _raw(html)


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```\n"


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """One row for each cell and score; its number of seeds opens what is known of its runs."""
    tables = (pd.read_csv(folder / name) for name in ("table3.csv", "further.csv"))
    cells = pd.concat(tables)
    runs = pd.read_csv(folder / "runs.csv").sort_values("seed")
    runs = runs[runs["failed"].isna()] if "failed" in runs else runs  # the table's notes name the others
    for cell in cells[cells["metric"].isin(SHOWN)].to_dict("records"):
        own = runs[(runs["dataset"] == cell["dataset"]) & (runs["subject"] == cell["method"])]
        yield {
            "dataset": escape(str(cell["dataset_label"])),
            "method": escape(str(cell["method_label"])),
            "score": SHOWN[cell["metric"]],
            "here (%)": _number(cell["mean"]),
            "sd": _number(cell["sd"]),
            "paper (%)": _number(cell["paper"]),
            "difference": _number(cell["difference"]),
            "runs": _runs(cell, own, folder.name),
        }


def _runs(cell: Mapping[str, Any], runs: pd.DataFrame, name: str) -> str:
    if pd.isna(cell["mean"]):
        reason = cell["reason"]
        return "not run" if pd.isna(reason) else escape(str(reason))
    target = f"results/{name}/runs/{cell['dataset']}/{cell['method']}/summary.json"
    known = {
        "seeds": _listed(runs["seed"]),
        "each (%)": _listed((100 * runs[cell["metric"]]).map("{:.2f}".format)),
        "seconds": _listed(runs["seconds"].map("{:.0f}".format)),
        "commit": _listed(runs["commit"].unique()),
        "again": f"snakemake {target} --force --config fresh=true",
    }
    items = "".join(f"<li>{key}: <code>{escape(value)}</code></li>" for key, value in known.items())
    seeds = "1 seed" if len(runs) == 1 else f"{len(runs)} seeds"
    return f"<details><summary>{seeds}</summary><ul>{items}</ul></details>"


def _listed(values: Any) -> str:
    return ", ".join(map(str, values))


def _number(value: Any) -> str:
    return "" if pd.isna(value) else f"{value:.2f}"
