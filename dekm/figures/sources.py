"""Reading of a figure's inputs, and what is computed from them before drawing."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from dekm.errors import InputError
from dekm.markup import printable
from dekm.metrics import contingency
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


def align(y: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, list[str], list[int]]:
    """Confusion matrix with the clusters in the order of the classes that the Hungarian algorithm assigns.

    Returns the numbers of samples (n_classes, n_clusters), the names of the classes in rows, and the clusters
    in columns; those without a class come last.
    """
    counts = contingency(y, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    order = list(columns[np.argsort(rows)])
    order += [i for i in range(counts.shape[1]) if i not in order]
    clusters = np.unique(labels)[order].tolist()
    return counts[:, order], [printable(str(name)) for name in np.unique(y)], clusters
