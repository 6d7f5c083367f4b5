"""Table III, a table of scores and costs that the paper does not report, and which methods share starts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dekm.tables.cells import PERCENT, RUN_KEYS, averages, not_in_paper, rank, runs_of
from dekm.tables.loading import LoadedResults
from dekm.tables.rendering.grid import Cell, Grid, Notes
from dekm.tables.statistics.inference import LEVEL

FURTHER_SCORES = ("ari", "f1")
FURTHER = ("n_clusters_found", "seconds", "peak_memory")
RESULTS = "Clustering results"  # title where the paper has no numbers
METRICS = {  # label and format of each
    "acc": ("ACC", ".2f"),
    "nmi": ("NMI", ".2f"),
    "ari": ("ARI", ".2f"),
    "f1": ("F1", ".2f"),
    "silhouette": ("Silhouette", ".3f"),
    "davies_bouldin": ("Davies-Bouldin", ".2f"),
    "n_clusters_found": ("Clusters found", ".3g"),
    "seconds": ("Seconds", ".1f"),
    "peak_memory": ("Peak MiB", ".0f"),
}
MARKS = (
    "The best of a column is bold, the second underlined or in italics, by unrounded means; ≈ marks methods "
    "that may be the best too: the truly best one is bold or marked with a probability of at least "
    f"{1 - LEVEL:.0%} (t tests over the seeds, paired where methods start from the same autoencoders; a "
    "method with one seed is not tested)."
)

OUTSIDE = "Not a method of the paper's table; the marks of best and the mean ranks count it."
WITHOUT_LABELS = (
    "Datasets without true labels show the silhouette (more is better) and the Davies-Bouldin index (less is "
    "better) of the samples, and the number of clusters that hold samples, without ranks: neither of the "
    "indices compares methods that learn embeddings."
)


def score_grid(cells: pd.DataFrame, more: Sequence[str] = ()) -> Grid:
    """Table III with the paper's numbers beside ours; `more` are further sentences of its caption."""
    caption = " ".join(filter(None, [_score_caption(cells), *more]))
    return _grid("table3", f"Table III: {RESULTS.lower()}" if _has_paper(cells) else RESULTS, cells, caption)


def further_cells(results: LoadedResults) -> pd.DataFrame:
    """Cells of ARI, F1, seconds per run and peak memory: the columns of `averages`, place and tied.

    ARI and F1 are in percent. The memory, in MiB, is the largest of the seeds, whose processes may have made
    others before.
    """
    datasets = results.cells["dataset"].unique()
    labelled = {dataset: "acc" in results.scores[dataset] for dataset in datasets}
    wanted = {dataset: (*(FURTHER_SCORES if labelled[dataset] else ()), *FURTHER) for dataset in datasets}
    cells = averages(results, wanted)
    memory = cells["metric"] == "peak_memory"
    largest = runs_of(results, ["peak_memory"]).groupby(RUN_KEYS)["value"].max()
    cells["mean"] = cells["mean"].mask(
        memory, largest.reindex(pd.MultiIndex.from_frame(cells[RUN_KEYS])).to_numpy()
    )
    cells["sd"] = cells["sd"].mask(memory)
    cells["reason"] = cells["reason"].mask(memory, "")
    return rank(cells, runs_of(results, FURTHER_SCORES))


def further_grid(cells: pd.DataFrame) -> Grid:
    """Table of ARI, F1, time and memory, methods by datasets and metrics."""
    has_scores = bool(set(cells["metric"]) & {*FURTHER_SCORES})
    scores = "ARI, and F1 as the mean over the classes under the mapping of ACC, in percent; "
    seeds = _seeds(cells)
    caption = (
        f"{scores + seeds if has_scores else seeds.capitalize()} Seconds are those of one run without shared "
        "pretraining and scoring (on a GPU the seeds of a cell run concurrently). Peak memory is the largest "
        "resident memory of the process that ran the seeds of a cell, without that of a GPU; – means not "
        "measured."
    )
    title = "ARI, F1, time and memory" if has_scores else "Time and memory"
    return _grid("further", title, cells, caption)


def _grid(name: str, title: str, cells: pd.DataFrame, caption: str) -> Grid:
    """Table of methods by pairs of dataset and metric."""
    notes = Notes()
    columns = cells[["dataset", "dataset_label", "metric"]].drop_duplicates()
    by_key = {(row["dataset"], row["method"], row["metric"]): row for _, row in cells.iterrows()}
    outside = not_in_paper(cells) if "paper_quoted" in cells else set()
    rows = [
        [
            Cell(label, note=notes.number(OUTSIDE if method in outside else "")),
            *(
                _cell(by_key[dataset, method, metric], notes)
                for dataset, metric in zip(columns["dataset"], columns["metric"], strict=True)
            ),
        ]
        for method, label in dict(zip(cells["method"], cells["method_label"], strict=True)).items()
    ]
    header = [
        (label, METRICS[metric][0])
        for label, metric in zip(columns["dataset_label"], columns["metric"], strict=True)
    ]
    return Grid(name, title, [("", "Method"), *header], rows, caption, notes.texts)


def _cell(cell: pd.Series, notes: Notes) -> Cell:
    number_format = METRICS[cell["metric"]][1]
    note, paper = notes.number(cell["reason"]), _paper(cell, notes)
    if pd.isna(cell["mean"]):
        return Cell("–", note=note, **paper)
    return Cell(
        text=f"{cell['mean']:{number_format}}",
        sd="" if pd.isna(cell["sd"]) else f"{cell['sd']:{number_format}}",
        place=None if pd.isna(cell["place"]) else int(cell["place"]),
        tied=bool(cell["tied"]),
        note=note,
        **paper,
    )


def _paper(cell: pd.Series, notes: Notes) -> dict[str, Any]:
    """What the paper has in a cell; empty if it is not a cell of the paper."""
    if not isinstance(cell.get("paper_quoted"), str):
        return {}
    difference = "" if pd.isna(cell["difference"]) else f"{cell['difference']:+.2f}"
    remark = f"The paper's number: {cell['paper_remark']}." if cell["paper_remark"] else ""
    return {
        "paper": "–" if pd.isna(cell["paper"]) else f"{cell['paper']:.2f}",
        "quoted": cell["paper_quoted"] == "yes",
        "difference": difference.replace("-", "−"),
        "paper_note": notes.number(remark),
    }


def _score_caption(cells: pd.DataFrame) -> str:
    metrics, sentences = set(cells["metric"]), []
    if metrics & PERCENT:
        sentences += [f"ACC and NMI in percent: {_seeds(cells)}", MARKS]
    if metrics - PERCENT:
        sentences += [WITHOUT_LABELS] if sentences else [WITHOUT_LABELS, _seeds(cells).capitalize()]
    if _has_paper(cells):
        sentences.append(
            "The paper's numbers and the differences (ours minus the paper's) are beside ours; * marks "
            "numbers that the paper quotes, – numbers that it does not report. The origin of each is in the "
            "table of origins."
        )
    return " ".join(sentences)


def _has_paper(cells: pd.DataFrame) -> bool:
    return "paper_quoted" in cells and bool(cells["paper_quoted"].notna().any())


def _seeds(cells: pd.DataFrame) -> str:
    counts: Sequence[int] = sorted(set(cells.loc[cells["n_seeds"] > 0, "n_seeds"]))
    seeds = " or ".join(map(str, counts)) or "no"
    return f"mean ± standard deviation over {seeds} seed{'s' if counts != [1] else ''}."


def starts_caption(runs: pd.DataFrame) -> str:
    """Sentence on the methods that start from the same autoencoders wherever both were run; else empty."""
    groups: list[tuple[list[str], dict[tuple[str, int], str]]] = []
    started = runs[runs["pretrained"] != ""]
    for label, rows in started.groupby("method_label", sort=False):
        places = zip(rows["dataset"], rows["seed"], strict=True)
        keys = dict(zip(places, rows["pretrained"], strict=True))
        same = next((group for group in groups if _agree(keys, group[1])), ([], {}))
        groups += [] if same in groups else [same]
        same[0].append(str(label))
        same[1].update(keys)
    lists = "; ".join(", ".join(labels) for labels, _ in groups)
    return f"Groups of methods that start from the same pretrained autoencoders: {lists}." if lists else ""


def _agree(a: Mapping[tuple[str, int], str], b: Mapping[tuple[str, int], str]) -> bool:
    common = a.keys() & b.keys()
    return bool(common) and all(a[run] == b[run] for run in common)
