"""About how long an experiment takes on this machine, and how much disk and memory, before it starts."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import torch

from dekm.clustering.restarts import part_size
from dekm.experiment.blocks import DatasetBlock
from dekm.experiment.config import Experiment, with_embedding_dim
from dekm.experiment.measure import Costs, idleness, measure_kmeans, measure_network
from dekm.experiment.plan import all_cells, cells_of
from dekm.methods.autoencoder import Autoencoder
from dekm.nn.device import device_name, resolve_device
from dekm.nn.training import steps_per_epoch
from dekm.results.data import read_facts
from dekm.results.progress import duration
from dekm.results.result_set import ResultSet
from dekm.results.status_text import grid

BUSY = 0.8  # share of a processor below which times are misleading
FLOAT = 4  # bytes
PROCESS = 500 * 2**20  # bytes of a job before it reads its data
RESTARTS = 20  # of a K-means whose number of restarts follows from the one before


@dataclass(frozen=True)
class Data:
    """The size of a dataset: n samples of a shape, and k clusters."""

    n_samples: int
    shape: tuple[int, ...]
    n_clusters: int


@dataclass(frozen=True)
class PlannedCell:
    """A pretraining, or a method on a dataset, and what it will take on a device.

    `stage` and `subject` are "pretrain" and an architecture, or "cluster" and a method.
    """

    experiment: Experiment
    block: DatasetBlock
    data: Data
    stage: str
    subject: str
    device: torch.device

    @property
    def n_seeds(self) -> int:
        """Number of seeds."""
        return len(self.block.seeds)

    @property
    def seconds(self) -> float:
        """Time of a seed; the largest one, if the method may stop early."""
        return self._pretraining_seconds() if self.stage == "pretrain" else self._method_seconds()

    @property
    def disk(self) -> int:
        """Bytes of the folders of all seeds; the MLflow store links to their files."""
        weights = FLOAT * self.costs.n_parameters
        if self.stage == "pretrain":
            return self.n_seeds * weights
        kept = self.experiment.machine.keep_models
        n_models = {"all": self.n_seeds, "one": min(1, self.n_seeds), "none": 0}[kept]
        arrays = self.data.n_samples * (FLOAT * self.embedding_dim + 8)  # a model holds them too
        return self.n_seeds * arrays + n_models * (2 * weights + arrays)

    @property
    def memory(self) -> int:
        """Bytes of a job: the samples three times, and the weights, gradients and states of Adam."""
        values = 3 * self.data.n_samples * prod(self.data.shape) + 5 * self.costs.n_parameters
        return PROCESS + FLOAT * values

    @property
    def start(self) -> str | None:
        """Key of the autoencoders that the cell makes or starts from."""
        if self.stage == "pretrain":
            return self.subject
        return self.experiment.pretraining(self.block.name, self.subject)

    @property
    def is_known(self) -> bool:
        """Whether method and network consist of steps that can be measured."""
        row = None if self.stage == "pretrain" else self.experiment.method(self.subject)
        is_known = row is None or (row.is_ours and row.of_paper)
        return is_known and not (self.start or "").startswith("network")

    @property
    def embedding_dim(self) -> int:
        """Dimension of the embedding; of a method without autoencoder, that of the samples."""
        return self.autoencoder.embedding_dim if self.autoencoder else prod(self.data.shape)

    @cached_property
    def autoencoder(self) -> Autoencoder | None:
        """The autoencoder of the cell, not fitted."""
        if self.start is None:
            return None
        settings = self.experiment.pretraining_settings(self.block.name, self.start)
        architecture = self.start.partition("-")[0]
        most = min(self.data.n_samples, prod(self.data.shape))
        kind, k = self.block.row.kind, self.data.n_clusters
        settings = with_embedding_dim(settings, architecture, kind, k, most)
        return Autoencoder(architecture=architecture, **settings)

    @cached_property
    def costs(self) -> Costs:
        """What is measured of the autoencoder."""
        if self.autoencoder is None:
            return Costs()
        network = self.autoencoder
        return measure_network(
            self.data.shape,
            network.kind_of_network(self.data.shape),
            network.embedding_dim,
            tuple(network.channels),
            tuple(network.hidden),
            min(network.batch_size, self.data.n_samples),
            self.device,
        )

    def _pretraining_seconds(self) -> float:
        assert self.autoencoder is not None
        n_steps = steps_per_epoch(self.data.n_samples, self.autoencoder.batch_size)
        stages = 2 if self.autoencoder.layerwise else 1  # all layers cost about as much as the whole network
        return stages * self.autoencoder.n_epochs * n_steps * self.costs.step

    def _method_seconds(self) -> float:
        settings = self.experiment.method_settings(self.block.name, self.subject)
        estimator = self.experiment.method(self.subject).load()(self.data.n_clusters, **settings)
        n_iter, n = estimator.planned_iterations, self.data.n_samples
        restart, whole = self._kmeans_seconds()
        later = getattr(estimator, "n_init_update", 0)
        n_restarts = estimator.n_init + n_iter * (RESTARTS if isinstance(later, str) else later)
        n_steps = n_iter * self._steps_of_iteration(estimator)
        encodings = (n_iter + 1) * n * self.costs.encoding
        return n_restarts * restart + (n_iter + 1) * whole + n_steps * self.costs.step + encodings

    def _kmeans_seconds(self) -> tuple[float, float]:
        """Seconds of a restart of K-means, and of the run on all points where restarts are on a part."""
        n, k = self.data.n_samples, self.data.n_clusters
        on_part = n if self.device.type == "cuda" else part_size(n, k)
        restart, whole = (measure_kmeans(size, self.embedding_dim, k, self.device) for size in (on_part, n))
        return restart, whole if on_part < n else 0.0

    def _steps_of_iteration(self, estimator: Any) -> int:
        n = self.data.n_samples
        if hasattr(estimator, "update_interval"):
            return estimator.update_interval
        if hasattr(estimator, "epochs_per_iter"):
            return estimator.epochs_per_iter * steps_per_epoch(n, estimator.batch_size)
        if hasattr(estimator, "steps_of_iteration"):
            return estimator.steps_of_iteration(n)
        return 0


def planned_cells(experiment: Experiment) -> Iterator[PlannedCell]:
    """The cells of an experiment on data whose size is known."""
    device = resolve_device(experiment.machine.device)
    if device.type == "cpu":  # as many threads as a job has here
        n_cells = sum(cell["stage"] == "cluster" for cell in all_cells(experiment))
        n_cores = torch.get_num_threads()
        torch.set_num_threads(min(n_cores, experiment.machine.threads_of(n_cells, n_cores)))
    for block in experiment.blocks.values():
        data = find_size(experiment, block)
        if data is not None:
            for cell in cells_of(experiment, block):
                yield PlannedCell(experiment, block, data, cell["stage"], cell["subject"], device)


def find_size(experiment: Experiment, block: DatasetBlock) -> Data | None:
    """Size of the prepared data, or of the dataset's row; None if neither tells it."""
    facts = read_facts(ResultSet(experiment.results).data(block.name))
    if "n_samples" in facts:
        return Data(facts["n_samples"], tuple(facts["shape"]), facts["n_clusters"])
    row = block.row
    if row.n_samples is None or row.shape is None:
        return None
    n_samples, n_clusters = block.subsample or row.n_samples, block.n_classes or row.n_clusters
    return Data(n_samples * n_clusters // row.n_clusters, row.shape, n_clusters)


def describe_estimate(experiment: Experiment) -> str:
    """Time of a seed of every cell, and time, disk and memory of the whole experiment."""
    planned = list(planned_cells(experiment))
    cells = [cell for cell in planned if cell.is_known]
    outside = sorted({cell.subject for cell in planned if not cell.is_known})
    unknown = [f"Not included, since their steps are not known: {', '.join(outside)}."] if outside else []
    known = (
        [*summary(experiment, cells)] if cells else [f"{experiment.config['name']}: no time is known yet."]
    )
    return "\n".join(
        [*known, *unknown_sizes(experiment, planned), *unknown, *(["", table(cells)] if cells else [])]
    )


def summary(experiment: Experiment, cells: Sequence[PlannedCell]) -> Iterator[str]:
    """Time, disk and memory of the whole experiment."""
    device = device_name(experiment.machine.device)
    total = sum(cell.n_seeds * cell.seconds for cell in cells)
    name = f"{experiment.config['name']} on {device}"
    yield f"{name}: about {duration(total)} of computation; less if methods stop early."
    if device == "cpu" and (share := idleness()) < BUSY:
        yield (
            f"This machine is busy: what was measured had a processor for {share:.0%} of its time. On an "
            f"idle machine it takes about {duration(total * share)}."
        )
    n_threads, n_cores = torch.get_num_threads(), os.cpu_count() or 1  # with which it was measured
    if device == "cpu" and n_cores >= 2 * n_threads:
        n_jobs = n_cores // n_threads
        jobs = f"{n_jobs} jobs of {n_threads} thread{'s' if n_threads > 1 else ''}"
        yield f"With {jobs} at a time: about {duration(total / n_jobs)}."
    disk, memory = sum(cell.disk for cell in cells), max(cell.memory for cell in cells)
    yield f"Disk: about {size(disk)} with the MLflow store. Memory of a job: up to about {size(memory)}."


def unknown_sizes(experiment: Experiment, cells: Sequence[PlannedCell]) -> Iterator[str]:
    """The datasets that are not included."""
    known = {cell.block.name for cell in cells}
    unknown = [name for name in experiment.datasets if name not in known]
    if unknown:
        yield f"Not included, since the size is not known before the data are prepared: {', '.join(unknown)}."
    for name, reason in experiment.left_out.items():
        yield f"{name} is left out: it {reason}."


def table(cells: Sequence[PlannedCell]) -> str:
    """A row per method or pretraining, a column per dataset: time of one seed."""
    texts = {(cell.stage, cell.subject, cell.block.name): duration(cell.seconds) for cell in cells}
    return grid(texts, "one seed")


def size(n_bytes: float) -> str:
    """A number of bytes, such as "12 MB" or "3.4 GB"."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
