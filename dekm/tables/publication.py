"""A set of results, small enough for a repository: its tables and figures, and a record of each run."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dekm.errors import InputError, shown
from dekm.files import copy_file, write_manifest, write_text
from dekm.markup import to_csv
from dekm.results.published import FILE, runs_of
from dekm.results.record import Record, read_record
from dekm.results.result_set import ResultSet
from dekm.results.runs import CellKey
from dekm.results.status import read_or_empty
from dekm.tables import write_table2, write_table3
from dekm.tables.extension import seeds_to_keep
from dekm.tables.loading import Labels, read_facts
from dekm.tables.model_cards import publish_models

logger = logging.getLogger(__name__)

TABLE2, TABLE3 = "table2.csv", "table3.csv"
TABLES = ("table2", "table3", "further", "ranks", "claims", "verdicts", "origins", "partitions", "clusters_*")
# What a published set consists of; other files in its folder are not touched.
TABLE_FILES = tuple(f"{name}.{kind}" for name in TABLES for kind in ("csv", "md", "tex", "html"))
ARTIFACTS = (
    "history/*.csv",
    "figures/*.png",
    "models/*.safetensors",
    "models/*.md",
    "pretrained/*/*/seed*/*",
)
MACHINE = ("commit", "machine", "kernels", "versions")


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
    extend: bool = False,
) -> None:
    """Write the tables of all finished cells, the figures, the histories and a record of each run.

    With the models of the method `models`, with the licences of their data by dataset, and the autoencoders
    of the architecture `pretrained`. With `extend` the seeds that `out` has and the results lack stay, and
    count in the tables. `InputError` if there is no complete run or none of these, a seed is damaged or
    misplaced, `out` is the folder of results, or it has seeds of another experiment.
    """
    result_set = ResultSet(results)
    runs = list(published_seeds(result_set, "cluster"))
    if not runs:
        raise InputError(f"{results} should be a folder of results; it holds no complete run.")
    if out.exists() and out.samefile(results):
        raise InputError(f"{out} should be another folder than that of the results.")
    seeds = [*runs, *published_seeds(result_set, "pretrain")]
    protocol = read_or_empty(result_set.plan_file).get("protocol", "")
    notes = dict(deviations or {})
    table = pd.DataFrame([row(seed, notes) | {"protocol": protocol} for seed in seeds])
    kept: dict[CellKey, list[Record]] = {}
    if extend:
        earlier = seeds_to_keep(out, table, result_set)
        table, kept = pd.concat([table, earlier]), runs_of(out, earlier)
        notes |= {cell: runs[0].facts["deviation"] for cell, runs in kept.items() if cell not in notes}
    table = table.sort_values(["stage", "dataset", "subject", "seed"])
    counted = [*runs, *(run for cell in kept.values() for run in cell)]
    found = dict.fromkeys(run.facts["dataset"] for run in counted)
    known = dict.fromkeys([*(labels.datasets if labels else ()), *found])
    datasets = [name for name in known if name in found and is_in_tables(result_set, name)]
    rows = list(dict.fromkeys([*methods, *(run.subject for run in counted if run.in_table)]))
    patterns = TABLE_FILES if extend else (*TABLE_FILES, *ARTIFACTS)
    before = {file: identity(file) for pattern in patterns for file in out.glob(pattern)}
    if models is not None:
        publish_models(results, out / "models", models, licences or {})
    if pretrained is not None:
        publish_pretrained(results, out, pretrained)
    copy_histories_and_figures(results, runs, out)
    write_table2(results, datasets, paper / TABLE2, out)
    write_table3(results, datasets, rows, paper / TABLE3, out, labels=labels, deviations=notes, earlier=kept)
    write_text(out / FILE, to_csv(table))
    for file, old in before.items():
        if identity(file) == old:
            logger.info("removed: %s, which these results do not have", file)
            file.unlink()
    write_text(out / "README.md", readme(results, table, with_verdicts=(out / "verdicts.md").is_file()))
    write_manifest(out)


def copy_histories_and_figures(results: Path, runs: Sequence[Record], out: Path) -> None:
    """Copy what runs left by iteration, and the figures that exist."""
    for run in runs:
        copy_file(run.checked("history"), out / "history" / f"{run.file_name}.csv")
    folders = (results / "figures", results / "figures" / "ranks")
    for figure in sorted(file for folder in folders for file in folder.glob("*.png")):
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


def identity(file: Path) -> tuple[int, int]:
    """What another content of a file changes, since files are replaced and never changed in place."""
    status = file.stat()
    return status.st_ino, status.st_mtime_ns


def is_in_tables(results: ResultSet, dataset: str) -> bool:
    """Whether a dataset was not run for Figure 1 alone, which shows some of the classes."""
    return read_facts(results.data(dataset)).get("n_classes") is None


def published_seeds(results: ResultSet, stage: str) -> Iterator[Record]:
    """The seeds of a stage that their cells count; of a cell without a summary yet, the complete ones.

    Others have earlier settings, or the cell was last run for other seeds; a warning names them.
    """
    for cell in results.cells(stage):
        folders = cell.seed_folders()
        if not cell.summary_file.exists():
            yield from (read_record(folder.path) for folder in folders)
            continue
        records = sorted(cell.seeds(), key=lambda record: record.facts["seed"])
        for record in records:
            record.check_data()
        yield from records
        for folder in folders:
            if folder.path not in [record.path for record in records]:
                name = f"{'/'.join(cell.name)}/s{folder.path.name.removeprefix('seed')}"
                logger.warning("left out: %s, which the summary of its cell does not count", name)


def row(seed: Record, deviations: Mapping[tuple[str, str], str]) -> dict[str, object]:
    """One row of ``runs.csv``: what the seed is, its final metrics, and what made it, here or elsewhere."""
    facts, cell = seed.facts, (seed.facts["dataset"], seed.subject)
    maker = facts.get("origin") or facts
    identity = {"stage": seed.stage, "dataset": cell[0], "subject": cell[1]}
    identity |= {"label": seed.label, "in_table": seed.in_table, "seed": facts["seed"]}
    made = {"settings": json.dumps(facts["settings"]), "commit": maker.get("commit")}
    made |= {"data": facts["data"], "pretrained": facts.get("pretrained"), "key": facts["key"]}
    made |= {"machine": machine_text(maker), "created": maker["created"]}
    made |= {name: listed(maker.get(name) or {}) for name in ("kernels", "versions")}
    made |= {"warnings": json.dumps(seed.warnings) if seed.warnings else ""}
    return identity | seed.metrics | made | {"deviation": deviations.get(cell, "")}


def machine_text(facts: Mapping[str, Any]) -> str:
    """The machine of a seed in one line, which the rows of a reference name."""
    threads, torch = facts.get("threads"), (facts.get("versions") or {}).get("torch")
    parts = [facts.get("device"), facts.get("platform")]
    parts += [threads and f"{threads} thread{'s' if threads > 1 else ''}", torch and f"PyTorch {torch}"]
    return ", ".join(filter(None, parts))


def listed(value: Mapping[str, object]) -> str:
    """Names and values in one line."""
    return ", ".join(f"{key} {part}" for key, part in value.items())


def readme(results: Path, seeds: pd.DataFrame, *, with_verdicts: bool) -> str:
    """What was measured, where, and what is missing."""
    plan = read_or_empty(ResultSet(results).plan_file)
    machines = seeds[[*MACHINE]].fillna("").drop_duplicates().to_dict("records")
    described = ["; ".join(f"{key}: {text}" for key, text in made.items() if text) for made in machines]
    lines = [
        f"# Results of {results.name}",
        "",
        f"Written by `python -m dekm publish` from {len(seeds)} complete seeds. [table3.md](table3.md)",
        "is the table,",
        *(["[verdicts.md](verdicts.md) says what of the paper it reproduces,"] if with_verdicts else []),
        "`runs.csv` has each seed with its settings, seconds, commit and digests, and `history/` each run by",
        "iteration.",
        "",
        "## Machine and versions",
        "",
        *(f"- {text}" for text in described),
        "",
        "## Missing",
        "",
        *(missing(plan, seeds) or ["Nothing." if plan else "Not known: there is no plan.json."]),
    ]
    return "\n".join(lines) + "\n"


def missing(plan: Mapping[str, Any], seeds: pd.DataFrame) -> list[str]:
    """One line per dataset whose planned cells lack seeds."""
    known = {(row.stage, row.dataset, row.subject, row.seed) for row in seeds.itertuples()}
    lacking: dict[str, list[str]] = {}
    for cell in plan.get("cells", ()):
        name = (cell["stage"], cell["dataset"], cell["subject"])
        n_found = sum((*name, seed) in known for seed in cell["seeds"])
        if n_found < len(cell["seeds"]):
            text = f"{cell['subject']} ({n_found} of {len(cell['seeds'])} seeds)"
            lacking.setdefault(cell["dataset"], []).append(text)
    return [f"- {dataset}: {', '.join(texts)}" for dataset, texts in lacking.items()]
