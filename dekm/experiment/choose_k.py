"""Partitions of a dataset into several numbers of clusters, measured without true labels."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, product
from math import prod
from statistics import fmean
from typing import Any

import numpy as np

from dekm import metrics
from dekm.clustering.gap import Gap
from dekm.clustering.modularity import NeighborGraph
from dekm.errors import InputError
from dekm.experiment.config import Experiment, with_embedding_dim
from dekm.experiment.estimators import build, fit
from dekm.experiment.history import History
from dekm.methods import METHODS
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.baselines import PCAKMeans
from dekm.methods.iteration import Iteration
from dekm.nn.stages import Epoch
from dekm.results.progress import duration

logger = logging.getLogger(__name__)

NEAR = 0.01  # difference of two modularities that says little
UNSTABLE = 0.6  # adjusted Rand index of the seeds below which no number stands out
LOG_SECONDS = 10.0  # between two lines of one pretraining or fit


@dataclass(frozen=True)
class Trial:
    """One method with one number of clusters.

    The modularities, silhouettes and Davies-Bouldin indices in the samples have a value per seed, and none
    where they are not defined; `stability` is the mean adjusted Rand index of all pairs of seeds, NaN with
    one seed; `smallest` counts the samples of the smallest cluster of all seeds.
    """

    label: str
    k: int
    modularity: list[float]
    silhouette: list[float]
    davies_bouldin: list[float]
    stability: float
    smallest: int

    def row(self) -> dict[str, Any]:
        """The means and standard deviations, as a row of a table."""
        moments: dict[str, Any] = {"method": self.label, "k": self.k}
        for name in ("modularity", "silhouette", "davies_bouldin"):
            values = getattr(self, name)
            moments[name] = fmean(values) if values else float("nan")
            moments[f"{name}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        return moments | {"stability": self.stability, "smallest": self.smallest}


@dataclass
class Fits:
    """The fits of a dataset, which share what does not depend on the number of clusters."""

    experiment: Experiment
    dataset: str
    X: Any
    starts: dict[tuple[str, int], Autoencoder] = field(default_factory=dict)  # by key and seed
    components: dict[str, np.ndarray] = field(default_factory=dict)  # principal components, by method

    def labels(self, method: str, k: int, seed: int) -> np.ndarray:
        """Labels of one fit; the same as without what is shared."""
        row, settings, X = self.experiment.method(method), self._settings(method), self.X
        if method in self.components:
            row, X = METHODS["k_means"], self.components[method]
            settings = {name: value for name, value in settings.items() if name != "variance"}
        start, device = self._start(method, k, seed), self.experiment.machine.device
        estimator = build(row, k, settings, start, device, seed)
        found = fit(estimator, X, start, LoggedHistory(f"{self.dataset}, {row.label}, k={k}, seed {seed}"))
        if isinstance(estimator, PCAKMeans):
            self.components[method] = found.embedding
        return found.labels

    def _settings(self, method: str) -> dict[str, Any]:
        return self.experiment.method_settings(self.dataset, method)

    def _start(self, method: str, k: int, seed: int) -> Autoencoder | None:
        """The pretrained autoencoder that a method starts from; None without one."""
        key, device = self.experiment.pretraining(self.dataset, method), self.experiment.machine.device
        if key is None:
            return None
        if (key, seed) not in self.starts:
            settings = self.experiment.pretraining_settings(self.dataset, key)
            most = min(self.X.shape[0], prod(self.X.shape[1:]))
            settings = with_embedding_dim(settings, "mlp", "", k, most)  # 10 for every k
            kind = "auto" if key.startswith("network") else key.partition("-")[0]
            autoencoder = Autoencoder(architecture=kind, device=device, random_state=seed, **settings)
            name = f"{self.dataset}, seed {seed}: pretraining {key}"
            logger.info("%s, %d epochs", name, autoencoder.n_epochs)
            self.starts[key, seed] = autoencoder.fit(self.X, on_epoch=LoggedHistory(name).log_epoch)
        return self.starts[key, seed]


class LoggedHistory(History):
    """The hook of a fit or of a pretraining, which logs a line if the last one is `LOG_SECONDS` ago."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self._last = name, time.monotonic()

    def __call__(self, iteration: Iteration) -> None:
        """Keep an iteration, and log it now and then."""
        super().__call__(iteration)
        self.log(f"iteration {iteration.n_iter}, {iteration.changed:.2%} of the labels changed")

    def log_epoch(self, epoch: Epoch) -> None:
        """Log an epoch now and then."""
        self.log(f"epoch {epoch.n_epoch} of {epoch.n_epochs}")

    def log(self, text: str) -> None:
        """Log what is done, unless a line has been logged lately."""
        if time.monotonic() - self._last >= LOG_SECONDS:
            self._last = time.monotonic()
            logger.info("%s: %s", self.name, text)


def run_trials(fits: Fits, numbers: Sequence[int], methods: Sequence[str]) -> Iterator[Trial]:
    """Cluster a dataset by several methods into several numbers of clusters, with all seeds.

    Yields by method, then by number. The autoencoder of a seed is pretrained once and serves all numbers, so
    the dimension of its embedding does not follow them. `InputError` if there are fewer samples than
    clusters.
    """
    dataset, seeds = fits.dataset, fits.experiment.seeds
    if max(numbers) >= fits.X.shape[0]:
        raise InputError(f"{dataset}: k={max(numbers)} should be < n_samples={fits.X.shape[0]}.")
    graph, trials, started = NeighborGraph(fits.X), list(product(methods, numbers)), time.monotonic()
    for i, (method, k) in enumerate(trials, start=1):
        label = fits.experiment.method(method).label
        logger.info("%s, trial %d of %d: %s, k=%d", dataset, i, len(trials), label, k)
        trial = measure(label, k, fits.X, graph, [fits.labels(method, k, seed) for seed in seeds])
        left = (time.monotonic() - started) / i * (len(trials) - i)
        value = trial.row()["modularity"]
        logger.info("%s, %s, k=%d: modularity %.3f; about %s left", dataset, label, k, value, duration(left))
        yield trial


def measure(label: str, k: int, X: Any, graph: NeighborGraph, fits: Sequence[np.ndarray]) -> Trial:
    """Measure the partitions of all seeds."""
    modularities, silhouettes, indices = (
        [value for value in map(of, fits) if value is not None]
        for of in (
            graph.modularity,
            partial(metrics.silhouette, X),
            partial(metrics.davies_bouldin, X),
        )
    )
    smallest = min(int(np.bincount(labels[labels >= 0], minlength=k).min()) for labels in fits)
    return Trial(label, k, modularities, silhouettes, indices, metrics.mean_ari(fits), smallest)


def recommend(trials: Sequence[Trial], gap: Gap) -> str:
    """The number of clusters of the first peak of the gap statistic; else of the largest modularity.

    The gap statistic finds compact clusters, and tells that there are none; of images and texts it often
    rises up to the last number. The modularity needs no compact clusters and decides there. Numbers whose
    modularity is within `NEAR` of the best are named too.
    """
    groups = [list(group) for _, group in groupby(trials, key=lambda trial: trial.label)]
    ranked = [sorted((t for t in group if t.modularity), key=_minus_modularity) for group in groups]
    best = [group for group in ranked if group]
    if not best:
        return "No number is recommended: the samples are all equal."
    lines = [_largest(group) for group in best]
    first = min((group[0] for group in best), key=_minus_modularity)
    k = first.k if gap.chosen is None else gap.chosen
    if gap.chosen == 1:
        lines.append(f"No number is recommended: {ONE_CLUSTER}")
    elif gap.chosen is not None:
        lines.append(f"Recommended: k = {k}, the first peak of the gap statistic.")
    else:
        lines.append(f"Recommended: k = {k}, by the modularity of {first.label}. {NO_STOP}")
    unstable = [f"{t.label} {t.stability:.2f}" for t in trials if t.k == k and t.stability < UNSTABLE]
    if unstable:
        lines.append(
            f"Warning: the seeds disagree about the partition into {k} clusters (adjusted Rand index: "
            f"{', '.join(unstable)}), so it may be one of many that are equally good."
        )
    return "\n".join([*lines, LIMITS])


def _minus_modularity(trial: Trial) -> float:
    return -fmean(trial.modularity)


def _largest(ranked: Sequence[Trial]) -> str:
    """The number with the largest modularity of a method, and those that are about as good."""
    best = fmean(ranked[0].modularity)
    near = sorted(trial.k for trial in ranked[1:] if fmean(trial.modularity) > best - NEAR)
    text = f"{ranked[0].label}: largest modularity {best:.3f} at k = {ranked[0].k}"
    return text + (f"; about as good: {', '.join(map(str, near))}" if near else "")


ONE_CLUSTER = "by the gap statistic these samples look like one cluster, as noise does."
NO_STOP = "The gap statistic rises up to the largest number, so it names none."
# docs/how-to/choose-k.md has the table, which benchmarks/partitions.py makes.
LIMITS = (
    "How far to trust this: it named six kinds of noise as such, and the right number for eight of nine sets "
    "of blobs and measurements; but of images and texts 13 and 9 for the 10 digits of two sets, 5 for 4 "
    "topics, and 9 and 2 for the 20 classes of COIL-20 and 20NEWS. Look at the clusters of several numbers."
)
