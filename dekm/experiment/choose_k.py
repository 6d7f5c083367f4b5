"""Partitions of a dataset into several numbers of clusters, measured without true labels."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from math import prod
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from dekm import metrics
from dekm.datasets import prepared
from dekm.datasets.preparation import prepare
from dekm.errors import InputError
from dekm.experiment.config import Experiment, with_embedding_dim
from dekm.experiment.estimators import build, fit
from dekm.experiment.history import History
from dekm.methods import KNOWN
from dekm.methods.autoencoder import Autoencoder
from dekm.results.advice import SIMPLE, SIMPLE_WINS
from dekm.results.result_set import ResultSet

logger = logging.getLogger(__name__)

NEAR = 0.01  # difference of two silhouettes that says little


@dataclass(frozen=True)
class Trial:
    """One method with one number of clusters.

    The silhouettes and Davies-Bouldin indices of the samples have a value per seed, and none where they are
    not defined; `stability` is the mean adjusted Rand index of all pairs of seeds, NaN with one seed;
    `smallest` counts the samples of the smallest cluster of all seeds.
    """

    label: str
    k: int
    silhouette: list[float]
    davies_bouldin: list[float]
    stability: float
    smallest: int

    def row(self) -> dict[str, Any]:
        """The means and standard deviations, as a row of a table."""
        moments: dict[str, Any] = {"method": self.label, "k": self.k}
        for name, values in (("silhouette", self.silhouette), ("davies_bouldin", self.davies_bouldin)):
            moments[name] = fmean(values) if values else float("nan")
            moments[f"{name}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        return moments | {"stability": self.stability, "smallest": self.smallest}


def run_trials(
    experiment: Experiment, dataset: str, numbers: Sequence[int], methods: Sequence[str]
) -> Iterator[Trial]:
    """Cluster a dataset by several methods into several numbers of clusters, with all seeds.

    Yields by method, then by number. The dataset is prepared if it was not yet. The autoencoder of a seed is
    pretrained once and serves all numbers, so the dimension of its embedding does not follow them.
    `InputError` if there are fewer samples than clusters, or the data cannot be prepared.
    """
    X = load_samples(experiment, dataset)
    if max(numbers) >= X.shape[0]:
        raise InputError(f"{dataset}: k={max(numbers)} should be < n_samples={X.shape[0]}.")
    starts: dict[tuple[str, int], Autoencoder] = {}
    trials = list(product(methods, numbers))
    for i, (method, k) in enumerate(trials, start=1):
        label = experiment.method(method).label
        logger.info("%s, trial %d of %d: %s, k=%d", dataset, i, len(trials), label, k)
        fits = [fit_once(experiment, dataset, method, k, seed, X, starts) for seed in experiment.seeds]
        trial = measure(label, k, X, fits)
        logger.info("%s, %s, k=%d: silhouette %.3f", dataset, label, k, trial.row()["silhouette"])
        yield trial


def load_samples(experiment: Experiment, dataset: str) -> Any:
    """The prepared samples of a dataset of the configuration, which are prepared if necessary."""
    block, folder = experiment.blocks[dataset], ResultSet(experiment.results).data(dataset)
    if not folder.facts_file.is_file():
        raw_dir = Path(experiment.machine.raw_dir)
        prepare(
            block.row,
            raw_dir,
            data=folder.arrays_file,
            facts=folder.facts_file,
            subsample=block.subsample,
        )
    return prepared.load(folder.arrays_file, folder.facts_file)[0]


def fit_once(
    experiment: Experiment,
    dataset: str,
    method: str,
    k: int,
    seed: int,
    X: Any,
    starts: dict[tuple[str, int], Autoencoder],
) -> np.ndarray:
    """Labels of one fit; `starts` keeps the pretrained autoencoders by their key and seed."""
    row, device = experiment.method(method), experiment.machine.device
    key, start = experiment.pretraining(dataset, method), None
    if key is not None:
        if (key, seed) not in starts:
            kind = "auto" if key.startswith("network") else key.partition("-")[0]
            settings = experiment.pretraining_settings(dataset, key)
            most = min(X.shape[0], prod(X.shape[1:]))
            settings = with_embedding_dim(settings, "mlp", "", k, most)  # 10 for every k
            autoencoder = Autoencoder(architecture=kind, device=device, random_state=seed, **settings)
            epochs = autoencoder.n_epochs
            logger.info("%s, seed %d: pretraining %s, %d epochs", dataset, seed, key, epochs)
            starts[key, seed] = autoencoder.fit(X)
        start = starts[key, seed]
    estimator = build(row, k, experiment.method_settings(dataset, method), start, device, seed)
    return fit(estimator, X, start, History()).labels


def measure(label: str, k: int, X: Any, fits: Sequence[np.ndarray]) -> Trial:
    """Measure the partitions of all seeds."""
    measures = [[of(X, labels) for labels in fits] for of in (metrics.silhouette, metrics.davies_bouldin)]
    silhouettes, indices = ([value for value in values if value is not None] for values in measures)
    smallest = min(int(np.bincount(labels, minlength=k).min()) for labels in fits)
    return Trial(label, k, silhouettes, indices, metrics.mean_ari(fits), smallest)


def recommend(trials: Sequence[Trial]) -> str:
    """The number of clusters with the largest silhouette of each method, and the best of all.

    Numbers whose silhouette is within `NEAR` of the best are named, because they are about equally good, and
    it is said if a simple method is better than a deep one.
    """
    best: list[Trial] = []
    lines: list[str] = []
    for label, group in groupby(trials, key=lambda trial: trial.label):
        ranked = sorted((t for t in group if t.silhouette), key=lambda t: -fmean(t.silhouette))
        if ranked:
            best.append(ranked[0])
            near = [str(t.k) for t in ranked[1:] if fmean(t.silhouette) > fmean(ranked[0].silhouette) - NEAR]
            text = f"{label}: k = {ranked[0].k} (silhouette {fmean(ranked[0].silhouette):.3f})"
            lines.append(text + (f"; about as good: {', '.join(near)}" if near else ""))
    if not best:
        return "No number of clusters has a silhouette."
    first = max(best, key=lambda trial: fmean(trial.silhouette))
    simple = {KNOWN[name].label for name in SIMPLE}
    wins = first.label in simple and any(trial.label not in simple for trial in best)
    chosen = f"Recommended: k = {first.k}, by {first.label}.{SIMPLE_WINS if wins else ''}"
    return "\n".join([*lines, chosen, LIMITS])


LIMITS = (
    "This is the number of clusters that separate the samples most clearly, on at most 2,000 of them. The "
    "silhouette and the Davies-Bouldin index favour few, round clusters of similar size, and methods that "
    "cluster the samples themselves; classes that people would name may be more. Values that hardly differ, "
    "or a low stability over the seeds, mean that no number stands out."
)
