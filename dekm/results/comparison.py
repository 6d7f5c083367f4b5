"""Which partitions of a dataset are best without true labels: their silhouettes in all learned embeddings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

import numpy as np

from dekm.clustering.silhouettes import pooled_silhouettes
from dekm.errors import InputError
from dekm.results.record import Record
from dekm.results.runs import Runs

SIMPLE = ("k_means", "pca_k_means", "ae_k_means")  # they train nothing for the clusters, the simplest first
NOT_LEARNED = SIMPLE[:2]  # they cluster the samples or their principal components
N_SAMPLES = 1000


@dataclass(frozen=True)
class Comparison:
    """The pooled silhouettes of the runs on a dataset.

    Attributes
    ----------
    scores : mapping of str to list of float
        By method, the largest mean first, of equal ones the simplest: one value of `pooled_silhouettes` per
        run. Empty if there is nothing to compare.
    left_out : list of str
        What has no part in it and why, one sentence each.
    """

    scores: Mapping[str, list[float]]
    left_out: list[str]

    def means(self) -> dict[str, float]:
        """Mean score of each method."""
        return {method: fmean(scores) for method, scores in self.scores.items()}


def compare(runs: Runs, dataset: str) -> Comparison:
    """Score the partitions of all runs on a dataset in all embeddings that the runs have learned.

    The silhouette of a partition in its own embedding tells how that was trained, and that of the samples
    favours the methods that cluster the samples; so neither compares methods. The samples and their principal
    components count as spaces only where no run has learned an embedding. No true label has a part in it.
    """
    cells, left_out = runs.of_dataset(dataset), list[str]()
    partitions: dict[str, list[np.ndarray]] = {}
    for method, records in cells.items():
        try:
            found = [run.labels() for run in records]
        except InputError as error:
            left_out.append(f"{records[0].label} is left out: {error}")
            continue
        if min(len(np.unique(labels)) for labels in found) > 1:
            partitions[method] = found
        else:
            left_out.append(f"{records[0].label} is left out: a run has one cluster.")
    flat = list(chain(*partitions.values()))
    if len(partitions) < 2:
        return Comparison({}, left_out)
    rows = np.sort(np.random.default_rng(0).permutation(len(flat[0]))[:N_SAMPLES])
    for learned in (True, False):
        records = [run for method in cells if (method not in NOT_LEARNED) is learned for run in cells[method]]
        spaces = (H[rows] for H in _embeddings(records, left_out))
        scores = pooled_silhouettes(spaces, [labels[rows] for labels in flat])
        if not np.isnan(scores).any():
            return Comparison(_by_method(partitions, scores), left_out)
    return Comparison({}, [*left_out, "No embedding tells the partitions apart."])


def _embeddings(records: Iterable[Record], left_out: list[str]) -> Iterator[np.ndarray]:
    """The embeddings of runs; those that cannot be read or used are named in `left_out`."""
    for record in records:
        try:
            H = record.embedding()
        except InputError as error:
            left_out.append(f"An embedding is left out: {error}")
            continue
        if np.isfinite(H).all():
            yield H
        else:
            left_out.append(f"An embedding is left out: {record.file('embedding')} is not finite.")


def _by_method(partitions: Mapping[str, Sequence[np.ndarray]], scores: np.ndarray) -> dict[str, list[float]]:
    ends = np.cumsum([len(labels) for labels in partitions.values()])[:-1]
    found = dict(zip(partitions, map(np.ndarray.tolist, np.split(scores, ends)), strict=True))
    order = [*SIMPLE, *found]
    return dict(sorted(found.items(), key=lambda item: (-fmean(item[1]), order.index(item[0]))))
