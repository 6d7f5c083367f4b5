"""The file of the samples of a prepared dataset, ``data.npz``: what it holds, and under which names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dekm.files.arrays import Form, read_arrays, write_arrays
from dekm.files.reading import readable

SPARSE = ("data", "indices", "indptr", "shape")
FORMS = {
    "X": Form("uf", required=False),
    "data": Form("f", (1,), required=False),
    **{name: Form("iu", (1,), required=False) for name in SPARSE[1:]},
    "y": Form("iufbUS", (1,), required=False),
    "terms": Form("U", (0,), required=False),
    "idf": Form("f", (1,), required=False),
    "rows": Form("iu", (1,), required=False),
    "names": Form("U", (1,), required=False),
}


class StoredSamples(NamedTuple):
    """What a file of samples holds; None for what it does not hold or was not asked for."""

    X: Any = None  # raw samples (n, ...)
    y: np.ndarray | None = None  # labels (n,)
    terms: list[str] | None = None  # of texts
    idf: np.ndarray | None = None  # inverse document frequencies (d,) of the terms of a user's own texts
    rows: np.ndarray | None = None  # rows (n,) of the samples in the loaded data, if they are not all of them
    names: np.ndarray | None = None  # file or name (n,) of each sample


def write_samples(file: Path, samples: StoredSamples) -> None:
    """Write samples and what is known of them, compressed and without pickles."""
    X, *_ = samples
    arrays = {"X": X}
    if sparse.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    others = {name: value for name, value in samples._asdict().items() if name != "X" and value is not None}
    arrays |= {name: np.asarray(value) for name, value in others.items()}
    if samples.terms is not None:
        arrays["terms"] = np.array("\n".join(samples.terms))
    write_arrays(file, arrays)


def read_samples(file: Path, parts: Sequence[str], remedy: str = "") -> StoredSamples:
    """Read some parts of a file of samples, named as in `StoredSamples`; `InputError` if it lacks them."""
    wanted = [name for part in parts for name in (("X", *SPARSE) if part == "X" else (part,))]
    arrays: dict[str, Any] = dict(read_arrays(file, {name: FORMS[name] for name in wanted}, remedy))
    with readable(file, "file of prepared data", remedy=remedy):
        if "X" in parts and "X" not in arrays:
            data, indices, indptr, shape = (arrays.pop(name) for name in SPARSE)
            arrays["X"] = sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))
        if "terms" in arrays:
            arrays["terms"] = arrays["terms"].item().split("\n")
        return StoredSamples(**arrays)
