"""The record of the runs of a published set, ``runs.csv``, read through checks: it may be somebody else's."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dekm.errors import InputError, shown
from dekm.files.manifest import MANIFEST, check_file
from dekm.files.reading import damaged, readable
from dekm.files.tables import read_table
from dekm.markup import CONTROL, from_csv_cell
from dekm.results.record import Record
from dekm.results.result_set import ResultSet, checked_name
from dekm.results.runs import CellKey
from dekm.results.seed import FAILED

if TYPE_CHECKING:
    import pandas as pd

FILE = "runs.csv"
REMEDY = "Write the set again by 'python -m dekm publish', or get it again."
KEYS = ("stage", "dataset", "subject", "data", "pretrained", "created")
ADDED = ("label", "in_table", "protocol", "machine")  # an earlier version has none of them
# What made a seed and what it warned of: columns of sets since `publish --extend` was added.
MADE = ("settings", "commit", "key", "kernels", "versions", "warnings", "finite", "deviation")
LONGEST, LONGEST_TEXT, MAX_SEED = 300, 100_000, 2**32 - 1
BOUNDS = {
    **dict.fromkeys(("acc", "nmi", "f1"), (0, 1)),
    **dict.fromkeys(("ari", "silhouette", "silhouette_embedding"), (-1, 1)),
    **dict.fromkeys(("davies_bouldin", "davies_bouldin_embedding", "inertia"), (0, 1e300)),
    **dict.fromkeys(
        ("n_clusters_found", "smallest", "largest", "n_iter", "seconds", "peak_memory"), (0, 1e10)
    ),
    "loss": (-1e300, 1e300),
}  # of the metrics of a seed; other columns of numbers are not read


@dataclass(frozen=True)
class PublishedRun(Record):
    """A run of a published set: what tables read of a `Record`, but no partition and no embedding."""

    row: Mapping[str, Any]

    @property
    def facts(self) -> dict[str, Any]:
        """What the set tells of what made the run."""
        return {"method": self.row["subject"], **self.row}

    @property
    def metrics(self) -> dict[str, Any]:
        """The final metrics."""
        known = {name: self.row[name] for name in BOUNDS if name in self.row}
        return {name: value for name, value in known.items() if not math.isnan(value)}

    @property
    def in_table(self) -> bool:
        """Whether it is a run of Table III."""
        return bool(self.row["in_table"] == "True")

    @property
    def is_finite(self) -> bool:
        """Whether no score of the run was missing, infinite or NaN."""
        return bool(self.row["finite"] == "True")

    @property
    def warnings(self) -> list[str]:
        """What the fit has warned of."""
        return list(json.loads(self.row["warnings"])) if self.row["warnings"] else []


def has_records(folder: Path) -> bool:
    """Whether a folder is a published set of a version whose runs can be compared one by one."""
    if not (folder / FILE).is_file():
        return False
    return set(ADDED) <= set(read_table(folder / FILE, KEYS, remedy=REMEDY))


def read_published(folder: Path) -> "pd.DataFrame":
    """The runs of Table III in a published set, one row per run, in the order of the file.

    dataset, method, label, seed, data (digest), pretrained (key of the autoencoder from which it started;
    empty without one), protocol (empty where it is not known), machine, failed (why it has no scores, else
    empty), and the metrics of `BOUNDS` that it has. `InputError` if the set is damaged, of another version,
    or has values that no run can have.
    """
    table = _read(folder, ADDED)
    kept = table[(table["stage"] == "cluster") & (table["in_table"] == "True")].rename(
        columns={"subject": "method"}
    )
    if FAILED not in kept:
        kept[FAILED] = ""
    columns = ["dataset", "method", "label", "seed", "data", "pretrained", "protocol", "machine", FAILED]
    columns += [name for name in BOUNDS if name in table]
    if "finite" in kept:
        kept = kept[(kept["finite"] == "True") | (kept[FAILED] != "")]
    return kept[columns].reset_index(drop=True)


def read_seeds(folder: Path) -> "pd.DataFrame":
    """All seeds of a published set, pretrained ones too: every column of the file, which is `MADE` too.

    `InputError` as from `read_published`.
    """
    return _read(folder, (*ADDED, *MADE))


def runs_of(folder: Path, seeds: "pd.DataFrame") -> dict[CellKey, list[Record]]:
    """Some of the seeds of a published set as runs, by dataset and method."""
    runs: dict[CellKey, list[Record]] = {}
    for record in seeds[seeds["stage"] == "cluster"].to_dict("records"):
        row = {str(name): value for name, value in record.items()}
        cell = ResultSet(folder).cell(row["dataset"], row["subject"])
        runs.setdefault(cell.name, []).append(PublishedRun(cell.seed(row["seed"]).path, row))
    return runs


def _read(folder: Path, needed: tuple[str, ...]) -> "pd.DataFrame":
    """The checked file of a set of a version that has these columns; texts that it lacks are empty."""
    file = folder / FILE
    if not file.is_file():
        raise InputError(f"{folder} should be a published set of results; it holds no {FILE}.")
    check_file(file, REMEDY)
    known = set(read_table(file, KEYS, remedy=REMEDY))
    if missing := [name for name in needed if name not in known]:
        raise InputError(f"{file} is of another version: it lacks the columns {', '.join(missing)}. {REMEDY}")
    if not (folder / MANIFEST).is_file():  # publish writes it last
        raise InputError(f"{folder} is an incomplete set: it holds no {MANIFEST}. {REMEDY}")
    texts = [*KEYS, *ADDED, *(name for name in (*MADE, FAILED) if name in known)]
    metrics = [name for name in BOUNDS if name in known]
    filled = ["stage", "dataset", "subject", "data", "label", "in_table", "seed"]
    filled += [name for name in ("settings", "finite") if name in needed]
    table = read_table(file, [*texts, "seed", *metrics], filled=filled, remedy=REMEDY)
    for name in ("seed", *metrics):
        with readable(file, f"table with numbers in the column {name}", remedy=REMEDY):
            table[name] = [float(value) for value in table[name]]  # exactly; pandas 2 rounds
    if table.empty:
        raise damaged(file, "it has no seed", REMEDY)
    table = table.fillna(dict.fromkeys(texts, ""))
    table[texts] = table[texts].map(from_csv_cell)
    _check_texts(file, table)
    _check_numbers(file, table, metrics)
    return table.astype({"seed": int})


def _check_texts(file: Path, table: "pd.DataFrame") -> None:
    kinds: dict[str, tuple[Callable[[str], bool], str]] = {
        **dict.fromkeys((*KEYS, *ADDED, *MADE), (_is_line, f"one line of at most {LONGEST} characters")),
        **dict.fromkeys(("dataset", "subject"), (_is_name, "a name of letters, digits, _ and -")),
        "stage": (lambda value: value in ("cluster", "pretrain"), "cluster or pretrain"),
        **dict.fromkeys(("in_table", "finite"), (lambda value: value in ("True", "False"), "True or False")),
        **dict.fromkeys(("deviation", FAILED), (_is_text, f"a text of at most {LONGEST_TEXT:,} characters")),
        "settings": (_is_object, "a JSON object"),
        "warnings": (_is_list_of_texts, "a JSON list of texts"),
    }
    for name, (is_right, right) in kinds.items():
        for value in table[name].unique() if name in table else ():
            if value and not is_right(value):
                raise damaged(file, f"{name}={shown(value)} should be {right}", REMEDY)


def _is_name(value: str) -> bool:
    try:
        return bool(checked_name(value))
    except InputError:
        return False


def _is_line(value: str) -> bool:
    return len(value) <= LONGEST and not CONTROL.search(value) and "\n" not in value


def _is_text(value: str) -> bool:
    return len(value) <= LONGEST_TEXT and not CONTROL.search(value)


def _is_object(value: str) -> bool:
    return _is_text(value) and isinstance(_parsed(value), dict)


def _is_list_of_texts(value: str) -> bool:
    found = _parsed(value) if _is_text(value) else None
    return isinstance(found, list) and all(isinstance(text, str) and _is_text(text) for text in found)


def _parsed(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _check_numbers(file: Path, table: "pd.DataFrame", metrics: list[str]) -> None:
    bounds = {"seed": (0, MAX_SEED)} | {name: BOUNDS[name] for name in metrics}
    for name, (low, high) in bounds.items():
        for value in table.loc[(table[name] < low) | (table[name] > high), name][:1]:
            raise damaged(file, f"{name}={value:g} should be in [{low:g}, {high:g}]", REMEDY)
    for value in table.loc[table["seed"] % 1 != 0, "seed"][:1]:
        raise damaged(file, f"seed={value:g} should be an integer", REMEDY)
    twice = table[table.duplicated(["stage", "dataset", "subject", "seed"])]
    for dataset, subject, seed in twice[["dataset", "subject", "seed"]].itertuples(index=False):
        raise damaged(file, f"it has seed {seed:.0f} of {subject} on {dataset} twice", REMEDY)
