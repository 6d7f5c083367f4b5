"""The folder of a prepared dataset."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dekm.errors import InputError
from dekm.files.reading import check_fields, read_json, readable
from dekm.files.samples import StoredSamples, read_samples
from dekm.scaling import InputScaling

DATA_FIELDS = {
    "label": str,
    "kind": str,
    "n_samples": int,
    "n_clusters": int,
    "shape": list,
    "class_counts": (list, type(None)),
    "options": dict,
    "digest": str,
    "scaling": dict,
}


class SampleNames(NamedTuple):
    """What the samples of prepared data are called.

    Attributes
    ----------
    rows : int64 array of shape (n,)
        Position of each sample, from 0, in the data that were loaded.
    files : array of shape (n,) or None
        File or name of each sample; None for samples that have none.
    classes : array of shape (n,) or None
        Name of the class of each sample, empty if it has none; None for unlabelled data.
    """

    rows: np.ndarray
    files: np.ndarray | None
    classes: np.ndarray | None


def length_of_common_folder(names: Sequence[str]) -> int:
    """Number of characters of the folder, with its slash, that all names begin with."""
    return commonprefix(names).rfind("/") + 1  # noqa: RUF071 names are texts, not paths


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
        facts = {"warnings": [], **read_json(self.facts_file, DATA_FIELDS, self.remedy)}
        check_fields(self.facts_file, facts, {"warnings": list}, self.remedy)
        return facts

    @property
    def remedy(self) -> str:
        """What to do about damaged data."""
        return f"Run 'python -m dekm prepare' for {self.path.name} again."

    @property
    def warnings(self) -> list[str]:
        """What the preparation warned of."""
        return self.facts.get("warnings", [])

    def labels(self) -> np.ndarray | None:
        """True labels (n,), the names of the classes where they have some; None if the data have none.

        The name of a sample without a label is an empty text.
        """
        y, names = self._read("y").y, self.facts.get("class_names")
        if y is None or names is None:
            return y
        with readable(self.facts_file, "description of prepared data", remedy=self.remedy):
            return np.array(names)[y] if (y >= 0).all() else np.array([*map(str, names), ""])[y]

    def samples(self) -> SampleNames:
        """What each sample is called."""
        stored = self._read("rows", "names")
        rows = np.arange(self.facts["n_samples"]) if stored.rows is None else stored.rows
        return SampleNames(rows, stored.names, self.labels())

    def vectors(self) -> FeatureVectors | None:
        """Samples of a user's table or texts with the names of their features; None for other data.

        Columns have their own units, and counts of single cells are log-normalized.
        """
        stored = self._read("X", "terms")
        names = stored.terms or self.facts.get("features")
        if not names or stored.X.ndim != 2:
            return None
        scaling = self._scaling()
        return FeatureVectors(scaling(stored.X) if scaling.kind == "counts" else stored.X, names)

    def images(self) -> np.ndarray | None:
        """Images (n, h, w, c) in [0, 1]; None if the samples are not images."""
        X = self._read("X").X
        return self._scaling()(X) if X.ndim == 4 else None

    def _read(self, *parts: str) -> StoredSamples:
        return read_samples(self.arrays_file, parts, self.remedy)

    def _scaling(self) -> InputScaling:
        with readable(self.facts_file, "description of prepared data", remedy=self.remedy):
            return InputScaling.from_facts(self.facts["scaling"])


def read_facts(data: PreparedData) -> dict[str, Any]:
    """Description of prepared data; empty without data, only the reason ``damaged`` if it is damaged."""
    try:
        return data.facts
    except InputError as error:
        return {"damaged": str(error)}
