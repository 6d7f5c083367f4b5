"""A set of results, small enough for a repository: its tables and figures, and a record of each run."""

import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from dekm.errors import InputError
from dekm.files import atomic_file, write_text
from dekm.results.folders import CellFolder
from dekm.results.result_set import ResultSet
from dekm.results.seed import SeedFolder
from dekm.results.status import read_status
from dekm.tables import write_table2, write_table3
from dekm.tables.loading import read_facts, read_summary

logger = logging.getLogger(__name__)

TABLE2, TABLE3 = "table2.csv", "table3.csv"
MACHINE = ("commit", "device", "platform", "threads", "kernels", "versions")


def publish(
    results: Path,
    out: Path,
    paper: Path,
    methods: Sequence[str],
    labels: Mapping[str, str] | None = None,
    deviations: Mapping[tuple[str, str], str] | None = None,
) -> None:
    """Write the tables of all finished cells, the figures, the histories and a record of each run.

    Parameters
    ----------
    results : Path
        Folder of results, which need not be complete.
    out : Path
        Folder to write; it gets the tables, ``runs.csv`` with a row per seed, ``history/`` with a row per
        iteration of each run, ``figures/`` with the figures as PNG, and a ``README.md`` that says on which
        machine and from which commit all was made, and what is missing.
    paper : Path
        Folder of the paper's numbers.
    methods : sequence of str
        Rows of Table III; methods of the user that were run are added.
    labels : mapping of str to str, optional
        Labels of the datasets and methods without results.
    deviations : mapping of tuple of (str, str) to str, optional
        In what the settings of cells differ from the paper's, by dataset and method.

    Raises
    ------
    InputError
        If there is no complete run, a file of the results is damaged, or `out` is the folder of results.
    """
    result_set = ResultSet(results)
    seeds = sorted(filter(is_counted, result_set.seeds()), key=place)
    runs = [seed for seed in seeds if seed.stage == "cluster"]
    if not runs:
        raise InputError(f"{results} should be a folder of results; it holds no complete run.")
    if out.exists() and out.samefile(results):
        raise InputError(f"{out} should be another folder than that of the results.")
    known = [*(labels or {}), *sorted({seed.facts["dataset"] for seed in runs})]
    datasets = [name for name in dict.fromkeys(known) if is_in_tables(result_set, name)]
    own = [cell["method"] for cell in result_set.summaries() if cell.get("in_table", True)]
    rows = list(dict.fromkeys([*methods, *own]))
    write_table2(results, datasets, paper / TABLE2, out)
    write_table3(results, datasets, rows, paper / TABLE3, out, labels=labels, deviations=deviations)
    write_text(out / "runs.csv", pd.DataFrame(map(record, seeds)).to_csv(index=False))
    for seed in runs:
        copy(seed.checked("history"), out / "history" / f"{file_name(seed)}.csv")
    for figure in sorted(
        file for folder in (".", "ranks") for file in (results / "figures" / folder).glob("*.png")
    ):
        copy(figure, out / "figures" / figure.name)
    write_text(out / "README.md", readme(results, seeds, with_verdicts=(out / "verdicts.md").is_file()))


def is_in_tables(results: ResultSet, dataset: str) -> bool:
    """Whether a dataset was run, and not for Figure 1 alone, which shows some of the classes."""
    has_runs = (results.path / "runs" / dataset).is_dir()
    return has_runs and read_facts(results.data(dataset)).get("n_classes") is None


def is_counted(seed: SeedFolder) -> bool:
    """Whether the summary of a seed's cell counts it or does not exist yet.

    Others have earlier settings, or the cell was last run for other seeds; a warning names them.
    """
    counted = read_summary(CellFolder(seed.path.parent)).get("seeds")
    if counted is None or str(seed.facts["seed"]) in counted:
        return True
    logger.warning("left out: %s, which the summary of its cell does not count", seed.name)
    return False


def place(seed: SeedFolder) -> tuple[str, str, str, int]:
    """Where a seed stands in ``runs.csv``."""
    return seed.stage, seed.facts["dataset"], seed.subject, seed.facts["seed"]


def file_name(seed: SeedFolder) -> str:
    """Name of the files of a seed, without their endings, such as digits-dekm-s0."""
    return seed.name.replace("/", "-")


def copy(file: Path, target: Path) -> None:
    """Copy a file, and make the folder that it goes to."""
    with atomic_file(target) as temporary:
        shutil.copyfile(file, temporary)


def record(seed: SeedFolder) -> dict[str, object]:
    """One row of ``runs.csv``: what the seed is, its final metrics, and what made it."""
    facts = seed.facts
    made = {"data": facts["data"], "pretrained": facts.get("pretrained"), "key": facts["key"]}
    settings = {"settings": json.dumps(facts["settings"]), "commit": facts.get("commit")}
    identity = {"stage": seed.stage, "dataset": facts["dataset"], "subject": seed.subject}
    return identity | {"seed": facts["seed"]} | seed.metrics | settings | made | {"created": facts["created"]}


def readme(results: Path, seeds: Sequence[SeedFolder], *, with_verdicts: bool) -> str:
    """What was measured, where, and what is missing."""
    is_planned = ResultSet(results).plan_file.is_file()
    machines = dict.fromkeys(json.dumps({name: seed.facts.get(name) for name in MACHINE}) for seed in seeds)
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
        *(f"- {_describe(json.loads(machine))}" for machine in machines),
        "",
        "## Missing",
        "",
        *(_missing(results) or ["Nothing." if is_planned else "Not known: there is no plan.json."]),
    ]
    return "\n".join(lines) + "\n"


def _describe(machine: Mapping[str, object]) -> str:
    return "; ".join(f"{name}: {_listed(value)}" for name, value in machine.items())


def _listed(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return str(value)


def _missing(results: Path) -> list[str]:
    """One line per dataset whose planned cells lack seeds."""
    missing: dict[str, list[str]] = {}
    for cell in read_status(results).cells:
        if len(cell.seconds) < len(cell.seeds):
            text = f"{cell.subject} ({len(cell.seconds)} of {len(cell.seeds)} seeds)"
            missing.setdefault(cell.dataset, []).append(text)
    return [f"- {dataset}: {', '.join(texts)}" for dataset, texts in missing.items()]
