"""Table III from the summaries of the runs, beside the paper's numbers."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from dekm.provenance import read_json, write_text

METRICS = ("acc", "nmi")


def read_cells(results: Path, datasets: Sequence[str], methods: Sequence[str]) -> pd.DataFrame:
    """One row per run: dataset, method, their labels, seed and the final metrics."""
    rows = []
    for dataset in datasets:
        dataset_label = read_json(results / "data" / dataset / "facts.json")["label"]
        for method in methods:
            summary = read_json(results / "runs" / dataset / method / "summary.json")
            cell = {
                "dataset": dataset,
                "dataset_label": dataset_label,
                "method": method,
                "method_label": summary["label"],
            }
            rows += [cell | {"seed": int(seed)} | run for seed, run in summary["seeds"].items()]
    return pd.DataFrame(rows)


def table3(runs: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """One row per cell and metric, in percent: mean, standard deviation, number of seeds, the paper's.

    Parameters
    ----------
    runs : as `read_cells` returns it
    paper : columns dataset, method, metric, value (percent) and quoted ("yes" where the paper quotes
        the number from another)
    """
    keys = ["dataset", "dataset_label", "method", "method_label"]
    scores = runs.melt(id_vars=[*keys, "seed"], value_vars=list(METRICS), var_name="metric")
    scores["value"] *= 100
    cells = scores.groupby([*keys, "metric"], sort=False)["value"].agg(["mean", "std", "count"]).reset_index()
    cells = cells.rename(columns={"std": "sd", "count": "n_seeds"})
    paper = paper.rename(columns={"value": "paper", "quoted": "paper_quoted"})
    return cells.merge(paper, on=["dataset", "method", "metric"], how="left")


def write_table3(
    results: Path, datasets: Sequence[str], methods: Sequence[str], paper_file: Path, folder: Path
) -> None:
    """Write ``table3.csv`` (one row per cell and metric), ``table3.md`` and ``table3.tex``."""
    cells = table3(read_cells(results, datasets, methods), pd.read_csv(paper_file))
    write_text(folder / "table3.csv", cells.to_csv(index=False, float_format="%.4f"))
    write_text(folder / "table3.md", to_markdown(cells))
    write_text(folder / "table3.tex", to_latex(cells))


def to_markdown(cells: pd.DataFrame) -> str:
    """A table of methods by datasets; the paper's numbers in brackets, an asterisk where it quotes them."""
    wide = _wide(cells, "{mean:.2f} ± {sd:.2f}", "{mean:.2f}", " [{paper:.2f}{star}]", star="*")
    columns = ["Method", *(" ".join(column) for column in wide.columns)]
    lines = [[str(label), *row] for label, row in zip(wide.index, wide.to_numpy(), strict=True)]
    widths = [max(map(len, column)) for column in zip(columns, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    padded = [
        "| " + " | ".join(value.ljust(width) for value, width in zip(line, widths, strict=True)) + " |"
        for line in (columns, rule, *lines)
    ]
    return "\n".join([*padded, "", _caption(cells), ""])


def to_latex(cells: pd.DataFrame) -> str:
    """The same table for LaTeX with booktabs, under the paper's two-level header."""
    wide = _wide(cells, r"${mean:.2f} \pm {sd:.2f}$", "${mean:.2f}$", " [{paper:.2f}{star}]", star="$^*$")
    wide.index = wide.index.str.replace("_", r"\_")
    header = [
        " & ".join(["", *(rf"\multicolumn{{2}}{{c}}{{{label}}}" for label in wide.columns.unique(0))]),
        " & ".join(["Method", *wide.columns.get_level_values(1)]),
    ]
    lines = [" & ".join([label, *row]) for label, row in zip(wide.index, wide.to_numpy(), strict=True)]
    body = " \\\\\n".join([*header, "\\midrule\n" + lines[0], *lines[1:]])
    columns = "l" + "l" * wide.shape[1]
    return (
        f"% {_caption(cells)}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body} \\\\\n\\bottomrule\n"
        "\\end{tabular}\n"
    )


def _wide(cells: pd.DataFrame, several: str, one: str, beside: str, *, star: str) -> pd.DataFrame:
    """Cells as text, methods by (dataset, metric)."""

    def text(cell: pd.Series) -> str:
        ours = (one if pd.isna(cell["sd"]) else several).format(mean=cell["mean"], sd=cell["sd"])
        if pd.isna(cell["paper_quoted"]):
            return ours
        if pd.isna(cell["paper"]):
            return f"{ours} [–]"
        return ours + beside.format(paper=cell["paper"], star=star if cell["paper_quoted"] == "yes" else "")

    shown = cells.assign(text=cells.apply(text, axis=1), metric=cells["metric"].str.upper())
    wide = shown.pivot(index="method_label", columns=["dataset_label", "metric"], values="text")
    columns = pd.MultiIndex.from_product([shown["dataset_label"].unique(), shown["metric"].unique()])
    return wide.reindex(index=shown["method_label"].unique(), columns=columns)


def _caption(cells: pd.DataFrame) -> str:
    n_seeds = sorted({int(n) for n in cells["n_seeds"]})
    seeds = " or ".join(map(str, n_seeds))
    caption = f"Percent; mean ± standard deviation over {seeds} seed{'s' if n_seeds != [1] else ''}."
    if cells["paper_quoted"].notna().any():
        caption += " In brackets the paper's numbers; * marks those it quotes, – those it lacks."
    return caption
