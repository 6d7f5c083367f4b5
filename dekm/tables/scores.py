"""Table III and what the paper leaves out of it, as grids of text."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from dekm.results.result_set import ResultSet
from dekm.tables.cells import PERCENT, Results, averages, rank
from dekm.tables.grid import Cell, Grid, Notes

COSTS = ("ari", "seconds", "peak_memory")
LABELS = {
    "acc": "ACC",
    "nmi": "NMI",
    "ari": "ARI",
    "inertia": "Inertia",
    "silhouette": "Silhouette",
    "n_clusters_found": "Clusters",
    "seconds": "Seconds",
    "peak_memory": "Peak MiB",
}
FORMATS = {
    "inertia": ".4g",
    "silhouette": ".3f",
    "n_clusters_found": ".3g",
    "seconds": ".1f",
    "peak_memory": ".0f",
}
MARKS = "Best in bold, second underlined, by unrounded means; ≈ within noise of the best: closer to it than "
MARKS += "the standard error of the difference."


def score_grid(cells: pd.DataFrame) -> Grid:
    """Methods by datasets; the paper's numbers beside ours."""
    return _grid("table3", "Table III: clustering results", cells, _score_caption(cells))


def further_cells(results: Results, folder: Path) -> pd.DataFrame:
    """Cells of ARI, seconds per run and peak memory of the job, which ran all seeds of a cell.

    Parameters
    ----------
    folder : of the results; the memory is ``max_rss`` of Snakemake's benchmark of the job
    """
    datasets = results.cells["dataset"].unique()
    cells = averages(results, dict.fromkeys(datasets, COSTS))
    for index, cell in cells[(cells["metric"] == "peak_memory") & (cells["n_seeds"] == 0)].iterrows():
        file = ResultSet(folder).benchmark_file(cell["dataset"], cell["method"])
        if file.is_file():
            memory = pd.to_numeric(pd.read_csv(file, sep="\t")["max_rss"], errors="coerce")
            cells.loc[index, "mean"] = memory.max()
    cells.loc[cells["metric"] == "peak_memory", "reason"] = ""
    return rank(cells)


def further_grid(cells: pd.DataFrame) -> Grid:
    """Methods by datasets: what `further_cells` found."""
    caption = (
        f"ARI in percent; {_seeds(cells)} Seconds of one run, without the pretraining that it shares and "
        "without scoring (on a GPU the seeds of a cell run at once); peak memory of the job that ran all "
        "seeds of a cell, – if not measured."
    )
    return _grid("further", "ARI, time and memory", cells, caption)


def _grid(name: str, title: str, cells: pd.DataFrame, caption: str) -> Grid:
    """Cells as text, methods by (dataset, metric)."""
    notes = Notes()
    columns = cells[["dataset", "dataset_label", "metric"]].drop_duplicates()
    of = {(row["dataset"], row["method"], row["metric"]): row for _, row in cells.iterrows()}
    rows = [
        [
            Cell(label),
            *(
                _cell(of[dataset, method, metric], notes)
                for dataset, metric in zip(columns["dataset"], columns["metric"], strict=True)
            ),
        ]
        for method, label in dict(zip(cells["method"], cells["method_label"], strict=True)).items()
    ]
    header = [
        (label, LABELS[metric])
        for label, metric in zip(columns["dataset_label"], columns["metric"], strict=True)
    ]
    return Grid(name, title, [("", "Method"), *header], rows, caption, notes.texts)


def _cell(cell: pd.Series, notes: Notes) -> Cell:
    form = FORMATS.get(cell["metric"], ".2f")
    note = notes.number(cell["reason"])
    paper, difference, quoted = "", "", False
    if isinstance(cell.get("paper_quoted"), str):
        quoted = cell["paper_quoted"] == "yes"
        paper = "–" if pd.isna(cell["paper"]) else f"{cell['paper']:.2f}"
        difference = "" if pd.isna(cell["difference"]) else f"{cell['difference']:+.2f}".replace("-", "−")
    if pd.isna(cell["mean"]):
        return Cell("–", paper=paper, quoted=quoted, note=note)
    return Cell(
        text=f"{cell['mean']:{form}}",
        sd="" if pd.isna(cell["sd"]) else f"{cell['sd']:{form}}",
        paper=paper,
        quoted=quoted,
        difference=difference,
        place=None if pd.isna(cell["place"]) else int(cell["place"]),
        tied=bool(cell["tied"]),
        note=note,
    )


def _score_caption(cells: pd.DataFrame) -> str:
    caption = f"Percent; {_seeds(cells)} {MARKS}"
    if set(cells["metric"]) - PERCENT:
        caption += " Where a dataset has no labels: inertia, silhouette and clusters found, not ranked."
    if "paper_quoted" in cells and cells["paper_quoted"].notna().any():
        caption += " Beside ours the paper's numbers and ours minus the paper's; * marks those it quotes,"
        caption += " – those it lacks."
    return caption


def _seeds(cells: pd.DataFrame) -> str:
    counts: Sequence[int] = sorted(set(cells.loc[cells["n_seeds"] > 0, "n_seeds"]))
    seeds = " or ".join(map(str, counts)) or "no"
    text = f"mean ± standard deviation over {seeds} seed{'s' if counts != [1] else ''}."
    return text + (" A single seed shows no noise." if 1 in counts else "")
