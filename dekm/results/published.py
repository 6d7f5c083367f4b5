"""The record of the runs of a published set, ``runs.csv``, read through checks: it may be somebody else's."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dekm.errors import InputError, shown
from dekm.files.manifest import check_file
from dekm.files.reading import damaged
from dekm.files.tables import read_table
from dekm.markup import CONTROL
from dekm.results.result_set import checked_name

if TYPE_CHECKING:
    import pandas as pd

FILE = "runs.csv"
REMEDY = "Write the set again by 'python -m dekm publish', or get it again."
KEYS = ("stage", "dataset", "subject", "data", "pretrained", "created")
ADDED = ("label", "in_table", "protocol", "machine")  # an earlier version has none of them
LONGEST, MAX_SEED = 300, 2**32 - 1
BOUNDS = {
    **dict.fromkeys(("acc", "nmi", "f1"), (0, 1)),
    **dict.fromkeys(("ari", "silhouette", "silhouette_embedding"), (-1, 1)),
    **dict.fromkeys(("davies_bouldin", "davies_bouldin_embedding", "inertia"), (0, 1e30)),
    **dict.fromkeys(
        ("n_clusters_found", "smallest", "largest", "n_iter", "seconds", "peak_memory"), (0, 1e10)
    ),
}  # of the metrics of a run; other columns of numbers are not read


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
    file = folder / FILE
    if not file.is_file():
        raise InputError(f"{folder} should be a published set of results; it holds no {FILE}.")
    check_file(file, REMEDY)
    known = set(read_table(file, KEYS, remedy=REMEDY))
    if missing := [name for name in ADDED if name not in known]:
        raise InputError(f"{file} is of another version: it lacks the columns {', '.join(missing)}. {REMEDY}")
    metrics = [name for name in BOUNDS if name in known]
    filled = ("stage", "dataset", "subject", "data", "label", "in_table", "seed")
    table = read_table(file, (*KEYS, *ADDED), ("seed", *metrics), filled=filled, remedy=REMEDY)
    _check_texts(file, table)
    _check_numbers(file, table, metrics)
    kept = table[(table["stage"] == "cluster") & (table["in_table"] == "True")].rename(
        columns={"subject": "method"}
    )
    columns = ["dataset", "method", "label", "seed", "data", "pretrained", "protocol", "machine"]
    kept = kept.fillna(dict.fromkeys(("pretrained", "protocol", "machine"), ""))
    return kept[[*columns, *metrics]].astype({"seed": int}).reset_index(drop=True)


def _check_texts(file: Path, table: "pd.DataFrame") -> None:
    for name in ("dataset", "subject"):
        for value in table[name].unique():
            _check(file, name, value, is_right=_is_name(value), right="a name of letters, digits, _ and -")
    for name in ("label", "machine", "protocol", "data", "pretrained"):
        for value in table[name].dropna().unique():
            is_right = len(value) <= LONGEST and not CONTROL.search(value) and "\n" not in value
            _check(file, name, value, is_right=is_right, right=f"one line of at most {LONGEST} characters")
    for name, valid in (("stage", ("cluster", "pretrain")), ("in_table", ("True", "False"))):
        for value in table[name].unique():
            _check(file, name, value, is_right=value in valid, right=" or ".join(valid))


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
