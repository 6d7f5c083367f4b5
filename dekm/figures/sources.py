"""Reading of a figure's inputs, and what is computed from them before drawing."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from dekm.errors import InputError
from dekm.results.record import Record


def read_history(run: Record) -> pd.DataFrame:
    """The history of a run: one row per iteration."""
    return pd.DataFrame(run.history())


def describe_data(run: Record) -> str:
    """Name of the data of a run, with the size of a subsample."""
    facts = run.data.facts
    name = facts.get("label", run.facts["dataset"])
    size = facts.get("subsample")
    return name if size is None else f"{name} (subsample of {size:,} samples)"


def describe_run(run: Record) -> str:
    """Method, data and seed of a run."""
    return f"{run.label} on {describe_data(run)}, seed {run.facts['seed']}"


def single_input(inputs: Sequence[Path], description: str) -> Path:
    """The input of a figure that takes exactly one; otherwise `InputError`."""
    if len(inputs) != 1:
        raise InputError(f"{len(inputs)} inputs should be 1: {description}.")
    return inputs[0]
