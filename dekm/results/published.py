"""The record of the runs of a published set, ``runs.csv``, read through checks: it may be somebody else's."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dekm.errors import InputError, shown
from dekm.files.manifest import check_file
from dekm.files.reading import damaged
from dekm.files.tables import read_table
from dekm.markup import CONTROL
from dekm.results.record import Record
from dekm.results.result_set import ResultSet, checked_name
from dekm.results.runs import CellKey

if TYPE_CHECKING:
    import pandas as pd

FILE = "runs.csv"
REMEDY = "Write the set again by 'python -m dekm publish', or get it again."
KEYS = ("stage", "dataset", "subject", "data", "pretrained", "created")
ADDED = ("label", "in_table", "protocol", "machine")  # an earlier version has none of them
# What made a seed and what it warned of, which a set has since it can be extended.
MADE = ("settings", "commit", "key", "kernels", "versions", "warnings", "deviation")
LONGEST, LONGEST_MADE, MAX_SEED = 300, 10_000, 2**32 - 1
BOUNDS = {
    **dict.fromkeys(("acc", "nmi", "f1"), (0, 1)),
    **dict.fromkeys(("ari", "silhouette", "silhouette_embedding"), (-1, 1)),
    **dict.fromkeys(("davies_bouldin", "davies_bouldin_embedding", "inertia"), (0, 1e30)),
    **dict.fromkeys(
        ("n_clusters_found", "smallest", "largest", "n_iter", "seconds", "peak_memory"), (0, 1e10)
    ),
    "loss": (-1e30, 1e30),
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
    def warnings(self) -> list[str]:
        """What the run has warned of."""
        return list(json.loads(self.row["warnings"])) if self.row["warnings"] else []


def has_records(folder: Path) -> bool:
    """Whether a folder is a published set of a version whose runs can be compared one by one."""
    if not (folder / FILE).is_file():
        return False
    return set(ADDED) <= set(read_table(folder / FILE, KEYS, remedy=REMEDY))


def read_published(folder: Path) -> "pd.DataFrame":
    """The runs of Table III in a published set, one row per run, in the order of the file.

    dataset, method, label, seed, data (digest), pretrained (key of the autoencoder from which it started;
    empty without one), protocol (empty where it is not known), machine, and the metrics of `BOUNDS` that it
    has. `InputError` if the set is damaged, of another version, or has values that no run can have.
    """
    table = _read(folder, ADDED)
    kept = table[(table["stage"] == "cluster") & (table["in_table"] == "True")].rename(
        columns={"subject": "method"}
    )
    columns = ["dataset", "method", "label", "seed", "data", "pretrained", "protocol", "machine"]
    columns += [name for name in BOUNDS if name in table]
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
    metrics = [name for name in BOUNDS if name in known]
    filled = ["stage", "dataset", "subject", "data", "label", "in_table", "seed"]
    filled += ["settings"] if "settings" in needed else []
    texts = [*KEYS, *needed]
    table = read_table(file, texts, ("seed", *metrics), filled=filled, remedy=REMEDY)
    _check_texts(file, table)
    _check_numbers(file, table, metrics)
    return table.fillna(dict.fromkeys(texts, "")).astype({"seed": int})


def _check_texts(file: Path, table: "pd.DataFrame") -> None:
    for name in ("dataset", "subject"):
        for value in table[name].unique():
            _check(file, name, value, is_right=_is_name(value), right="a name of letters, digits, _ and -")
    for name in ("label", "machine", "protocol", "data", "pretrained"):
        for value in table[name].dropna().unique():
            is_right = len(value) <= LONGEST and not CONTROL.search(value) and "\n" not in value
            _check(file, name, value, is_right=is_right, right=f"one line of at most {LONGEST} characters")
    for name in (name for name in MADE if name in table):
        for value in table[name].dropna().unique():
            is_right = len(value) <= LONGEST_MADE and not CONTROL.search(value)
            _check(file, name, value, is_right=is_right, right=f"a text of at most {LONGEST_MADE} characters")
    kinds = {
        "warnings": (_is_list_of_texts, "a JSON list of texts"),
        "settings": (_is_object, "a JSON object"),
    }
    for name, (is_kind, right) in kinds.items():
        for value in table[name].dropna().unique() if name in table else ():
            _check(file, name, value, is_right=is_kind(_parsed(value)), right=right)
    for name, valid in (("stage", ("cluster", "pretrain")), ("in_table", ("True", "False"))):
        for value in table[name].unique():
            _check(file, name, value, is_right=value in valid, right=" or ".join(valid))


def _parsed(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return None


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(text, str) and not CONTROL.search(text) for text in value
    )


def _is_name(value: str) -> bool:
    try:
        return bool(checked_name(value))
    except InputError:
        return False


def _check_numbers(file: Path, table: "pd.DataFrame", metrics: list[str]) -> None:
    bounds = {"seed": (0, MAX_SEED)} | {name: BOUNDS[name] for name in metrics}
    for name, (low, high) in bounds.items():
        for value in table.loc[(table[name] < low) | (table[name] > high), name][:1]:
            _check(file, name, value, is_right=False, right=f"in [{low:g}, {high:g}]")
    for value in table.loc[table["seed"] % 1 != 0, "seed"][:1]:
        _check(file, "seed", value, is_right=False, right="an integer")
    twice = table[table.duplicated(["stage", "dataset", "subject", "seed"])]
    for dataset, subject, seed in twice[["dataset", "subject", "seed"]].itertuples(index=False):
        raise damaged(file, f"it has seed {seed} of {subject} on {dataset} twice", REMEDY)


def _check(file: Path, name: str, value: Any, *, is_right: bool, right: str) -> None:
    if not is_right:
        raise damaged(file, f"{name}={shown(value)} should be {right}", REMEDY)
