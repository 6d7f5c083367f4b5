"""Draw the README's picture of results/reference/paper beside the paper, and write the tables of both pages.

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
CELLS = REFERENCE / "paper" / "table3.csv"
PAGES = {  # and the rows of their tables; () are all
    ROOT / "README.md": ("DEKM", "DCEC", "K-means", "UMAP+GMM", "N2D"),
    REFERENCE / "README.md": (),
}
TABLE = re.compile(r"^\| \| MNIST .*\n\|---.*\n(?:\|.*\n)+", re.M)  # of scores, on a page
OURS, OTHERS, PAPER = "#2f7fd0", "#4f5a66", "#c4ccd6"


def accuracies() -> pd.DataFrame:
    """What is drawn: mean and standard deviation of ACC here and the paper's, in percent."""
    cells = pd.read_csv(CELLS).query("metric == 'acc'")
    with_paper = cells.dropna(subset="paper")
    of_paper = cells["method"].isin(with_paper["method"]) & cells["dataset"].isin(with_paper["dataset"])
    cells = cells[of_paper].dropna(subset=["mean", "paper"], how="all")
    columns = ["dataset_label", "method_label", "mean", "sd", "n_seeds", "paper"]
    return cells[columns].round(2).reset_index(drop=True)


def table_of_page(methods: tuple[str, ...] = ()) -> str:
    """ACC/NMI in Markdown, of all methods or those with these labels, with the paper's numbers in brackets.

    A cell that was not run has a dash.
    """
    cells = pd.read_csv(CELLS).query("metric in ['acc', 'nmi']")
    of_paper = cells.dropna(subset="paper")["dataset_label"]
    datasets = list(dict.fromkeys([*of_paper, *cells["dataset_label"]]))
    lines = [f"| | {' | '.join(datasets)} |", "|---" * (len(datasets) + 1) + "|"]
    for method in methods or dict.fromkeys(cells["method_label"]):
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
        seeds = " to ".join(
            f"{int(n)}" for n in dict.fromkeys([rows["n_seeds"].min(), rows["n_seeds"].max()])
        )
        axis.hlines(places, rows["mean"], rows["paper"], color=PAPER, linewidth=4, zorder=1)
        for is_ours, color in ((True, OURS), (False, OTHERS)):
            chosen = rows["method_label"].str.startswith("DEKM") == is_ours
            label = "DEKM and DEKM_F here, mean ± sd" if is_ours else "the other methods here"
            points = rows["mean"][chosen], places[chosen]
            axis.errorbar(*points, xerr=rows["sd"][chosen], fmt="o", color=color, label=label, zorder=2)
        paper = {"markerfacecolor": "none", "markersize": 8, "color": "black", "label": "the paper"}
        axis.plot(rows["paper"], places, "D", **paper, zorder=3)
        axis.set_title(f"{dataset}, {seeds} seeds", fontsize=11)
        axis.set_xlabel("ACC (%)")
        axis.grid(axis="x", color="#e6e6e6")
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(left=False)
    axes[0].set_yticks(range(len(methods)), methods)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def insert_table(page: Path, methods: tuple[str, ...]) -> None:
    """Replace the table of scores of a page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(TABLE.sub(lambda _: table_of_page(methods), text), encoding="utf-8")


if __name__ == "__main__":
    drawn = accuracies()
    drawn.to_csv(Path(__file__).with_suffix(".csv"), index=False)
    draw(drawn).savefig(Path(__file__).with_suffix(".png"), dpi=150, metadata={"Software": None})
    for page, methods in PAGES.items():
        insert_table(page, methods)
