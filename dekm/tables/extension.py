"""The seeds of a published set that stay in it when it is published again from results that lack them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dekm.errors import InputError, shown
from dekm.results.published import BOUNDS, read_seeds
from dekm.results.result_set import ResultSet
from dekm.tables.loading import read_facts

CELL = ["stage", "dataset", "subject"]


def seeds_to_keep(out: Path, ours: pd.DataFrame, results: ResultSet) -> pd.DataFrame:
    """The rows of ``runs.csv`` of a published set whose seeds ours lack, with the columns that are known.

    `InputError` if they are of another experiment: with other data than the results have, under another
    protocol, or in a cell of ours under other settings.
    """
    theirs = read_seeds(out)
    theirs = theirs[[name for name in theirs if name in ours or name in BOUNDS]]
    keys = [*CELL, "seed"]
    is_ours = theirs.set_index(keys).index.isin(ours.set_index(keys).index)
    kept = theirs[~is_ours]
    data = {name: read_facts(results.data(name)).get("digest") for name in sorted(set(kept["dataset"]))}
    if lacking := [name for name, digest in data.items() if digest is None]:
        problem = f"{out} has seeds on {', '.join(lacking)}, of which {results.path} has no prepared data"
        raise InputError(f"{problem}. The tables of an extended set need them: prepare them there.")
    protocol = ours["protocol"].iloc[0]
    settings = {cell_of(row): json.loads(row["settings"]) for row in ours.to_dict("records")}
    for row in kept.to_dict("records"):
        found = {**row, "settings": json.loads(row["settings"])}
        here = {"data": data[row["dataset"]], "protocol": protocol}
        here["settings"] = settings.get(cell_of(row), found["settings"])
        other = [
            f"{name} {shown(found[name])}, not {shown(here[name])}"
            for name in here
            if found[name] != here[name]
        ]
        if other:
            place = f"seed {row['seed']} of {row['subject']} on {row['dataset']}"
            problem = f"{out} cannot be extended by {results.path}: {place} was made with {'; '.join(other)}."
            raise InputError(f"{problem} Publish into another folder, or replace the set without --extend.")
    return kept


def cell_of(row: Mapping[Any, Any]) -> tuple[str, ...]:
    """The cell of a seed."""
    return tuple(row[name] for name in CELL)
