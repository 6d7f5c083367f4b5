"""The seeds of a published set that stay in it when it is published again from results that lack them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dekm.errors import InputError, shown
from dekm.files.manifest import MANIFEST, check_file
from dekm.results.data import read_facts
from dekm.results.published import BOUNDS, REMEDY, read_seeds, runs_of
from dekm.results.result_set import ResultSet
from dekm.results.seed import FAILED

CELL = ["stage", "dataset", "subject"]


def seeds_to_keep(out: Path, ours: pd.DataFrame, results: ResultSet) -> pd.DataFrame:
    """The rows of ``runs.csv`` of a published set whose seeds ours lack, with the columns that are known.

    `InputError` if a file of the set is damaged, a row of the tables is on data that the results lack, or the
    seeds are of another experiment: with other data than the results have, under another protocol, in a cell
    of ours with other settings, or from an autoencoder that neither has.
    """
    theirs = read_seeds(out)
    theirs = theirs[[name for name in theirs if name in ours or name in BOUNDS]]
    keys = [*CELL, "seed"]
    _check_failures(out, theirs, ours, keys)
    is_ours = theirs.set_index(keys).index.isin(ours.set_index(keys).index)
    kept = theirs[~is_ours]
    check_files(out, kept)
    data = {name: read_facts(results.data(name)).get("digest") for name in sorted(set(kept["dataset"]))}
    of_tables = set(kept.loc[(kept["stage"] == "cluster") & (kept["in_table"] == "True"), "dataset"])
    if lacking := [name for name, digest in data.items() if digest is None and name in of_tables]:
        problem = f"{out} has seeds on {', '.join(lacking)}, of which {results.path} has no prepared data"
        raise InputError(f"{problem}. The tables of an extended set need them: prepare them there.")
    if not (protocol := ours["protocol"].iloc[0]):
        raise InputError(f"{results.path} holds no plan.json, which tells the protocol of its runs.")
    cells = {cell_of(row): row for row in ours.to_dict("records")}
    starts = {"", *(key for table in (ours, kept) for key in table.loc[table["stage"] == "pretrain", "key"])}
    for row in kept.to_dict("records"):
        cell = cells.get(cell_of(row), row)
        here = {
            "data": data[row["dataset"]] or row["data"],  # of Figure 1 the results may have none
            "protocol": protocol,
            "deviation": cell["deviation"],
            "settings": json.loads(cell["settings"]),
        }
        found = {**row, "settings": json.loads(row["settings"])}
        differs = [name for name in here if found[name] != here[name]]
        other = [f"{name} {shown(found[name])}, not {shown(here[name])}" for name in differs]
        if row["pretrained"] not in starts:
            other.append("an autoencoder that neither has")
        if other:
            place = f"seed {row['seed']} of {row['subject']} on {row['dataset']}"
            problem = f"{out} cannot be extended by {results.path}: {place} was made with {'; '.join(other)}."
            raise InputError(f"{problem} Publish into another folder, or replace the set without --extend.")
    return kept


def _check_failures(out: Path, theirs: pd.DataFrame, ours: pd.DataFrame, keys: list[str]) -> None:
    """Raise `InputError` if a fit of ours has failed whose result the set has."""
    failed = ours.loc[ours[FAILED].fillna("") != "", keys]
    known = theirs[theirs[FAILED].fillna("") == ""] if FAILED in theirs else theirs
    for row in failed.merge(known[keys]).to_dict("records"):
        place = f"seed {row['seed']} of {row['subject']} on {row['dataset']}"
        raise InputError(
            f"{out} has a result of {place}, which failed here; a failed seed does not replace it."
        )


def check_files(out: Path, kept: pd.DataFrame) -> None:
    """Raise `InputError` if a file of the seeds that stay is missing or not as the manifest says."""
    files: list[Path] = []
    for run in [run for runs in runs_of(out, kept).values() for run in runs]:
        files += [out / "history" / f"{run.file_name}.csv", *out.glob(f"models/{run.file_name}.*")]
    for row in kept[kept["stage"] == "pretrain"].to_dict("records"):
        folder = ResultSet(out).pretraining(row["dataset"], row["subject"]).seed(row["seed"])
        files += (file for file in folder.path.glob("*") if file.name != MANIFEST)
    for file in sorted(files):
        check_file(file, REMEDY, out)


def cell_of(row: Mapping[Any, Any]) -> tuple[str, ...]:
    """The cell of a seed."""
    return tuple(row[name] for name in CELL)
