"""Prepared data: one compressed file of samples and labels, and a small file of facts with their digest."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dekm.datasets.subsets import Labels, Samples
from dekm.datasets.tfidf import Terms
from dekm.errors import InputError
from dekm.files.reading import read_json, readable
from dekm.files.samples import read_samples
from dekm.scaling import NO_SCALING, InputScaling


def samples_digest(X: Samples, y: Labels, scaling: InputScaling = NO_SCALING) -> str:
    """SHA-256 of the shapes, dtypes and values of samples and labels, and of the scaling of a table."""
    parts = [X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)] if sparse.issparse(X) else [X]
    sha256 = hashlib.sha256(f"{X.shape}".encode())
    for part in parts if y is None else [*parts, y]:
        array = np.ascontiguousarray(part)
        sha256.update(f"{array.dtype.str}{array.shape}".encode())
        sha256.update(array.view(np.uint8).reshape(-1).data)
    if scaling.scale or scaling.kind == "counts":
        sha256.update(json.dumps(scaling.facts()).encode())
    return sha256.hexdigest()


def load(data: Path, facts: Path) -> tuple[Samples, Labels, dict[str, Any]]:
    """Samples (n, ...), float32 and scaled as the facts say, labels (n,) or None, and the facts.

    A label is -1 where a sample has none. Raises `InputError` if the data were not prepared, cannot be read
    or do not have the digest in the facts.
    """
    if not facts.is_file():
        raise InputError(
            f"{facts.parent} holds no prepared data: run 'python -m dekm prepare {facts.parent.name}' first."
        )
    remedy = f"Run 'python -m dekm prepare' for {facts.parent.name} again."
    known = read_json(facts, {"digest": str, "scaling": dict}, remedy)
    with readable(facts, "description of prepared data", remedy=remedy):
        scaling = InputScaling.from_facts(known["scaling"])
    stored = read_samples(data, ("X", "y"), remedy)
    if samples_digest(stored.X, stored.y, scaling) != known["digest"]:
        raise InputError(f"{data} does not have the digest in {facts}; prepare the data again.")
    return scaling(stored.X), stored.y, known


def load_terms(data: Path, facts: Path, digest: str) -> Terms:
    """The terms of prepared texts; `InputError` if there are none, or the data have another digest."""
    if load(data, facts)[2]["digest"] != digest:
        raise InputError(f"{data} is not the data of the run: cluster the prepared data again.")
    stored = read_samples(data, ("terms", "idf"))
    if stored.terms is None or stored.idf is None:
        raise InputError(f"{data} has no terms: 'python -m dekm prepare' stores them for own texts only.")
    return Terms(stored.terms, stored.idf)
