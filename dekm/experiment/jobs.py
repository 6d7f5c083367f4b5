"""The two jobs that train: pretraining for a dataset, and one method on one dataset.

The only module that holds data, their true labels, a method and a metric at once; the labels go to the
scores and nowhere else.
"""

import inspect
import logging
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.frozen import FrozenEstimator

from dekm.datasets import prepared
from dekm.errors import InputError
from dekm.experiment.cells import Cell
from dekm.experiment.history import History
from dekm.experiment.provenance import method_code_digest, pretraining_code_digest
from dekm.experiment.records import write_pretraining, write_run
from dekm.methods import Method, find_method
from dekm.methods.autoencoder import Autoencoder
from dekm.results.advice import advice
from dekm.results.folders import SeedFolder
from dekm.results.result_set import ResultSet

logger = logging.getLogger(__name__)

VECTOR_EMBEDDING_DIM = 10
# Parameters of the estimators that a configuration cannot set: a cell decides them itself.
RESERVED = {
    "annealed",
    "architecture",
    "autoencoder",
    "device",
    "n_clusters",
    "on_iteration",
    "progress",
    "random_state",
}

Settings = Mapping[str, Any]


def pretrain_cell(
    results: Path,
    dataset: str,
    architecture: str,
    seeds: Sequence[int],
    settings: Settings,
    *,
    device: str = "auto",
    fresh: bool = False,
) -> None:
    """Pretrain one autoencoder per seed; all methods of the dataset start from it.

    Writes ``pretrained/<dataset>/<architecture>/seed<seed>/`` and a ``summary.json`` beside the seeds.
    """
    result_set = ResultSet(results)
    X, _, data = _load(result_set, dataset)
    settings = {"embedding_dim": None} | dict(settings)
    if settings["embedding_dim"] is None:
        settings["embedding_dim"] = data["n_clusters"] if architecture == "conv" else VECTOR_EMBEDDING_DIM
    check_settings(Autoencoder, settings)
    shared = {"settings": settings, "data": data["digest"], "sources": pretraining_code_digest()}

    def pretrain(seed: int, folder: SeedFolder) -> None:
        started = time.perf_counter()
        autoencoder = Autoencoder(architecture=architecture, device=device, random_state=seed, **settings)
        autoencoder.fit(X)
        write_pretraining(folder, autoencoder, time.perf_counter() - started)

    cell = Cell(
        result_set.pretraining(dataset, architecture),
        {"dataset": dataset, "architecture": architecture},
        {seed: {**shared, "seed": seed} for seed in seeds},
        math.prod(X.shape),
    )
    cell.run(pretrain, device=device, fresh=fresh)


def cluster_cell(
    results: Path,
    dataset: str,
    method: str,
    seeds: Sequence[int],
    settings: Settings,
    *,
    device: str = "auto",
    fresh: bool = False,
) -> None:
    """Run one method on one dataset, once per seed.

    Writes ``runs/<dataset>/<method>/seed<seed>/`` and a ``summary.json`` beside the seeds.
    """
    result_set = ResultSet(results)
    X, y, data = _load(result_set, dataset)
    row = find_method(method)
    settings = row.with_settings(settings)
    check_settings(row.load(), settings)
    architecture = row.architecture(data["kind"])
    starts = {seed: pretrained_seed(result_set, data, dataset, architecture, seed) for seed in seeds}
    shared = {
        "settings": settings,
        "data": data["digest"],
        "n_clusters": data["n_clusters"],
        "sources": method_code_digest(row.module),
    }

    def cluster(seed: int, folder: SeedFolder) -> None:
        history = History(y, folder.file("live"))
        estimator = build(row, data["n_clusters"], settings, starts[seed], device, seed)
        estimator.set_params(on_iteration=history)
        write_run(folder, estimator.fit(X), X, history)

    cell = Cell(
        result_set.cell(dataset, method),
        {"dataset": dataset, "method": method, "label": row.label},
        {
            seed: {**shared, "seed": seed, "pretrained": start and start.facts["key"]}
            for seed, start in starts.items()
        },
        math.prod(X.shape),
        in_table=row.in_table and data.get("n_classes") is None,
    )
    cell.run(cluster, device=device, fresh=fresh)
    if text := advice(result_set, dataset):
        logger.info("%s", text)


def build(
    row: Method, n_clusters: int, settings: Settings, start: SeedFolder | None, device: str, seed: int
) -> Any:
    """The estimator of a cell for one seed, with its pretrained autoencoder if it starts from one."""
    params = dict(settings)
    if start is not None:
        params["autoencoder"] = FrozenEstimator(Autoencoder.load(start.file("autoencoder"), device=device))
    return row.load()(n_clusters=n_clusters, device=device, random_state=seed, **params)


def check_settings(estimator: type, settings: Settings) -> None:
    """Raise `InputError` unless every setting is a parameter of the estimator that a user may set."""
    valid = sorted(set(inspect.signature(estimator).parameters) - RESERVED)
    for name in settings:
        if name not in valid:
            raise InputError(
                f"{name}={settings[name]!r}: {estimator.__name__} has no such setting; it has {valid}."
            )


def pretrained_seed(
    results: ResultSet, data: Mapping[str, Any], dataset: str, architecture: str | None, seed: int
) -> SeedFolder | None:
    """The pretrained autoencoder that a cell starts from; None for a method that uses none.

    Raises
    ------
    InputError
        If it does not exist, or was pretrained on other data.
    """
    if architecture is None:
        return None
    folder = results.pretraining(dataset, architecture).seed(seed)
    command = f"run 'python -m dekm pretrain {dataset} {architecture}' first."
    if not folder.file("facts").is_file():
        raise InputError(f"{folder.path} does not exist: {command}")
    if folder.facts["data"] != data["digest"]:
        raise InputError(f"{folder.path} was pretrained on other data than those prepared now: {command}")
    return folder


def _load(results: ResultSet, dataset: str) -> tuple[Any, Any, dict[str, Any]]:
    folder = results.data(dataset)
    return prepared.load(folder.arrays_file, folder.facts_file)
