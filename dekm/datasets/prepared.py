"""Prepared data: one compressed file of samples and labels, and a small file of facts with their digest."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dekm.datasets.subsets import Labels, Samples
from dekm.datasets.tfidf import Terms
from dekm.errors import InputError
from dekm.files.arrays import Form, read_arrays, write_arrays
from dekm.files.reading import read_json, readable
from dekm.scaling import NO_SCALING, InputScaling, learn_image_scaling

FORMS = {
    "X": Form("uf", required=False),
    "y": Form("iufbUS", (1,), required=False),
    "data": Form("f", (1,), required=False),
    "indices": Form("iu", (1,), required=False),
    "indptr": Form("iu", (1,), required=False),
    "shape": Form("iu", (1,), required=False),
}

TERM_FORMS = {"terms": Form("U", (0,), required=False), "idf": Form("f", (1,), required=False)}


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
