"""What a complete seed left, read through checks: every score that is shown comes from here.

A seed whose folder lacks its manifest, differs from it or lies in the place of another seed is an
`InputError` that names the folder and says what makes the seed again.
"""

import math
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dekm.errors import InputError
from dekm.files.arrays import Form, read_array
from dekm.files.manifest import check_file, find_damage
from dekm.files.reading import NUMBER, check_fields, damaged, read_json
from dekm.files.tables import read_table
from dekm.markup import from_csv_cell
from dekm.results.seed import SeedFolder

if TYPE_CHECKING:
    import pandas as pd

CHECKED_FIRST = 2**18  # bytes of a file up to which its content is checked before anything is read
ESSENTIAL = ("facts", "metrics", "manifest")
N_TYPICAL = 8  # samples of each kind that are named for a cluster


class Record(SeedFolder):
    """A complete seed, as `read_record` returns it.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def checked(self, name: str) -> Path:
        """Path of one of the files, checked against the manifest.

        Raises
        ------
        InputError
            If the file does not exist, or its size or digest is another than in the manifest.
        """
        file = self.file(name)
        if not file.is_file():
            raise InputError(f"{file} does not exist. {self.failure or self.remedy}")
        check_file(file, self.remedy)
        return file

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The final metrics."""
        file = self.checked("metrics")
        metrics = read_json(file, {"seconds": NUMBER}, self.remedy)
        check_fields(file, metrics, dict.fromkeys(metrics, (*NUMBER, type(None))), self.remedy)
        return metrics

    def history(self) -> list[dict[str, float]]:
        """One row per iteration of a run or epoch of a pretraining; an empty field is NaN."""
        self.checked("loss" if self.stage == "pretrain" else "history")
        return super().history()

    @property
    def in_table(self) -> bool:
        """Whether it is a run of Table III, not one of a figure alone."""
        return self.facts.get("in_table", True)

    @property
    def is_finite(self) -> bool:
        """Whether a run has a partition, and no score is missing, infinite or NaN."""
        values = [self.metrics[name] for name in ("acc", "nmi", "inertia") if name in self.metrics]
        return not self.failure and all(value is not None and math.isfinite(value) for value in values)

    @property
    def data_facts(self) -> dict[str, Any]:
        """Description of the data of the seed.

        Raises
        ------
        InputError
            If there is none, as for a run that was copied to another place.
        """
        facts = self.data.facts
        if not facts:
            file = self.data.facts_file
            raise InputError(f"{self.path} should be at its place in a folder of results: {file} is missing.")
        return facts

    def true_labels(self) -> np.ndarray | None:
        """True labels of the data (n,); None if they have none."""
        return self._of_same_data(self.data.labels())

    def images(self) -> np.ndarray | None:
        """Images of the data (n, h, w, c) in [0, 1]; None if the samples are not images."""
        return self._of_same_data(self.data.images())

    def _of_same_data(self, array: np.ndarray | None) -> np.ndarray | None:
        self.check_data()
        return array

    def check_data(self) -> None:
        """Raise `InputError` if other data are prepared now than those with which the seed was made."""
        known = self.data.facts
        if known and known["digest"] != self.facts["data"]:
            raise InputError(f"{self.path} was made with other data than {self.data.path}. {self.remedy}")

    def labels(self) -> np.ndarray:
        """Cluster of each sample, (n,)."""
        return read_array(self.checked("labels"), Form("iu", (1,)), self.remedy)

    def embedding(self) -> np.ndarray:
        """Embedding of each sample, (n, e)."""
        H = read_array(self.checked("embedding"), Form("f", (2,)), self.remedy)
        if len(H) != len(self.labels()):
            problem = f"it has {len(H)} rows for {len(self.labels())} labels"
            raise damaged(self.file("embedding"), problem, self.remedy)
        return H

    def clusters(self) -> "pd.DataFrame":
        """The table of clusters, one row per sample in the order of the prepared data."""
        columns = ("sample", "class"), ("row", "cluster", "distance", "margin")
        table = read_table(self.checked("clusters"), *columns, remedy=self.remedy).fillna({"sample": ""})
        table[["sample", "class"]] = table[["sample", "class"]].map(from_csv_cell)
        return table

    def typical(self) -> "pd.DataFrame":
        """The typical and the ambiguous samples of each cluster, the first ones first.

        Typical samples have the smallest distance to the center of their cluster and ambiguous ones the
        smallest margin, both as the run measured them; the table of clusters and the figure of the samples
        show these.

        Returns
        -------
        pandas.DataFrame
            Columns cluster, kind ("typical" or "ambiguous"), place (from 1, at most `N_TYPICAL`), sample
            (position in the prepared data), name, distance and margin.
        """
        import pandas as pd

        table = self.clusters().rename(columns={"sample": "name"}).rename_axis("sample").reset_index()
        parts = []
        different = table.drop_duplicates(["cluster", "distance", "margin"])  # of equal samples the first
        for cluster, members in different[different["cluster"] >= 0].groupby("cluster"):
            for kind, by in (("typical", "distance"), ("ambiguous", "margin")):
                chosen = members.sort_values(by, kind="stable").head(N_TYPICAL)
                place = range(1, len(chosen) + 1)
                parts.append(chosen.assign(cluster=int(str(cluster)), kind=kind, place=place))
        columns = ["cluster", "kind", "place", "sample", "name", "distance", "margin"]
        return pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)

    def composition(self) -> "pd.DataFrame":
        """The size and the main class of each cluster.

        Returns
        -------
        pandas.DataFrame
            One row per cluster: cluster, n_samples, main_class (the most frequent class of the labelled
            samples, of equal ones the first by name; empty without labels) and purity (its share, percent).
        """
        import pandas as pd

        from dekm.metrics import purities

        rows = []
        for cluster, members in self.clusters().groupby("cluster"):
            known = members["class"].dropna()
            main = known.mode().iloc[0] if len(known) else ""  # the modes are sorted
            purity = 100 * purities(known, np.zeros(len(known))).item() if len(known) else math.nan
            rows.append((int(str(cluster)), len(members), main, purity))
        return pd.DataFrame(rows, columns=["cluster", "n_samples", "main_class", "purity"])


def read_record(path: Path) -> Record:
    """Check the folder of a complete seed: its place, the sizes of all files and the content of small ones.

    The content of a large file is checked when it is read.

    Parameters
    ----------
    path : Path
        Folder of the seed, at its place in a folder of results.

    Raises
    ------
    InputError
        If it is not the folder of a complete seed, or holds another one than its place says.
    """
    record = Record(path)
    for name in ESSENTIAL:
        if not (file := record.file(name)).is_file():
            remedy = "" if name == "facts" else f" {record.remedy}"
            problem = f"{path} should be the folder of a complete run; it holds no {file.name}."
            raise InputError(f"{problem}{remedy}")
    if problem := find_damage(path, CHECKED_FIRST):
        raise InputError(f"{problem} {record.remedy}")
    _ = record.facts  # they tell the place of the seed
    return record


def describe_warnings(runs: Iterable[Record]) -> str:
    """Why runs of a cell failed, and what they warn of, in the words of the first that does; or empty."""
    found = list(runs)
    texts = [run.failure for run in found if run.failure]
    warned = [run for run in found if run.warnings]
    if warned:
        text = " ".join(warned[0].warnings).removesuffix(".")
        texts.append(f"{len(warned)} of {len(found)} seeds warn, seed {warned[0].facts['seed']}: {text}")
    return "; ".join(texts)
