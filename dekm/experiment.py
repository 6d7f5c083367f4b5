"""One cell of Table III over its seeds: load, build, fit, score, save.

The only module that holds data, their true labels, a method and a metric at once; the labels go to the
scores and nowhere else. Every seed has a folder that appears whole or not at all, under a key: the digest
of everything that decides the result. A seed that is there under its key is not run again.
"""

import csv
import inspect
import logging
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.frozen import FrozenEstimator

from dekm import metrics
from dekm.autoencoders import Autoencoder
from dekm.datasets import prepared
from dekm.errors import InputError
from dekm.methods import METHODS, Method
from dekm.methods.base import Iteration
from dekm.provenance import digest, facts, read_json, source_digest, whole_folder, write_json
from dekm.training import resolve_device

logger = logging.getLogger(__name__)

FORMAT = 1  # of the run folders: raise it when what they hold changes
VECTOR_EMBEDDING_DIM = 10
MAX_FRAMES = 60  # iterations that a run with a two-dimensional embedding keeps for Figure 1
FIRST_FRAMES = 20  # of them the first, which the paper shows
GIVEN = {"architecture", "autoencoder", "device", "n_clusters", "on_iteration", "random_state"}

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
    cell = {"dataset": dataset, "architecture": architecture}
    sources = source_digest("dekm.autoencoders")
    summary = {}
    for seed in seeds:
        folder = results / "pretrained" / dataset / architecture / f"seed{seed}"
        decisive = {"settings": settings, "seed": seed, "data": data["digest"], "sources": sources}
        key = digest(cell | decisive | {"format": FORMAT})
        if fresh or not is_complete(folder, key):
            logger.info("Pretraining %s on %s, seed %d, on %s", architecture, dataset, seed, where(device))
            started = time.perf_counter()
            autoencoder = Autoencoder(
                architecture=architecture, device=device, random_state=seed, **settings
            ).fit(X)
            seconds = time.perf_counter() - started
            with whole_folder(folder) as temporary:
                autoencoder.save(temporary / "autoencoder.safetensors")
                losses = [{"epoch": i + 1, "loss": loss} for i, loss in enumerate(autoencoder.loss_curve_)]
                write_csv(temporary / "loss.csv", losses)
                result = {"loss": autoencoder.loss_curve_[-1] if losses else None, "seconds": seconds}
                write_json(temporary / "metrics.json", result)
                write_json(temporary / "facts.json", {"key": key} | cell | decisive | facts(where(device)))
        else:
            logger.info("Pretraining %s on %s, seed %d: complete, kept", architecture, dataset, seed)
        summary[str(seed)] = {"key": key} | read_json(folder / "metrics.json")
    write_json(results / "pretrained" / dataset / architecture / "summary.json", cell | {"seeds": summary})


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
    row = METHODS[method]
    settings = dict(row.params) | dict(settings)
    check_settings(row.load(), settings)
    architecture = row.architecture(data["kind"])
    cell = {"dataset": dataset, "method": method, "label": row.label}
    sources = source_digest(row.module, "dekm.metrics")
    summary = {}
    for seed in seeds:
        folder = results / "runs" / dataset / method / f"seed{seed}"
        start = pretrained_folder(results, dataset, architecture, seed)
        decisive = {
            "settings": settings,
            "seed": seed,
            "data": data["digest"],
            "sources": sources,
            "pretrained": start and read_json(start / "facts.json")["key"],
        }
        key = digest(cell | decisive | {"format": FORMAT})
        if fresh or not is_complete(folder, key):
            logger.info("%s on %s, seed %d, on %s", row.label, dataset, seed, where(device))
            history = History(y)
            estimator = build(row, data, settings, start, device, seed, history)
            estimator.fit(X)
            with whole_folder(folder) as temporary:
                write_result(temporary, estimator, history)
                write_json(temporary / "facts.json", {"key": key} | cell | decisive | facts(where(device)))
        else:
            logger.info("%s on %s, seed %d: complete, kept", row.label, dataset, seed)
        result = read_json(folder / "metrics.json")
        summary[str(seed)] = {"key": key} | result
        logger.info("%s", " ".join(f"{name}={value:.4g}" for name, value in result.items()))
    write_json(results / "runs" / dataset / method / "summary.json", cell | {"seeds": summary})


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


def pretrained_folder(results: Path, dataset: str, architecture: str | None, seed: int) -> Path | None:
    """Where the pretrained autoencoder of a cell lies; None for a method that uses none."""
    if architecture is None:
        return None
    folder = results / "pretrained" / dataset / architecture / f"seed{seed}"
    if not (folder / "facts.json").is_file():
        raise InputError(
            f"{folder} is not there: run 'python -m dekm pretrain {dataset} {architecture}' first."
        )
    return folder


def is_complete(folder: Path, key: str) -> bool:
    """Whether a seed's folder is there and was made under this key."""
    file = folder / "facts.json"
    return file.is_file() and read_json(file)["key"] == key


def scores(y: np.ndarray | None, labels: np.ndarray) -> dict[str, float]:
    """ACC, NMI and ARI in [0, 1]; none without true labels."""
    if y is None:
        return {}
    return {
        "acc": metrics.accuracy(y, labels),
        "nmi": metrics.nmi(y, labels),
        "ari": metrics.ari(y, labels),
    }


def write_result(folder: Path, estimator: Any, history: "History") -> None:
    """Write what a fitted estimator found, and its history with the scores."""
    write_csv(folder / "history.csv", history.rows(estimator.history_))
    np.save(folder / "labels.npy", estimator.labels_)
    np.save(folder / "embedding.npy", estimator.embedding_)
    history.save_iterations(folder / "iterations.npz")
    write_json(folder / "metrics.json", final_metrics(estimator, history.y))


def final_metrics(estimator: Any, y: np.ndarray | None) -> dict[str, float]:
    """What a run's ``metrics.json`` holds."""
    return scores(y, estimator.labels_) | {
        "inertia": estimator.inertia_,
        "n_clusters_found": len(np.unique(estimator.labels_)),
        "n_iter": estimator.n_iter_,
        "seconds": estimator.history_[-1]["seconds"],
    }


class History:
    """Scores of every iteration, collected through a method's hook; the method never sees them."""

    def __init__(self, y: np.ndarray | None) -> None:
        self.y = y
        self.scores: list[dict[str, float]] = []
        self.frames: list[dict[str, np.ndarray]] = []
        self.stride = 1

    def __call__(self, iteration: Iteration) -> None:
        """Score the labels of one iteration."""
        self.scores.append(scores(self.y, iteration.labels.cpu().numpy()))
        shown = " ".join(f"{name}={value:.4f}" for name, value in self.scores[-1].items())
        logger.info("iteration %d: %s changed=%.4f", iteration.n_iter, shown, iteration.changed)
        if iteration.H.shape[1] == 2:
            self._keep(iteration)

    def save_iterations(self, file: Path) -> None:
        """Write what Figure 1 shows: the kept iterations stacked, if the embedding has two dimensions."""
        if self.frames:
            arrays: dict[str, Any] = {} if self.y is None else {"y": self.y}
            arrays |= {name: np.stack([frame[name] for frame in self.frames]) for name in self.frames[0]}
            np.savez_compressed(file, **arrays)

    def _keep(self, iteration: Iteration) -> None:
        """Keep the first iterations, the latest, and between them every so many that few are kept."""
        V = torch.full((2, 2), torch.nan) if iteration.V is None else iteration.V
        latest = {
            "n_iter": np.array(iteration.n_iter),
            "H": iteration.H.cpu().numpy().copy(),
            "labels": iteration.labels.cpu().numpy().astype(np.int32),
            "centers": iteration.centers.cpu().numpy().copy(),
            "V": V.cpu().numpy().copy(),
        }
        self._thin()
        while len(self.frames) >= MAX_FRAMES:
            self.stride *= 2
            self._thin()
        self.frames.append(latest)

    def _thin(self) -> None:
        self.frames = [
            frame
            for frame in self.frames
            if frame["n_iter"] <= FIRST_FRAMES or frame["n_iter"] % self.stride == 0
        ]

    def rows(self, history: list[dict[str, float]]) -> list[dict[str, float]]:
        """The method's own history with the scores beside it."""
        return [row | score for row, score in zip(history, self.scores, strict=True)]


def write_csv(file: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write rows of one set of columns; a number that is not one is an empty field."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        for row in rows:
            writer.writerow({k: "" if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()})


def where(device: str) -> str:
    """Name of the device that a run uses."""
    resolved = resolve_device(device)
    return torch.cuda.get_device_name(resolved) if resolved.type == "cuda" else "cpu"
