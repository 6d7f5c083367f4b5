"""Tables II and III beside the paper's numbers, and the tables derived from them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from dekm.files import write_text
from dekm.files.tables import read_table
from dekm.markup import to_csv
from dekm.results.advice import advice
from dekm.results.comparison import compare as compare_methods  # not the module dekm.tables.compare
from dekm.results.data import read_facts
from dekm.results.record import Record
from dekm.results.result_set import ResultSet
from dekm.results.runs import CellKey, Runs, read_runs
from dekm.tables.cells import not_in_paper, table3
from dekm.tables.claims import claims_grid, judge_claims
from dekm.tables.clusters import clusters, clusters_grid, figures_of_run, shown_runs
from dekm.tables.loading import Labels, LoadedResults, load_cells, warnings_note
from dekm.tables.partitions import partitions, partitions_grid
from dekm.tables.ranks import mean_ranks, ranks_grid
from dekm.tables.reference import with_reference, without_gaps
from dekm.tables.rendering.grid import Grid
from dekm.tables.rendering.html import to_html
from dekm.tables.rendering.latex import to_latex
from dekm.tables.rendering.markdown import to_markdown
from dekm.tables.scores import RESULTS, further_cells, further_grid, score_grid, starts_caption
from dekm.tables.table2 import table2, table2_grid
from dekm.tables.verdicts import origins, origins_grid, verdicts, verdicts_grid

__all__ = ["write_table2", "write_table3"]

Page = tuple[pd.DataFrame, Grid]
# Columns of text and of numbers that the files of the paper's numbers need.
TABLE2_COLUMNS = (("dataset", "label", "shape"), ("n_samples", "n_clusters"))
TABLE3_COLUMNS = (
    ("dataset", "method", "metric", "quoted", "origin", "doubtful", "remark"),
    ("value", "n_runs"),
)
CLAIM_COLUMNS = ("claim", "section", "statement", "relation", "datasets", "on", "metrics", "left", "right")


def write_table2(
    results: Path,
    datasets: Sequence[str],
    paper_file: Path,
    folder: Path,
    *,
    left_out: Mapping[str, str] | None = None,
) -> None:
    """Write Table II as ``table2.csv``, ``.md``, ``.tex`` and ``.html``."""
    rows = table2(results, datasets, read_table(paper_file, *TABLE2_COLUMNS), left_out=left_out)
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
    show: Sequence[str] = (),
    reference: Path | None = None,
    labels: Labels | None = None,
    left_out: Mapping[str, str] | None = None,
    deviations: Mapping[tuple[str, str], str] | None = None,
    unfinished: Mapping[CellKey, Sequence[Record]] | None = None,
    earlier: Mapping[CellKey, Sequence[Record]] | None = None,
) -> None:
    """Write Table III and the tables derived from it.

    Writes ``table3.csv`` (one row per cell and metric), ``.md``, ``.tex`` and ``.html``, and ``.csv`` and
    ``.md`` of ``further`` and ``ranks``; where a dataset is one of the paper, of ``claims``, ``verdicts`` and
    ``origins``; and of the others, of ``partitions`` and the clusters of some runs. ``table3.html``, the
    first page of the report, contains all of them, the figures of the runs whose clusters it shows, and
    links to the pages of runs that exist.

    `paper_file` is the CSV file of the paper's Table III, in the same folder as ``claims.csv``; `strategies`
    are methods that appear only in the claims, and `show` those whose clusters are shown, by default the best
    row, where there are true labels, K-means and DEKM; `reference` is a published set, whose runs are rows
    below ours; `left_out` has the reason for each dataset that was left out on purpose, and `deviations`, by
    dataset and method, in what the settings of a cell differ from the paper's. `unfinished` are
    runs of cells that have no summary yet, and `earlier` those of a published set, whose partitions are not
    known, so that none is compared on their datasets.
    `InputError` if a file of the paper does not exist or lacks a column, or the reference cannot be read.
    """
    result_set = ResultSet(results)
    everything = [(dataset, method) for dataset in datasets for method in (*methods, *strategies)]
    runs = read_runs(result_set, datasets, [*methods, *strategies]).joined(unfinished or {})
    scored = runs.joined(earlier or {})
    cells_of_table = [cell for cell in everything if cell[1] in methods]
    found = load_cells(
        results, scored, cells_of_table, labels=labels, left_out=left_out, deviations=deviations
    )
    paper = read_table(paper_file, *TABLE3_COLUMNS)
    order = list(labels.methods) if labels else []
    beside = with_reference(found, results, reference, order) if reference else found
    cells, further = table3(beside, paper), further_cells(beside)
    others = [dataset for dataset in datasets if dataset not in set(paper["dataset"])]
    warned = [warnings_note(read_facts(result_set.data(dataset))) for dataset in datasets]
    pages: list[Page] = [(cells, score_grid(cells, [starts_caption(beside.runs), *warned]))]
    known = {dataset for dataset, _ in earlier or {}}
    whole = [name for name in others if name not in known]
    compared = {name: compare_methods(runs, name) for name in whole}
    if len(measured := partitions(found, compared)):
        pages.append((measured, partitions_grid(measured)))
    addresses, figures = _pages_of_runs(result_set, runs, folder), {}
    for run in [run for name in whole for run in shown_runs(runs, name, methods, show)]:
        rows = clusters(run)
        pages.append((rows, clusters_grid(rows, run, addresses.get(run, ""))))
        figures[pages[-1][1].name] = figures_of_run(result_set, run)
    pages.append((further, further_grid(further)))
    ranks = mean_ranks(without_gaps(cells))
    ranked = ranks_grid(ranks, not_in_paper(cells))
    if len(others) < len(datasets):
        claimed = load_cells(results, scored, everything, deviations=deviations)
        pages += _pages_of_the_paper(cells, claimed, paper, paper_file.with_name("claims.csv"), labels)
    for frame, grid in [*pages, (ranks, ranked)]:
        _write(folder, frame, grid)
    shown = [grid for frame, grid in pages if len(frame)]
    if (ranks["n_datasets"] > 1).any():
        shown.append(ranked)
    write_text(folder / "table3.tex", to_latex(pages[0][1]))
    advices = [text for name in whole if (text := advice(runs, name, compared[name]))]
    links = {
        f"{run.label} on {run.data.facts.get('label', run.facts['dataset'])}": page
        for run, page in addresses.items()
    }
    write_text(folder / "table3.html", to_html(RESULTS, shown, advices, figures, links))


def _pages_of_runs(results: ResultSet, runs: Runs, folder: Path) -> dict[Record, str]:
    """The addresses, relative to a folder, of the pages of the runs that have one."""
    pages = {records[0]: results.page_of_run(*cell) for cell, records in runs.cells.items() if records}
    return {run: quote(os.path.relpath(page, folder)) for run, page in pages.items() if page.is_file()}


def _pages_of_the_paper(
    cells: pd.DataFrame,
    everything: LoadedResults,
    paper: pd.DataFrame,
    claims_file: Path,
    labels: Labels | None,
) -> list[Page]:
    """Tables that compare our numbers with those and with the claims of the paper."""
    read = read_table(claims_file, CLAIM_COLUMNS, filled=CLAIM_COLUMNS)
    claims = judge_claims(read, everything, paper)
    judged = verdicts(cells, paper, labels.datasets if labels else None)
    known = origins(cells)
    return [(claims, claims_grid(claims)), (judged, verdicts_grid(judged)), (known, origins_grid(known))]


def _write(folder: Path, frame: pd.DataFrame, grid: Grid) -> None:
    write_text(folder / f"{grid.name}.csv", to_csv(frame, "%.7g"))
    write_text(folder / f"{grid.name}.md", to_markdown(grid))
