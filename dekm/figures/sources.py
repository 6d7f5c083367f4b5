"""Reading of a figure's inputs, and what is computed from them before drawing."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from dekm.errors import InputError
from dekm.metrics import contingency
from dekm.results.folders import SeedFolder

N_SHOWN = 8


def read_history(run: SeedFolder) -> pd.DataFrame:
    """Read the history of a run.

    Parameters
    ----------
    run : SeedFolder
        Folder of a run.

    Returns
    -------
    pandas.DataFrame
        One row per iteration.
    """
    return pd.DataFrame(run.history())


def describe_data(run: SeedFolder) -> str:
    """Name of the data of a run, with the size of a subsample."""
    facts = run.data.facts
    name = facts.get("label", run.facts["dataset"])
    size = facts.get("subsample")
    return name if size is None else f"{name} (subsample of {size:,} samples)"


def single_input(inputs: Sequence[Path], description: str) -> Path:
    """Input of a figure that takes exactly one.

    Parameters
    ----------
    inputs : sequence of Path
        Inputs of the figure.
    description : str
        What the input should be, for the error.

    Returns
    -------
    Path
        The input.

    Raises
    ------
    InputError
        If there is not exactly one input.
    """
    if len(inputs) != 1:
        raise InputError(f"{len(inputs)} inputs should be 1: {description}.")
    return inputs[0]


def align(y: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, list[str], list[int]]:
    """Confusion matrix with the clusters in the order of the classes that the Hungarian algorithm assigns.

    Parameters
    ----------
    y : numpy.ndarray of shape (n,)
        True labels.
    labels : numpy.ndarray of shape (n,)
        Clusters.

    Returns
    -------
    counts : numpy.ndarray of shape (n_classes, n_clusters)
        Number of samples; clusters without a class come last.
    classes : list of str
        Name of the class of each row.
    clusters : list
        Cluster of each column.
    """
    counts = contingency(y, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    order = list(columns[np.argsort(rows)])
    order += [i for i in range(counts.shape[1]) if i not in order]
    clusters = np.unique(labels)[order].tolist()
    return counts[:, order], [str(name) for name in np.unique(y)], clusters


def representatives(H: np.ndarray, labels: np.ndarray, n_shown: int = N_SHOWN) -> pd.DataFrame:
    """Select the samples of each cluster that are nearest to its centroid, and the most ambiguous ones.

    Parameters
    ----------
    H : numpy.ndarray of shape (n, e)
        Embedding.
    labels : numpy.ndarray of shape (n,)
        Clusters.
    n_shown : int, default=N_SHOWN
        Maximum number of samples per cluster and kind.

    Returns
    -------
    pandas.DataFrame
        Columns cluster, kind ("nearest" or "ambiguous"), place (from 1), sample, distance (to the centroid),
        and ratio (of this distance to the distance to the nearest other centroid; largest if ambiguous).
    """
    clusters = np.unique(labels)
    centers = np.stack([H[labels == cluster].mean(0) for cluster in clusters])
    distances = np.stack([np.linalg.norm(H - center, axis=1) for center in centers], axis=1)
    own = np.searchsorted(clusters, labels)
    at = np.arange(len(H))
    distance = distances[at, own]
    others = distances.copy()
    others[at, own] = np.inf
    ratio = distance / np.maximum(others.min(1), 1e-12)
    rows = []
    for cluster in clusters:
        members = np.flatnonzero(labels == cluster)
        for kind, key in (("nearest", distance[members]), ("ambiguous", -ratio[members])):
            chosen = members[np.argsort(key, kind="stable")][:n_shown]
            rows.append(
                pd.DataFrame(
                    {
                        "cluster": cluster,
                        "kind": kind,
                        "place": np.arange(1, len(chosen) + 1),
                        "sample": chosen,
                        "distance": distance[chosen],
                        "ratio": ratio[chosen],
                    }
                )
            )
    return pd.concat(rows)
