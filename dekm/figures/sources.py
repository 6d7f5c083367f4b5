"""What figures take from their inputs."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from dekm.errors import InputError
from dekm.metrics import contingency
from dekm.results.folders import SeedFolder


def read_history(run: SeedFolder) -> pd.DataFrame:
    """The history of a run, one row per iteration."""
    return pd.DataFrame(run.history())


def one(inputs: Sequence[Path], what: str) -> Path:
    """The only input of a figure that takes one."""
    if len(inputs) != 1:
        raise InputError(f"{len(inputs)} inputs should be 1: {what}.")
    return inputs[0]


def align(y: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, list[str], list[int]]:
    """Clusters beside the classes that the Hungarian algorithm gives them.

    Returns
    -------
    counts : (n_classes, n_clusters) in the order of the classes; clusters without a class come last
    classes : names of the classes
    clusters : the cluster of each column
    """
    counts = contingency(y, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    order = list(columns[np.argsort(rows)])
    order += [i for i in range(counts.shape[1]) if i not in order]
    clusters = np.unique(labels)[order].tolist()
    return counts[:, order], [str(name) for name in np.unique(y)], clusters
