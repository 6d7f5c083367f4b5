"""What the hooks of a pretraining and of a run collect: losses, and the scores of every iteration."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dekm import metrics
from dekm.experiment.live import Live
from dekm.files import write_arrays
from dekm.methods.iteration import Iteration
from dekm.nn.checkpoint import State
from dekm.nn.stages import Epoch

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


class Epochs:
    """The hook of a pretraining: it keeps the loss and the time of every epoch.

    Parameters
    ----------
    live : Live
        Gets a row per epoch while the pretraining is made.
    """

    def __init__(self, live: Live) -> None:
        self.live = live
        self.started = time.perf_counter()
        self.points: list[dict[str, float]] = []

    def __call__(self, epoch: Epoch) -> None:
        """Keep an epoch."""
        self.points.append({"epoch": epoch.n_epoch, "loss": epoch.loss, "seconds": self.seconds()})
        self.live.plan("epoch", epoch.n_epochs)
        self.live.update(epoch.n_epoch, self.points[-1])

    def seconds(self) -> float:
        """Time of the pretraining so far, without interruptions."""
        return time.perf_counter() - self.started

    def state(self) -> State:
        """What a checkpoint keeps of the epochs."""
        return State({}, {"points": self.points, "seconds_of_run": self.seconds()})

    def restore(self, state: State) -> None:
        """Take over the epochs of an interrupted pretraining."""
        self.points = state.values["points"]
        self.started = time.perf_counter() - state.values["seconds_of_run"]
        self.live.restore(int(self.points[-1]["epoch"]), self.points)


class History:
    """The hook of a run: it scores each iteration, and the method never sees the true labels.

    Parameters
    ----------
    y : ndarray of shape (n,) or None
        True labels, if the data have any.
    live : Live, optional
        Gets a row per iteration while the run is made.
    """

    def __init__(self, y: np.ndarray | None, live: Live | None = None) -> None:
        self.y = y
        self.live = live
        self.started = time.perf_counter()
        self.points: list[dict[str, float]] = []
        self.scores: list[dict[str, float]] = []
        self.frames: list[dict[str, np.ndarray]] = []
        self.stride = 1

    def __call__(self, iteration: Iteration) -> None:
        """Score the labels of one iteration, and keep what Figure 1 shows."""
        self.scores.append(scores(self.y, iteration.labels.cpu().numpy()))
        self.points.append(self._point(iteration))
        if self.live is not None:
            self.live.update(iteration.n_iter, self.points[-1])
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

    def state(self) -> State:
        """What a checkpoint keeps of the history."""
        frames = {
            f"frame.{i}.{name}": torch.from_numpy(value)
            for i, frame in enumerate(self.frames)
            for name, value in frame.items()
        }
        values = {"points": self.points, "scores": self.scores, "stride": self.stride}
        return State(frames, values | {"seconds_of_run": time.perf_counter() - self.started})

    def restore(self, state: State) -> None:
        """Take over the history of an interrupted run."""
        self.points, self.scores = state.values["points"], state.values["scores"]
        self.stride = state.values["stride"]
        self.started = time.perf_counter() - state.values["seconds_of_run"]
        frames: dict[int, dict[str, np.ndarray]] = {}
        for key, value in state.tensors.items():
            if key.startswith("frame."):
                _, i, name = key.split(".")
                frames.setdefault(int(i), {})[name] = value.numpy()
        self.frames = [frames[i] for i in sorted(frames)]
        if self.live is not None:
            self.live.restore(int(self.points[-1]["n_iter"]), self.points)

    def _point(self, iteration: Iteration) -> dict[str, float]:
        return {
            **iteration.row(),
            "seconds": time.perf_counter() - self.started,
            **self.scores[-1],
        }

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
