"""Prepared data: one compressed file of samples and labels, and a small file of facts with their digest."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dekm.datasets.dataset import Dataset
from dekm.datasets.labels import name_classes
from dekm.datasets.subsets import Labels, Samples, count_classes, rows_of_classes, stratified_rows
from dekm.datasets.tfidf import Terms, Texts
from dekm.datasets.user.own import feature_names
from dekm.datasets.validation import check
from dekm.errors import InputError
from dekm.files.arrays import Form, read_arrays, write_arrays
from dekm.files.reading import read_json, readable
from dekm.files.writing import write_json
from dekm.scaling import NO_SCALING, InputScaling, learn_column_scaling, learn_image_scaling

logger = logging.getLogger(__name__)

FORMS = {
    "X": Form("uf", required=False),
    "y": Form("iufbUS", (1,), required=False),
    "data": Form("f", (1,), required=False),
    "indices": Form("iu", (1,), required=False),
    "indptr": Form("iu", (1,), required=False),
    "shape": Form("iu", (1,), required=False),
}

TERM_FORMS = {"terms": Form("U", (0,), required=False), "idf": Form("f", (1,), required=False)}


def prepare(
    dataset: Dataset,
    raw_dir: Path,
    *,
    data: Path,
    facts: Path,
    subsample: int | None = None,
    n_classes: int | None = None,
) -> dict[str, Any]:
    """Load a dataset, check it against its row, and write it to a file of data and a file of facts.

    The terms of a user's own texts, the files of the samples and the rows that a subsample keeps are stored
    with the data; the digest does not include them.

    Parameters
    ----------
    dataset : Dataset
        The dataset to prepare.
    raw_dir : Path
        Folder of the raw files.
    data : Path
        ``.npz`` file to write the samples and labels to.
    facts : Path
        JSON file to write the facts to.
    subsample : int, optional
        Size of a stratified subsample to keep.
    n_classes : int, optional
        Number of randomly drawn classes to keep, after the subsample.

    Returns
    -------
    dict of str to Any
        The facts; `n_classes` in them is None if the classes were not restricted.

    Raises
    ------
    InputError
        If the data cannot be loaded or differ from the row, or if `subsample` or `n_classes` is out of range.
    """
    X, y, names = dataset.load(raw_dir)
    terms = None
    if isinstance(X, Texts):
        X, terms = X.fit()
    check(dataset, X, y)
    y, class_names = (None, None) if y is None else name_classes(y)
    rows = kept_rows(X.shape[0], y, subsample, n_classes)
    label, n_clusters = dataset.label, dataset.n_clusters
    if rows is not None:
        X, y = X[rows], None if y is None else y[rows]
        names = names and [names[row] for row in rows]
    if n_classes is not None:
        kept = [str(i if class_names is None else class_names[i]) for i in np.unique(y)]
        label, n_clusters = f"{label}, classes {', '.join(kept)}", n_classes
    scaling = learn_scaling(dataset, X)
    known = {
        "label": label,
        "kind": dataset.kind,
        "n_samples": X.shape[0],
        "n_clusters": n_clusters,
        "shape": list(X.shape[1:]),
        "class_counts": None if y is None else list(count_classes(y)),
        "class_names": class_names,
        "subsample": subsample,
        "n_classes": n_classes,
        "options": dict(dataset.options),
        "features": feature_names(dataset),
        "scaling": scaling.facts(),
        "raw": [raw_file.path for raw_file in dataset.raw_set(raw_dir).raw],
        "digest": content_digest(X, y, scaling),
    }
    save(X, y, data, terms, rows, names)
    write_json(facts, known)
    return known


def kept_rows(n_samples: int, y: Labels, subsample: int | None, n_classes: int | None) -> np.ndarray | None:
    """Rows of the loaded data that are kept, ascending; None for all.

    Raises
    ------
    InputError
        As `prepare`.
    """
    rows = None if subsample is None else stratified_rows(n_samples, y, subsample)
    if n_classes is None:
        return rows
    of_classes = rows_of_classes(y if rows is None or y is None else y[rows], n_classes)
    return of_classes if rows is None else rows[of_classes]


def learn_scaling(dataset: Dataset, X: Samples) -> InputScaling:
    """The rule that scales the samples of a dataset, learned from those that are kept."""
    if dataset.kind == "table":
        scaling = learn_column_scaling(X, dataset.scaling)
        logger.info("%s: scaling of the columns: %s", dataset.label, scaling.kind)
        return scaling
    if dataset.kind != "images":
        return NO_SCALING
    scaling = learn_image_scaling(X)
    if scaling.high > 1 or scaling.low < 0:
        logger.warning(
            "%s: the images have values from %g to %g, which are not scaled; the methods are made for [0, 1]",
            dataset.label,
            scaling.low,
            scaling.high,
        )
    return scaling


def content_digest(X: Samples, y: Labels, scaling: InputScaling = NO_SCALING) -> str:
    """SHA-256 digest of the shapes, dtypes and values of samples and labels, and of the scaling of a table.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, ...)
        Samples.
    y : ndarray of shape (n,) or None
        Labels.
    scaling : InputScaling
        The rule that scales the samples.

    Returns
    -------
    str
        Hexadecimal digest.
    """
    parts = [X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)] if sparse.issparse(X) else [X]
    sha256 = hashlib.sha256(f"{X.shape}".encode())
    for part in parts if y is None else [*parts, y]:
        array = np.ascontiguousarray(part)
        sha256.update(f"{array.dtype.str}{array.shape}".encode())
        sha256.update(array.view(np.uint8).reshape(-1).data)
    if scaling.scale:
        sha256.update(json.dumps(scaling.facts()).encode())
    return sha256.hexdigest()


def save(
    X: Samples,
    y: Labels,
    data: Path,
    terms: Terms | None = None,
    rows: np.ndarray | None = None,
    names: Sequence[str] | None = None,
) -> None:
    """Write samples, labels and what is known of them to a compressed ``.npz`` file without pickles.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, ...)
        Samples.
    y : ndarray of shape (n,) or None
        Labels.
    data : Path
        ``.npz`` file to write; its folder is created if necessary.
    terms : Terms, optional
        Terms of a user's own texts.
    rows : ndarray of shape (n,), optional
        Rows of the samples in the loaded data, if they are not all of them.
    names : sequence of str, optional
        File of each sample.
    """
    if sparse.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    else:
        arrays = {"X": X}
    if y is not None:
        arrays["y"] = y
    if terms is not None:
        arrays |= {"terms": np.array("\n".join(terms.names)), "idf": terms.idf}
    if rows is not None:
        arrays["rows"] = rows
    if names is not None:
        arrays["names"] = np.array(names)
    write_arrays(data, arrays)


def load(data: Path, facts: Path) -> tuple[Samples, Labels, dict[str, Any]]:
    """Read prepared data.

    Parameters
    ----------
    data : Path
        ``.npz`` file of samples and labels.
    facts : Path
        JSON file of the facts.

    Returns
    -------
    X : ndarray or csr_matrix of shape (n, ...)
        Samples, scaled as the facts say: images of bytes to [0, 1].
    y : ndarray of shape (n,) or None
        Labels; None for unlabelled data.
    facts : dict of str to Any
        The facts.

    Raises
    ------
    InputError
        If the data were not prepared, cannot be read or do not have the digest in the facts.
    """
    if not facts.is_file():
        raise InputError(
            f"{facts.parent} holds no prepared data: run 'python -m dekm prepare {facts.parent.name}' first."
        )
    remedy = f"Run 'python -m dekm prepare' for {facts.parent.name} again."
    known = read_json(facts, {"digest": str}, remedy)
    arrays = read_arrays(data, FORMS, remedy)
    y = arrays.get("y")
    with readable(data, "file of prepared data", remedy=remedy):
        X = arrays["X"] if "X" in arrays else _sparse(arrays)
    scaling = stored_scaling(X, known, facts)
    if content_digest(X, y, scaling) != known["digest"]:
        raise InputError(f"{data} does not have the digest in {facts}; prepare the data again.")
    return scaling(X), y, known | {"scaling": scaling.facts()}


def stored_scaling(X: Samples, known: Mapping[str, Any], facts: Path) -> InputScaling:
    """The rule in the facts of prepared data; that of images in facts of earlier versions.

    Raises
    ------
    InputError
        If the facts hold no rule.
    """
    if "scaling" not in known:
        return learn_image_scaling(X) if X.ndim == 4 else NO_SCALING
    with readable(facts, "description of prepared data"):
        return InputScaling.from_facts(known["scaling"])


def load_terms(data: Path, facts: Path, digest: str) -> Terms:
    """Read the terms of prepared texts.

    Parameters
    ----------
    data : Path
        ``.npz`` file of samples, labels and terms.
    facts : Path
        JSON file of the facts.
    digest : str
        Expected digest of the samples and labels.

    Returns
    -------
    Terms
        The terms.

    Raises
    ------
    InputError
        If the data were not prepared, have another digest or were stored without terms.
    """
    if load(data, facts)[2]["digest"] != digest:
        raise InputError(f"{data} is not the data of the run: cluster the prepared data again.")
    arrays = read_arrays(
        data, {"terms": Form("U", (0,), required=False), "idf": Form("f", (1,), required=False)}
    )
    if "terms" not in arrays or "idf" not in arrays:
        raise InputError(f"{data} has no terms: 'python -m dekm prepare' stores them for own texts only.")
    return Terms(arrays["terms"].item().split("\n"), arrays["idf"])


def _sparse(arrays: Mapping[str, np.ndarray]) -> sparse.csr_matrix:
    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    return sparse.csr_matrix(parts, shape=tuple(arrays["shape"]))
