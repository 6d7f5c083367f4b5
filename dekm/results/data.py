"""The folder of a prepared dataset."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from dekm.files.arrays import Form, read_arrays
from dekm.files.reading import read_json, readable
from dekm.scaling import learn_image_scaling

DATA_FIELDS = {
    "label": str,
    "kind": str,
    "n_samples": int,
    "n_clusters": int,
    "shape": list,
    "class_counts": (list, type(None)),
    "options": dict,
    "digest": str,
}
LABELS = Form("iufbUS", (1,), required=False)
ROWS = Form("iu", (1,), required=False)
NAMES = Form("U", (1,), required=False)


class SampleNames(NamedTuple):
    """What the samples of prepared data are called.

    Attributes
    ----------
    rows : int64 array of shape (n,)
        Position of each sample, from 0, in the data that were loaded.
    files : array of shape (n,) or None
        File of each sample; None for samples that have no file of their own.
    classes : array of shape (n,) or None
        Name of the class of each sample; None for unlabelled data.
    """

    rows: np.ndarray
    files: np.ndarray | None
    classes: np.ndarray | None


class FeatureVectors(NamedTuple):
    """Samples whose features have names.

    Attributes
    ----------
    X : array or csr_matrix of shape (n, d)
        The samples.
    names : list of str
        Names of the features: columns of a table, or terms of texts.
    """

    X: Any
    names: list[str]


@dataclass(frozen=True)
class PreparedData:
    """The folder of a prepared dataset, ``data/<dataset>``.

    Attributes
    ----------
    path : Path
        The folder.
    """

    path: Path

    @property
    def arrays_file(self) -> Path:
        """File of the samples and labels."""
        return self.path / "data.npz"

    @property
    def facts_file(self) -> Path:
        """File of the description of the data, with their digest."""
        return self.path / "facts.json"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Description of the data; empty if none are prepared."""
        if not self.facts_file.exists():
            return {}
        return read_json(self.facts_file, DATA_FIELDS, self.remedy)

    @property
    def remedy(self) -> str:
        """What to do about damaged data."""
        return f"Run 'python -m dekm prepare' for {self.path.name} again."

    def labels(self) -> np.ndarray | None:
        """True labels (n,), the names of the classes where they have some; None if the data have none."""
        y = read_arrays(self.arrays_file, {"y": LABELS}, self.remedy).get("y")
        names = self.facts.get("class_names")
        if y is None or names is None:
            return y
        with readable(self.facts_file, "description of prepared data", remedy=self.remedy):
            return np.array(names)[y]

    def samples(self) -> SampleNames:
        """What each sample is called."""
        n_samples, forms = self.facts["n_samples"], {"rows": ROWS, "names": NAMES}
        arrays = read_arrays(self.arrays_file, forms, self.remedy)
        return SampleNames(arrays.get("rows", np.arange(n_samples)), arrays.get("names"), self.labels())

    def vectors(self) -> FeatureVectors | None:
        """Samples of a user's table or texts with the names of their features; None for other data."""
        forms = {name: Form("iuf", required=False) for name in ("X", "data", "indices", "indptr", "shape")}
        forms["terms"] = Form("U", (0,), required=False)
        arrays = read_arrays(self.arrays_file, forms, self.remedy)
        with readable(self.arrays_file, "file of prepared data", remedy=self.remedy):
            if "terms" in arrays:
                parts = (arrays["data"], arrays["indices"], arrays["indptr"])
                X = csr_matrix(parts, shape=tuple(arrays["shape"]))
                return FeatureVectors(X, arrays["terms"].item().split("\n"))
        names = self.facts.get("features")
        return FeatureVectors(arrays["X"], names) if names and "X" in arrays else None

    def images(self) -> np.ndarray | None:
        """Images (n, h, w, c) in [0, 1]; None if the samples are not images."""
        X = read_arrays(self.arrays_file, {"X": Form("uf", required=False)}, self.remedy).get("X")
        if X is None or X.ndim != 4:
            return None
        return learn_image_scaling(X)(X)
