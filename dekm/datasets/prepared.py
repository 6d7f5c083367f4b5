"""Prepared data: one compact file per dataset, and a small file of facts that carries its digest."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Dataset
from dekm.errors import InputError
from dekm.provenance import read_json, write_json

Samples = Any  # a NumPy array, or a SciPy CSR matrix of text

DATA = "data.npz"
FACTS = "facts.json"


def prepare(dataset: Dataset, raw_dir: Path, folder: Path, *, subsample: int | None = None) -> dict[str, Any]:
    """Load a dataset, check it against its row of Table II, and write ``data.npz`` and ``facts.json``.

    Parameters
    ----------
    raw_dir : folder of the raw files
    folder : where the two files go
    subsample : keep so many samples, drawn without replacement, each class in its share

    Raises
    ------
    InputError
        If the data are not what Table II says, or `subsample` does not fit.
    """
    X, y = dataset.load(raw_dir)
    check(dataset, X, y)
    if subsample is not None:
        X, y = stratified_subsample(X, y, subsample)
    facts = {
        "label": dataset.label,
        "kind": dataset.kind,
        "n_samples": X.shape[0],
        "n_clusters": dataset.n_clusters,
        "shape": list(X.shape[1:]),
        "class_counts": np.unique(y, return_counts=True)[1].tolist(),
        "subsample": subsample,
        "digest": content_digest(X, y),
    }
    folder.mkdir(parents=True, exist_ok=True)
    save(X, y, folder / DATA)
    write_json(folder / FACTS, facts)
    return facts


def check(dataset: Dataset, X: Samples, y: np.ndarray) -> None:
    """Raise `InputError` where loaded data differ from the dataset's row."""
    expected = (dataset.n_samples, *dataset.shape)
    if X.shape != expected:
        raise InputError(f"{dataset.label}: loaded shape {X.shape} should be {expected}.")
    counts = tuple(np.unique(y, return_counts=True)[1].tolist())
    if len(counts) != dataset.n_clusters:
        raise InputError(f"{dataset.label}: {len(counts)} classes should be {dataset.n_clusters}.")
    if dataset.class_counts is not None and counts != dataset.class_counts:
        raise InputError(f"{dataset.label}: class counts {counts} should be {dataset.class_counts}.")


def stratified_subsample(X: Samples, y: np.ndarray, size: int) -> tuple[Samples, np.ndarray]:
    """`size` samples drawn with a fixed seed, each class in its share, in their old order."""
    from sklearn.model_selection import train_test_split

    n_classes = len(np.unique(y))
    if not n_classes <= size <= len(y):
        raise InputError(f"subsample={size} should be from {n_classes} (classes) to {len(y)} (samples).")
    if size > len(y) - n_classes:
        raise InputError(f"subsample={size} leaves too few of {len(y)} samples; use null for all of them.")
    kept, _ = train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=0)
    kept.sort()
    return X[kept], y[kept]


def content_digest(X: Samples, y: np.ndarray) -> str:
    """SHA-256 over shape, type and values of the samples and labels."""
    parts = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
    sha256 = hashlib.sha256(f"{X.shape}".encode())
    for part in [*parts, y]:
        array = np.ascontiguousarray(part)
        sha256.update(f"{array.dtype.str}{array.shape}".encode())
        sha256.update(array.view(np.uint8).reshape(-1).data)
    return sha256.hexdigest()


def save(X: Samples, y: np.ndarray, file: Path) -> None:
    """Write samples and labels to one compressed ``.npz`` file without pickled objects."""
    if sparse.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    else:
        arrays = {"X": X}
    temporary = file.with_name(f".{os.getpid()}.{file.name}")
    np.savez_compressed(temporary, y=y, **arrays)
    os.replace(temporary, file)


def load(folder: Path) -> tuple[Samples, np.ndarray, dict[str, Any]]:
    """Read prepared samples, labels and facts; uint8 images are scaled to [0, 1] as float32.

    Raises
    ------
    InputError
        If the data are not those that the facts describe.
    """
    facts = read_json(folder / FACTS)
    with np.load(folder / DATA, allow_pickle=False) as arrays:
        y = arrays["y"]
        if "indptr" in arrays:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            X: Samples = sparse.csr_matrix(parts, shape=tuple(arrays["shape"]))
        else:
            X = arrays["X"]
    if content_digest(X, y) != facts["digest"]:
        raise InputError(
            f"{folder / DATA} is not the data that {FACTS} beside it describes; prepare it again."
        )
    if X.dtype == np.uint8:
        X = X.astype(np.float32) / np.float32(255)
    return X, y, facts
