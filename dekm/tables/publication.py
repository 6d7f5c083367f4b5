"""A set of results, small enough for a repository: its tables and figures, and a record of each run."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from dekm.errors import InputError, shown
from dekm.files import copy_file, write_manifest, write_text
from dekm.files.leftovers import remove, remove_dead, temporary_path
from dekm.markup import to_csv
from dekm.results.data import read_facts
from dekm.results.published import FILE, runs_of
from dekm.results.record import Record, read_record
from dekm.results.result_set import FIGURES_OF_TABLES, ResultSet
from dekm.results.runs import CellKey
from dekm.tables import write_table2, write_table3
from dekm.tables.extension import seeds_to_keep
from dekm.tables.loading import Labels
from dekm.tables.model_cards import publish_models
from dekm.tables.seed_rows import rows_of
from dekm.tables.set_page import set_page

logger = logging.getLogger(__name__)

TABLE2, TABLE3 = "table2.csv", "table3.csv"
TABLES = ("table2", "table3", "further", "ranks", "claims", "verdicts", "origins", "partitions", "clusters_*")
# What a published set consists of; other files in its folder are not touched.
TABLE_FILES = tuple(f"{name}.{kind}" for name in TABLES for kind in ("csv", "md", "tex", "html"))
OF_SEEDS = ("history/*.csv", "models/*.safetensors", "models/*.md", "pretrained/*/*/seed*/*")


def publish(
    results: Path,
    out: Path,
    paper: Path,
    methods: Sequence[str],
    labels: Labels | None = None,
    deviations: Mapping[tuple[str, str], str] | None = None,
    models: str | None = None,
    pretrained: str | None = None,
    licences: Mapping[str, str] | None = None,
    *,
    draw: Callable[[Path], None] | None = None,
    extend: bool = False,
) -> None:
    """Write the tables of all finished cells, the figures, the histories and a record of each run.

    With the models of the method `models`, with the licences of their data by dataset, and the autoencoders
    of the architecture `pretrained`; `draw` adds figures to a folder of tables. With `extend` the seeds that
    `out` has and the results lack stay, and count in the tables. `InputError` if there is no complete run or
    none of these, a seed is damaged or misplaced, `out` is the folder of results, or it has seeds of another
    experiment; `out` is then as before.
    """
    result_set = ResultSet(results)
    runs = list(published_seeds(result_set, "cluster"))
    if not runs:
        raise InputError(f"{results} should be a folder of results; it holds no complete run.")
    if out.exists() and out.samefile(results):
        raise InputError(f"{out} should be another folder than that of the results.")
    seeds = [*runs, *published_seeds(result_set, "pretrain")]
    notes, plan = dict(deviations or {}), result_set.plan
    table = rows_of(seeds, notes, plan.get("protocol", ""))
    kept: dict[CellKey, list[Record]] = {}
    if extend:
        earlier = seeds_to_keep(out, table, result_set)
        table, kept = pd.concat([table, earlier]), runs_of(out, earlier)
        notes |= {cell: found[0].facts["deviation"] for cell, found in kept.items() if cell not in notes}
    table = table.sort_values(["stage", "dataset", "subject", "seed"])
    datasets, rows = order_of_tables(table, result_set, methods, labels)
    with staged(out, stale(out, seeds, extend=extend)) as stage:
        if models is not None:
            publish_models(results, stage / "models", models, licences or {})
        if pretrained is not None:
            publish_pretrained(results, stage, pretrained)
        copy_histories_and_figures(results, runs, stage)
        write_table2(results, datasets, paper / TABLE2, stage)
        write_table3(
            results,
            datasets,
            rows,
            paper / TABLE3,
            stage,
            labels=labels,
            deviations=notes,
            unfinished=runs_without_summary(result_set, runs),
            earlier=kept,
        )
        if draw is not None:
            draw(stage)
        is_judged = (stage / "verdicts.md").is_file()
        write_text(stage / "README.md", set_page(results.name, table, plan, with_verdicts=is_judged))
        write_text(stage / FILE, to_csv(table))


def order_of_tables(
    seeds: pd.DataFrame, results: ResultSet, methods: Sequence[str], labels: Labels | None
) -> tuple[list[str], list[str]]:
    """The datasets and the rows that seeds have and those of `methods`, in the order of the labels."""
    labels = labels or Labels()
    clustered = seeds[seeds["stage"] == "cluster"]
    found = {*clustered["dataset"]}
    datasets = dict.fromkeys([*labels.datasets, *clustered["dataset"]])
    of_table = clustered[clustered["in_table"].astype(str) == "True"]
    wanted = {*methods, *of_table["subject"]}
    rows = dict.fromkeys([*methods, *labels.methods, *of_table["subject"]])
    of_rows = {*of_table["dataset"]}
    return (
        [name for name in datasets if name in found and is_in_tables(results, name, default=name in of_rows)],
        [name for name in rows if name in wanted],
    )


@contextmanager
def staged(out: Path, replaced: Sequence[Path]) -> Iterator[Path]:
    """A folder beside a set, whose files enter it if the block succeeds; the replaced files leave it then."""
    stage = temporary_path(out)
    stage.parent.mkdir(parents=True, exist_ok=True)
    remove_dead(out)
    stage.mkdir()
    try:
        yield stage
        written = [file.relative_to(stage) for file in sorted(stage.rglob("*")) if file.is_file()]
        for name in written:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(stage / name, out / name)
        for file in [file for file in replaced if file.relative_to(out) not in written]:
            logger.warning("removed: %s, which these results do not have", file)
            file.unlink()
        write_manifest(out)
    finally:
        remove(stage)


def stale(out: Path, seeds: Sequence[Record], *, extend: bool) -> list[Path]:
    """The files of a set that go unless they are written again: those of tables, and those of other runs.

    A set that is extended keeps what it has of the seeds that the results do not have again.
    """
    patterns = [*TABLE_FILES, *OF_SEEDS, "figures/*.png"]
    if extend:
        of_tables = [f"figures/{name}.png" for name in FIGURES_OF_TABLES]
        made = [seed for seed in seeds if "origin" not in seed.facts]  # the others were copied
        models = [f"models/{seed.file_name}.*" for seed in made if seed.stage == "cluster"]
        places = [Path(*seed.parts[-4:]) for seed in made if seed.stage == "pretrain"]
        patterns = [*TABLE_FILES, *of_tables, *models, *(f"{place}/*" for place in places)]
    return sorted(file for pattern in patterns for file in out.glob(pattern))


def runs_without_summary(results: ResultSet, runs: Sequence[Record]) -> dict[CellKey, list[Record]]:
    """The complete runs of cells that are not finished, which tables of results do not read."""
    finished = {cell.name for cell in results.finished_cells()}
    found: dict[CellKey, list[Record]] = {}
    for run in runs:
        if (cell := (run.facts["dataset"], run.subject)) not in finished:
            found.setdefault(cell, []).append(run)
    return found


def copy_histories_and_figures(results: Path, runs: Sequence[Record], out: Path) -> None:
    """Copy what runs left by iteration, and the figures that exist."""
    for run in runs:
        copy_file(run.checked("history"), out / "history" / f"{run.file_name}.csv")
    for figure in sorted((results / "figures").glob("*.png")):
        copy_file(figure, out / "figures" / figure.name)


def publish_pretrained(results: Path, out: Path, architecture: str) -> None:
    """Copy the autoencoders of an architecture with their facts; `InputError` if there is none."""
    source, target = ResultSet(results), ResultSet(out)
    seeds = [seed for seed in published_seeds(source, "pretrain") if seed.subject == architecture]
    if not seeds:
        raise InputError(f"{results} holds no pretrained autoencoder {shown(architecture)}.")
    for seed in seeds:
        folder = target.pretraining(seed.facts["dataset"], architecture).seed(seed.facts["seed"])
        for name in ("facts", "metrics", "loss", "autoencoder", "manifest"):
            copy_file(seed.file(name), folder.file(name))
        read_record(folder.path).checked("autoencoder")


def is_in_tables(results: ResultSet, dataset: str, *, default: bool) -> bool:
    """Whether a dataset was not run for Figure 1 alone, which shows some of the classes.

    `default` without the data, as a set that is extended has rows of data that the results lack.
    """
    facts = read_facts(results.data(dataset))
    return facts.get("n_classes") is None if facts else default


def published_seeds(results: ResultSet, stage: str) -> Iterator[Record]:
    """The seeds of a stage that their cells count; of a cell without a summary yet, the complete ones.

    Others have earlier settings, or the cell was last run for other seeds; a warning names them.
    """
    for cell in results.cells(stage):
        folders = cell.seed_folders()
        if not cell.summary_file.exists():
            yield from (read_record(folder.path) for folder in folders)
            continue
        records = sorted(cell.seeds(failed=True), key=lambda record: record.facts["seed"])
        for record in records:
            record.check_data()
        yield from records
        for folder in folders:
            if folder.path not in [record.path for record in records]:
                name = f"{'/'.join(cell.name)}/s{folder.path.name.removeprefix('seed')}"
                logger.warning("left out: %s, which the summary of its cell does not count", name)
