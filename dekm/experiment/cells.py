"""One cell of Table III over its seeds: load, build, fit, score, save.

The only module that holds data, their true labels, a method and a metric at once; the labels go to the
scores and nowhere else. Every seed has a folder that appears whole or not at all, under a key: the digest
of everything that decides the result. A seed that is there under its key is not run again.
"""

import inspect
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from sklearn.frozen import FrozenEstimator

from dekm.concurrency import side_by_side
from dekm.datasets import prepared
from dekm.errors import InputError
from dekm.experiment.provenance import facts, method_sources, pretraining_sources
from dekm.experiment.records import LIVE, History, write_pretraining, write_run
from dekm.files import digest, locked, read_json, whole_folder, write_json
from dekm.methods import Method, find_method
from dekm.methods.autoencoder import Autoencoder
from dekm.nn.device import resolve_device

logger = logging.getLogger(__name__)

FORMAT = 2  # of the run folders: raise it when what they hold changes
VECTOR_EMBEDDING_DIM = 10
GIVEN = {
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
    X, _, data = prepared.load(results / "data" / dataset)
    settings = {"embedding_dim": None} | dict(settings)
    if settings["embedding_dim"] is None:
        settings["embedding_dim"] = data["n_clusters"] if architecture == "conv" else VECTOR_EMBEDDING_DIM
    check_settings(Autoencoder, settings)
    sources = pretraining_sources()
    decisive = {
        seed: {"settings": settings, "seed": seed, "data": data["digest"], "sources": sources}
        for seed in seeds
    }

    def pretrain(seed: int, folder: Path) -> None:
        started = time.perf_counter()
        autoencoder = Autoencoder(architecture=architecture, device=device, random_state=seed, **settings)
        autoencoder.fit(X)
        write_pretraining(folder, autoencoder, time.perf_counter() - started)

    cell = {"dataset": dataset, "architecture": architecture}
    run_seeds(
        results / "pretrained" / dataset / architecture,
        cell,
        decisive,
        pretrain,
        device,
        fresh,
        math.prod(X.shape),
    )


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
    X, y, data = prepared.load(results / "data" / dataset)
    row = find_method(method)
    settings = row.with_settings(settings)
    check_settings(row.load(), settings)
    architecture = row.architecture(data["kind"])
    starts = {seed: pretrained_folder(results, data, dataset, architecture, seed) for seed in seeds}
    sources = method_sources(row.module)
    decisive = {
        seed: {
            "settings": settings,
            "seed": seed,
            "data": data["digest"],
            "n_clusters": data["n_clusters"],
            "sources": sources,
            "pretrained": start and read_json(start / "facts.json")["key"],
        }
        for seed, start in starts.items()
    }

    def cluster(seed: int, folder: Path) -> None:
        history = History(y, folder / LIVE)
        estimator = build(row, data, settings, starts[seed], device, seed, history)
        write_run(folder, estimator.fit(X), X, history)

    cell = {"dataset": dataset, "method": method, "label": row.label}
    run_seeds(results / "runs" / dataset / method, cell, decisive, cluster, device, fresh, math.prod(X.shape))


def run_seeds(
    folder: Path,
    cell: Mapping[str, Any],
    decisive: Mapping[int, Mapping[str, Any]],
    make: Callable[[int, Path], None],
    device: str,
    fresh: bool,
    n_values: int,
) -> None:
    """Make the seeds of a cell that are not complete, and summarize all of them.

    Parameters
    ----------
    folder : of the cell, above its seeds
    cell : what the cell is
    decisive : of each seed, everything that decides its result
    make : runs a seed and writes its files to a folder
    n_values : of all samples together, float32 on the device
    """
    keys = {seed: digest({**cell, **what, "format": FORMAT}) for seed, what in decisive.items()}
    name = " ".join(str(value) for key, value in cell.items() if key != "label")

    def run(seed: int) -> None:
        target = folder / f"seed{seed}"
        with locked(target):  # a job that outlived its killed workflow may still be at it
            if not fresh and is_complete(target, keys[seed]):
                logger.info("%s, seed %d: complete, kept", name, seed)
                return
            logger.info("%s, seed %d, on %s", name, seed, where(device))
            with whole_folder(target) as temporary:
                known = {"key": keys[seed], **cell, **decisive[seed]}
                write_json(temporary / "facts.json", known | facts(where(device)))
                make(seed, temporary)
                write_json(temporary / "facts.json", known | facts(where(device)))

    # In one order, so that two processes that hold locks of a cell never wait for each other.
    side_by_side([partial(run, seed) for seed in sorted(keys)], resolve_device(device), 4 * n_values)
    results = {
        str(seed): {"key": key, **read_json(folder / f"seed{seed}" / "metrics.json")}
        for seed, key in keys.items()
    }
    write_json(folder / "summary.json", {**cell, "seeds": results})


def build(
    row: Method,
    data: Mapping[str, Any],
    settings: Settings,
    start: Path | None,
    device: str,
    seed: int,
    history: "History",
) -> Any:
    """The estimator of a cell for one seed."""
    params = dict(settings)
    if start is not None:
        autoencoder = Autoencoder.load(start / "autoencoder.safetensors", device=device)
        params["autoencoder"] = FrozenEstimator(autoencoder)
    estimator = row.load()
    return estimator(
        n_clusters=data["n_clusters"], device=device, random_state=seed, on_iteration=history, **params
    )


def check_settings(estimator: type, settings: Settings) -> None:
    """Raise `InputError` unless every setting is a parameter of the estimator and left to the user."""
    valid = sorted(set(inspect.signature(estimator).parameters) - GIVEN)
    for name in settings:
        if name not in valid:
            raise InputError(f"{name}={settings[name]!r} is no setting of {estimator.__name__}; {valid} are.")


def pretrained_folder(
    results: Path, data: Mapping[str, Any], dataset: str, architecture: str | None, seed: int
) -> Path | None:
    """Where the pretrained autoencoder of a cell lies; None for a method that uses none."""
    if architecture is None:
        return None
    folder = results / "pretrained" / dataset / architecture / f"seed{seed}"
    command = f"run 'python -m dekm pretrain {dataset} {architecture}' first."
    if not (folder / "facts.json").is_file():
        raise InputError(f"{folder} is not there: {command}")
    if read_json(folder / "facts.json")["data"] != data["digest"]:
        raise InputError(f"{folder} was pretrained on other data than are prepared now: {command}")
    return folder


def is_complete(folder: Path, key: str) -> bool:
    """Whether a seed's folder is there and was made under this key."""
    file = folder / "facts.json"
    return file.is_file() and read_json(file)["key"] == key


def where(device: str) -> str:
    """Name of the device that a run uses."""
    resolved = resolve_device(device)
    return torch.cuda.get_device_name(resolved) if resolved.type == "cuda" else "cpu"
