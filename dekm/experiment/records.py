"""What a run leaves behind: its scores, its history and the files of its folder."""

import csv
import logging
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dekm import metrics
from dekm.files import write_json
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Iteration
from dekm.results.folders import SeedFolder

logger = logging.getLogger(__name__)

MAX_FRAMES = 60  # iterations that a run with a two-dimensional embedding keeps for Figure 1
FIRST_FRAMES = 20  # of them the first, which the paper shows


def scores(y: np.ndarray | None, labels: np.ndarray) -> dict[str, float]:
    """ACC, NMI and ARI in [0, 1]; none without true labels."""
    if y is None:
        return {}
    return {
        "acc": metrics.accuracy(y, labels),
        "nmi": metrics.nmi(y, labels),
        "ari": metrics.ari(y, labels),
    }


def write_pretraining(folder: SeedFolder, autoencoder: Autoencoder, seconds: float) -> None:
    """Write the files of a pretraining."""
    autoencoder.save(folder.file("autoencoder"))
    losses = [{"epoch": i + 1, "loss": loss} for i, loss in enumerate(autoencoder.loss_curve_)]
    write_csv(folder.file("loss"), losses)
    write_json(folder.file("metrics"), {"loss": losses[-1]["loss"] if losses else None, "seconds": seconds})


def write_run(folder: SeedFolder, estimator: Any, X: Any, history: "History") -> None:
    """Write the files of a run: the fitted estimator, what it found in `X`, and its history with scores."""
    estimator.save(folder.file("model"))
    write_csv(folder.file("history"), history.rows(estimator.history_))
    folder.file("live").unlink(missing_ok=True)
    np.save(folder.file("labels"), estimator.labels_)
    np.save(folder.file("embedding"), estimator.embedding_)
    history.save_iterations(folder.file("iterations"))
    write_json(folder.file("metrics"), final_metrics(estimator, X, history.y))


def final_metrics(estimator: Any, X: Any, y: np.ndarray | None) -> dict[str, float | None]:
    """What a run's ``metrics.json`` holds; without true labels the silhouette stands for the scores."""
    labels = estimator.labels_
    unlabelled = {"silhouette": metrics.silhouette(X, labels)} if y is None else {}
    return (
        scores(y, labels)
        | unlabelled
        | {
            "inertia": estimator.inertia_,
            "n_clusters_found": len(np.unique(estimator.labels_)),
            "n_iter": estimator.n_iter_,
            "seconds": estimator.history_[-1]["seconds"],
        }
    )


class History:
    """Scores of every iteration, collected through a method's hook; the method never sees them."""

    def __init__(self, y: np.ndarray | None, live: Path | None = None) -> None:
        self.y = y
        self.live = live
        self.started = time.perf_counter()
        self.scores: list[dict[str, float]] = []
        self.frames: list[dict[str, np.ndarray]] = []
        self.stride = 1

    def __call__(self, iteration: Iteration) -> None:
        """Score the labels of one iteration."""
        self.scores.append(scores(self.y, iteration.labels.cpu().numpy()))
        shown = " ".join(f"{name}={value:.4f}" for name, value in self.scores[-1].items())
        logger.info("iteration %d: %s changed=%.4f", iteration.n_iter, shown, iteration.changed)
        if self.live is not None:
            self._tell(iteration, self.live)
        if iteration.H.shape[1] == 2:
            self._keep(iteration)

    def save_iterations(self, file: Path) -> None:
        """Write what Figure 1 shows: the kept iterations stacked, if the embedding has two dimensions."""
        if self.frames:
            arrays: dict[str, Any] = {} if self.y is None else {"y": self.y}
            arrays |= {name: np.stack([frame[name] for frame in self.frames]) for name in self.frames[0]}
            np.savez_compressed(file, **arrays)

    def _tell(self, iteration: Iteration, file: Path) -> None:
        """Append to the file that shows a run while it is made; it goes when the run is whole."""
        row = {"n_iter": iteration.n_iter, "loss": iteration.loss, "changed": iteration.changed}
        row |= {
            "inertia": iteration.inertia,
            "seconds": time.perf_counter() - self.started,
            **self.scores[-1],
        }
        with file.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(row))
            if iteration.n_iter == 0:
                writer.writeheader()
            writer.writerow(fields(row))

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
    """Write rows of one set of columns."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        for row in rows:
            writer.writerow(fields(row))


def fields(row: Mapping[str, float]) -> dict[str, float | str]:
    """A row as a CSV file holds it: a number that is not one is an empty field."""
    return {name: "" if math.isnan(value) else value for name, value in row.items()}
