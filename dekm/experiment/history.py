"""The scores of every iteration of a run, collected through the hook of its method."""

import csv
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dekm import metrics
from dekm.files import csv_fields, write_arrays
from dekm.methods.iteration import Iteration

logger = logging.getLogger(__name__)

MAX_FRAMES = 60  # iterations that a run with a two-dimensional embedding keeps for Figure 1
FIRST_FRAMES = 20  # the first iterations, which the paper shows, are all kept


def scores(y: np.ndarray | None, labels: np.ndarray) -> dict[str, float]:
    """ACC, NMI and ARI in [0, 1]; empty without true labels.

    Parameters
    ----------
    y : ndarray of shape (n,) or None
        True labels.
    labels : ndarray of shape (n,)
        Labels that a method found.
    """
    if y is None:
        return {}
    return {
        "acc": metrics.accuracy(y, labels),
        "nmi": metrics.nmi(y, labels),
        "ari": metrics.ari(y, labels),
    }


class History:
    """The hook of a run: it scores each iteration, and the method never sees the true labels.

    Parameters
    ----------
    y : ndarray of shape (n,) or None
        True labels, if the data have any.
    live : Path, optional
        CSV file that gets a row per iteration while the run is made.
    """

    def __init__(self, y: np.ndarray | None, live: Path | None = None) -> None:
        self.y = y
        self.live = live
        self.started = time.perf_counter()
        self.scores: list[dict[str, float]] = []
        self.frames: list[dict[str, np.ndarray]] = []
        self.stride = 1

    def __call__(self, iteration: Iteration) -> None:
        """Score the labels of one iteration, log them, and keep what Figure 1 shows."""
        self.scores.append(scores(self.y, iteration.labels.cpu().numpy()))
        shown = " ".join(f"{name}={value:.4f}" for name, value in self.scores[-1].items())
        logger.info("iteration %d: %s changed=%.4f", iteration.n_iter, shown, iteration.changed)
        if self.live is not None:
            self._append_row(iteration, self.live)
        if iteration.H.shape[1] == 2:
            self._keep_frame(iteration)

    def rows(self, history: list[dict[str, float]]) -> list[dict[str, float]]:
        """The history that the method recorded, with the scores of each iteration."""
        return [row | score for row, score in zip(history, self.scores, strict=True)]

    def save_iterations(self, file: Path) -> None:
        """Write the kept iterations to an ``.npz`` file, if the embedding has two dimensions."""
        if self.frames:
            arrays: dict[str, Any] = {} if self.y is None else {"y": self.y}
            arrays |= {name: np.stack([frame[name] for frame in self.frames]) for name in self.frames[0]}
            write_arrays(file, arrays)

    def _append_row(self, iteration: Iteration, file: Path) -> None:
        row = {
            **iteration.row(),
            "seconds": time.perf_counter() - self.started,
            **self.scores[-1],
        }
        with file.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(row))
            if iteration.n_iter == 0:
                writer.writeheader()
            writer.writerow(csv_fields(row))

    def _keep_frame(self, iteration: Iteration) -> None:
        """Keep this iteration; of the earlier ones all of the first, and every `stride`-th of the others."""
        V = iteration.H.new_full((2, 2), torch.nan) if iteration.V is None else iteration.V
        frame = {
            "n_iter": np.array(iteration.n_iter),
            "H": iteration.H.cpu().numpy().copy(),
            "labels": iteration.labels.cpu().numpy().astype(np.int32),
            "centers": iteration.centers.cpu().numpy().copy(),
            "V": V.cpu().numpy().copy(),
        }
        self._drop_frames()
        while len(self.frames) >= MAX_FRAMES:
            self.stride *= 2
            self._drop_frames()
        self.frames.append(frame)

    def _drop_frames(self) -> None:
        self.frames = [
            frame
            for frame in self.frames
            if frame["n_iter"] <= FIRST_FRAMES or frame["n_iter"] % self.stride == 0
        ]
