"""What figures read from the folders of results."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from dekm.errors import InputError
from dekm.files import read_json
from dekm.metrics import contingency


@dataclass(frozen=True)
class Run:
    """A seed's folder, ``runs/<dataset>/<method>/seed<seed>/``."""

    path: Path
    facts: dict[str, Any]
    metrics: dict[str, Any]

    @property
    def label(self) -> str:
        """Name of the method in the paper."""
        return self.facts["label"]

    @property
    def data(self) -> Path:
        """Folder of the prepared data that the run clustered."""
        return self.path.absolute().parents[3] / "data" / self.facts["dataset"]

    def array(self, name: str) -> np.ndarray:
        """``labels`` or ``embedding``."""
        return read_array(self.path / f"{name}.npy")

    def history(self) -> pd.DataFrame:
        """One row per iteration."""
        return pd.read_csv(self.path / "history.csv")


def read_run(folder: Path) -> Run:
    """A complete run.

    Raises
    ------
    InputError
        If the folder is none.
    """
    for name in ("facts.json", "metrics.json"):
        if not (folder / name).is_file():
            raise InputError(f"{folder} should be the folder of a complete run; it holds no {name}.")
    return Run(folder, read_json(folder / "facts.json"), read_json(folder / "metrics.json"))


def read_seeds(cell: Path) -> list[Run]:
    """The complete runs of a cell, ``runs/<dataset>/<method>/``, that its summary names."""
    file = cell / "summary.json"
    if not file.is_file():
        raise InputError(f"{cell} should be the folder of a cell; it holds no {file.name}.")
    return [read_run(cell / f"seed{seed}") for seed in read_json(file)["seeds"]]


def read_array(file: Path) -> np.ndarray:
    """One array from a ``.npy`` file."""
    try:
        array: np.ndarray = np.load(file, allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{file} should be a file of one NumPy array: {error}.") from error
    return array


def read_images(folder: Path) -> np.ndarray | None:
    """The images (n, h, w, c) of prepared data, in [0, 1]; None where the samples are no images."""
    with open_arrays(folder / "data.npz") as arrays:
        X = arrays.get("X")
    if X is None or X.ndim != 4:
        return None
    return X / np.float32(255) if X.dtype == np.uint8 else X


def read_truth(folder: Path) -> np.ndarray | None:
    """The true labels of prepared data; None where there are none."""
    with open_arrays(folder / "data.npz") as arrays:
        y: np.ndarray | None = arrays.get("y")
    return y


def dataset_label(folder: Path) -> str:
    """Name of a dataset in the paper."""
    return read_json(folder / "facts.json")["label"]


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


def open_arrays(file: Path) -> Any:
    """The arrays of a ``.npz`` file without pickled objects."""
    try:
        return np.load(io.BytesIO(file.read_bytes()), allow_pickle=False)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{file} should be a file of NumPy arrays: {error}.") from error
