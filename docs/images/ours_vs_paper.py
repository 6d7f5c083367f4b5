"""Draw the README's picture of results/reference beside the paper, and write the table of its page.

python docs/images/ours_vs_paper.py
"""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import pandas as pd

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"
SETS = ("paper", "four_datasets", "news20")  # a cell is that of the first set with the most seeds
TABLE = re.compile(r"^\| \|.*\n\|---.*\n(?:\|.*\n)+", re.M)  # of every score, on the page
KEYS = ["dataset", "method", "metric"]
OURS, OTHERS, PAPER = "#2f7fd0", "#4f5a66", "#c4ccd6"


def front(table: str) -> pd.DataFrame:
    """The cells of a table of the sets that the README shows."""
    files = [REFERENCE / name / table for name in SETS]
    cells = pd.concat([pd.read_csv(file) for file in files], ignore_index=True)
    seeds = cells["n_seeds"].fillna(0)
    found = cells.loc[seeds.sort_values(ascending=False, kind="stable").index].drop_duplicates(KEYS)
    order = cells.drop_duplicates(KEYS)[KEYS]  # that of the tables
    return order.merge(found, on=KEYS)


def accuracies() -> pd.DataFrame:
    """What is drawn: mean and standard deviation of ACC here and the paper's, in percent."""
    cells = front("table3.csv").query("metric == 'acc'")
    with_paper = cells.dropna(subset="paper")
    of_paper = cells["method"].isin(with_paper["method"]) & cells["dataset"].isin(with_paper["dataset"])
    cells = cells[of_paper].dropna(subset=["mean", "paper"], how="all")
    columns = ["dataset_label", "method_label", "mean", "sd", "n_seeds", "paper"]
    return cells[columns].round(2).reset_index(drop=True)


def table_of_page() -> str:
    """ACC/NMI of all cells in Markdown, with the paper's numbers in brackets; a dash if one was not run."""
    cells = front("table3.csv")
    cells = cells[cells["metric"].isin(["acc", "nmi"])]
    of_paper = cells.dropna(subset="paper")["dataset_label"]
    datasets = list(dict.fromkeys([*of_paper, *cells["dataset_label"]]))
    lines = [f"| | {' | '.join(datasets)} |", "|---" * (len(datasets) + 1) + "|"]
    for method in dict.fromkeys(cells["method_label"]):
        row = cells[cells["method_label"] == method]
        scores = [score(row[row["dataset_label"] == dataset]) for dataset in datasets]
        lines.append(f"| {method} | {' | '.join(scores)} |")
    return "\n".join(lines) + "\n"


def score(cell: pd.DataFrame) -> str:
    """ACC/NMI of a cell, and those of the paper if it has one."""
    if cell["mean"].isna().all():
        return "–"
    here, paper = (
        "/".join("–" if pd.isna(value) else f"{value:.{digits}f}" for value in cell[name])
        for name, digits in (("mean", 1), ("paper", 2))
    )
    return f"{here} ({paper})" if cell["paper"].notna().any() else here


def draw(cells: pd.DataFrame) -> plt.Figure:
    """One panel per dataset, one row per method."""
    methods = list(dict.fromkeys(cells["method_label"]))
    datasets = list(dict.fromkeys(cells["dataset_label"]))
    figure, axes = plt.subplots(1, len(datasets), figsize=(11, 4), sharey=True, layout="constrained")
    for axis, dataset in zip(axes, datasets, strict=True):
        rows = cells[cells["dataset_label"] == dataset]
        places = rows["method_label"].map(methods.index)
        seeds = int(rows["n_seeds"].max())
        axis.hlines(places, rows["mean"], rows["paper"], color=PAPER, linewidth=4, zorder=1)
        for is_ours, color in ((True, OURS), (False, OTHERS)):
            chosen = rows["method_label"].str.startswith("DEKM") == is_ours
            label = "DEKM here, mean ± sd" if is_ours else "the other methods here"
            points = rows["mean"][chosen], places[chosen]
            axis.errorbar(*points, xerr=rows["sd"][chosen], fmt="o", color=color, label=label, zorder=2)
        paper = {"markerfacecolor": "none", "markersize": 8, "color": "black", "label": "the paper"}
        axis.plot(rows["paper"], places, "D", **paper, zorder=3)
        axis.set_title(f"{dataset}, {seeds} seed" + ("s" if seeds > 1 else ""), fontsize=11)
        axis.set_xlabel("ACC (%)")
        axis.grid(axis="x", color="#e6e6e6")
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(left=False)
    axes[0].set_yticks(range(len(methods)), methods)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


if __name__ == "__main__":
    table = accuracies()
    table.to_csv(Path(__file__).with_suffix(".csv"), index=False)
    page = REFERENCE / "README.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(TABLE.sub(lambda _: table_of_page(), text), encoding="utf-8")
    draw(table).savefig(Path(__file__).with_suffix(".png"), dpi=150, metadata={"Software": None})
