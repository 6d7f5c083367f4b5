"""Prepared data: one compact file per dataset, and a small file of facts that carries its digest."""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Dataset
from dekm.datasets.reading import readable
from dekm.datasets.scaling import unit_scaled
from dekm.datasets.subsets import Labels, Samples, count_classes, random_classes, stratified_subsample
from dekm.datasets.tfidf import Terms, Texts
from dekm.datasets.user.own import feature_names
from dekm.errors import InputError
from dekm.files import read_json, write_json

DATA = "data.npz"
FACTS = "facts.json"


def prepare(
    dataset: Dataset,
    raw_dir: Path,
    folder: Path,
    *,
    subsample: int | None = None,
    n_classes: int | None = None,
) -> dict[str, Any]:
    """Load a dataset, check it against its row of Table II, and write ``data.npz`` and ``facts.json``.

    A user's own texts leave their terms in ``data.npz``; these decide no result: the digest is without them.

    Parameters
    ----------
    raw_dir : folder of the raw files
    folder : where the two files go
    subsample : keep so many samples, drawn without replacement, each class in its share
    n_classes : of those keep so many classes, drawn with a fixed seed

    Raises
    ------
    InputError
        If the data are not what Table II says, or `subsample` or `n_classes` does not fit.
    """
    X, y = dataset.load(raw_dir)
    terms = None
    if isinstance(X, Texts):
        X, terms = X.fit()
    check(dataset, X, y)
    if subsample is not None:
        X, y = stratified_subsample(X, y, subsample)
    label, n_clusters = dataset.label, dataset.n_clusters
    if n_classes is not None:
        X, y, kept = random_classes(X, y, n_classes)
        label, n_clusters = f"{label}, classes {', '.join(map(str, kept))}", n_classes
    facts = {
        "label": label,
        "kind": dataset.kind,
        "n_samples": X.shape[0],
        "n_clusters": n_clusters,
        "shape": list(X.shape[1:]),
        "class_counts": None if y is None else list(count_classes(y)),
        "subsample": subsample,
        "options": dict(dataset.options),
        "features": feature_names(dataset),
        "raw": [raw_file.path for raw_file in dataset.source(raw_dir).raw],
        "digest": content_digest(X, y),
    }
    folder.mkdir(parents=True, exist_ok=True)
    save(X, y, folder / DATA, terms)
    write_json(folder / FACTS, facts)
    return facts


def check(dataset: Dataset, X: Samples, y: Labels) -> None:
    """Raise `InputError` where loaded data differ from the dataset's row, or are unfit for any method."""
    n_samples = X.shape[0] if dataset.n_samples is None else dataset.n_samples
    expected = (n_samples, *(X.shape[1:] if dataset.shape is None else dataset.shape))
    if X.shape != expected:
        raise InputError(f"{dataset.label}: loaded shape {X.shape} should be {expected}.")
    if n_samples < dataset.n_clusters:
        raise InputError(
            f"{dataset.label}: n_samples={n_samples} should be >= n_clusters={dataset.n_clusters}."
        )
    if 0 in X.shape:
        raise InputError(f"{dataset.label}: loaded shape {X.shape} holds no values.")
    values = X.data if sparse.issparse(X) else X
    if not np.isfinite(values).all():
        raise InputError(f"{dataset.label}: loaded data hold values that are not finite.")
    if y is None:
        return
    if y.shape != (n_samples,):
        raise InputError(f"{dataset.label}: labels of shape {y.shape} should be ({n_samples},).")
    counts = count_classes(y)
    if dataset.n_samples is not None and len(counts) != dataset.n_clusters:
        raise InputError(f"{dataset.label}: {len(counts)} classes should be {dataset.n_clusters}.")
    if dataset.class_counts is not None and counts != dataset.class_counts:
        raise InputError(f"{dataset.label}: class counts {counts} should be {dataset.class_counts}.")


def content_digest(X: Samples, y: Labels) -> str:
    """SHA-256 over shape, type and values of the samples and of the labels, if there are any."""
    parts = [X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)] if sparse.issparse(X) else [X]
    sha256 = hashlib.sha256(f"{X.shape}".encode())
    for part in parts if y is None else [*parts, y]:
        array = np.ascontiguousarray(part)
        sha256.update(f"{array.dtype.str}{array.shape}".encode())
        sha256.update(array.view(np.uint8).reshape(-1).data)
    return sha256.hexdigest()


def save(X: Samples, y: Labels, file: Path, terms: Terms | None = None) -> None:
    """Write samples, and what there is of labels and terms, to a compressed ``.npz`` file without pickles."""
    if sparse.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    else:
        arrays = {"X": X}
    if y is not None:
        arrays["y"] = y
    if terms is not None:
        arrays |= {"terms": np.array("\n".join(terms.names)), "idf": terms.idf}
    temporary = file.with_name(f".{os.getpid()}.{file.name}")
    np.savez_compressed(temporary, **arrays)
    os.replace(temporary, file)


def load(folder: Path) -> tuple[Samples, Labels, dict[str, Any]]:
    """Read prepared samples, labels and facts; uint8 images are scaled to [0, 1] as float32.

    The labels are None where the data have none.

    Raises
    ------
    InputError
        If there are no prepared data, or they are not those that the facts describe.
    """
    if not (folder / FACTS).is_file():
        raise InputError(
            f"{folder} holds no prepared data: run 'python -m dekm prepare {folder.name}' first."
        )
    facts = read_json(folder / FACTS)
    with _arrays(folder) as arrays:
        y = arrays.get("y")
        if "indptr" in arrays:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            X: Samples = sparse.csr_matrix(parts, shape=tuple(arrays["shape"]))
        else:
            X = arrays["X"]
    if content_digest(X, y) != facts["digest"]:
        raise InputError(
            f"{folder / DATA} is not the data that {FACTS} beside it describes; prepare it again."
        )
    return unit_scaled(X), y, facts


def load_terms(folder: Path, digest: str) -> Terms:
    """Read the terms of prepared texts.

    Parameters
    ----------
    digest : of the samples and labels whose terms are wanted

    Raises
    ------
    InputError
        If there are no prepared data, they are others by now, or they hold no terms.
    """
    if load(folder)[2]["digest"] != digest:
        raise InputError(f"{folder} holds other data than those of the run: cluster them again.")
    with _arrays(folder) as arrays:
        if "terms" not in arrays:
            raise InputError(
                f"{folder / DATA} holds no terms: 'python -m dekm prepare' keeps those of own texts only."
            )
        return Terms(arrays["terms"].item().split("\n"), arrays["idf"])


@contextlib.contextmanager
def _arrays(folder: Path) -> Iterator[Any]:
    with (
        readable(folder / DATA, "file of prepared data"),
        (folder / DATA).open("rb") as stream,
        np.load(stream, allow_pickle=False) as arrays,
    ):
        yield arrays
