"""The paper's tables from the results of the runs, beside the paper's numbers, and what they lack."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from dekm.files import write_text
from dekm.tables.cells import averages, read_results, table3
from dekm.tables.claims import claims_grid, judge_claims
from dekm.tables.grid import Grid
from dekm.tables.html import to_html
from dekm.tables.latex import to_latex
from dekm.tables.markdown import to_markdown
from dekm.tables.ranks import mean_ranks, ranks_grid
from dekm.tables.scores import further_cells, further_grid, score_grid
from dekm.tables.table2 import table2, table2_grid
from dekm.tables.verdicts import verdicts, verdicts_grid

__all__ = ["write_table2", "write_table3"]


def write_table2(
    results: Path,
    datasets: Sequence[str],
    paper_file: Path,
    folder: Path,
    *,
    left_out: Mapping[str, str] | None = None,
) -> None:
    """Write ``table2.csv``, ``.md``, ``.tex`` and ``.html``; `left_out` says why a dataset has no data."""
    rows = table2(results, datasets, pd.read_csv(paper_file), left_out=left_out)
    grid = table2_grid(rows)
    _write(folder, rows, grid)
    write_text(folder / "table2.tex", to_latex(grid))
    write_text(folder / "table2.html", to_html(grid.title, [grid]))


def write_table3(
    results: Path,
    datasets: Sequence[str],
    methods: Sequence[str],
    paper_file: Path,
    folder: Path,
    *,
    strategies: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> None:
    """Write Table III and what follows from it.

    ``table3.csv`` (one row per cell and metric), ``.md``, ``.tex`` and ``.html``; ``further`` (ARI,
    seconds, memory), ``ranks``, ``claims`` and ``verdicts``, each ``.csv`` and ``.md``. The page
    ``table3.html`` holds all of them.

    Parameters
    ----------
    paper_file : the paper's numbers; ``claims.csv`` lies beside it
    strategies : methods that are no rows of Table III, but that claims are about
    labels : names of datasets and methods, for those of which the results hold nothing
    left_out : datasets that were left out on purpose, and why
    """
    found = read_results(results, datasets, methods, labels=labels, left_out=left_out)
    paper = pd.read_csv(paper_file)
    cells, further = table3(found, paper), further_cells(found, results)
    ranks, judged = mean_ranks(cells), verdicts(cells, paper)
    everything = averages(read_results(results, datasets, [*methods, *strategies]), found.scores)
    claims = judge_claims(pd.read_csv(paper_file.with_name("claims.csv")), everything, paper)
    pages = (
        (cells, score_grid(cells)),
        (further, further_grid(further)),
        (ranks, ranks_grid(ranks)),
        (claims, claims_grid(claims)),
        (judged, verdicts_grid(judged)),
    )
    for frame, grid in pages:
        _write(folder, frame, grid)
    grids = [grid for _, grid in pages]
    write_text(folder / "table3.tex", to_latex(grids[0]))
    write_text(folder / "table3.html", to_html("Clustering results", grids))


def _write(folder: Path, frame: pd.DataFrame, grid: Grid) -> None:
    write_text(folder / f"{grid.name}.csv", frame.to_csv(index=False, float_format="%.4f"))
    write_text(folder / f"{grid.name}.md", to_markdown(grid))
