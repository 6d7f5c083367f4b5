"""What the hooks of a pretraining and of a run record, and the scores of what a run recorded."""

import threading
import time
from collections.abc import Iterable
from typing import ClassVar

import numpy as np
import torch

from dekm import metrics
from dekm.experiment.frames import Frames
from dekm.methods.iteration import Iteration
from dekm.nn.checkpoint import State
from dekm.nn.stages import Epoch


class Recorder:
    """A hook that keeps a row per epoch or iteration; nothing that it refers to leads to the true labels.

    Attributes
    ----------
    points : list of dict
        The rows; the first column counts them.
    total : int
        Largest number of epochs or iterations; 0 if it is not known.
    may_stop_early : bool
        Whether there may be fewer.
    n_restored : int
        Number of the rows that are those of an interrupted job.
    """

    unit: ClassVar[str]
    column: ClassVar[str]

    def __init__(self, total: int = 0, *, may_stop_early: bool = False) -> None:
        self.points: list[dict[str, float]] = []
        self.total = total
        self.may_stop_early = may_stop_early
        self.n_restored = 0
        self._started = time.perf_counter()

    def seconds(self) -> float:
        """Time of the job so far, without interruptions."""
        return time.perf_counter() - self._started

    def state(self) -> State:
        """What a checkpoint keeps of the record."""
        return State({}, {"points": self.points, "seconds_of_run": self.seconds()})

    def restore(self, state: State) -> None:
        """Take over the record of an interrupted job."""
        self.points = state.values["points"]
        self.n_restored = len(self.points)
        self._started = time.perf_counter() - state.values["seconds_of_run"]


class Epochs(Recorder):
    """The hook of a pretraining: it keeps the loss and the time of every epoch."""

    unit, column = "epoch", "epoch"

    def __call__(self, epoch: Epoch) -> None:
        """Keep an epoch."""
        self.total = epoch.n_epochs
        self.points.append({"epoch": epoch.n_epoch, "loss": epoch.loss, "seconds": self.seconds()})


class History(Recorder):
    """The hook of a run: it keeps the partition of every iteration, and some iterations as frames.

    A method holds this hook, so it must not lead to the true labels, nor to scores: a `Scorer`, which holds
    the history, computes them.
    """

    unit, column = "iteration", "n_iter"

    def __init__(self, total: int = 0, *, may_stop_early: bool = False) -> None:
        super().__init__(total, may_stop_early=may_stop_early)
        self.partitions: list[np.ndarray] = []
        self.frames = Frames()

    def __call__(self, iteration: Iteration) -> None:
        """Keep the labels of one iteration, and what the live curve shows of it."""
        dtype = np.uint8 if len(iteration.centers) <= 256 else np.int32  # a checkpoint has all of them
        self.partitions.append(iteration.labels.cpu().numpy().astype(dtype))
        self.frames.add(iteration)
        self.points.append(iteration.row() | {"seconds": self.seconds()})

    def state(self) -> State:
        """What a checkpoint keeps of the history."""
        state = super().state()
        tensors = self.frames.tensors() | {"partitions": torch.from_numpy(np.stack(self.partitions))}
        return State(tensors, state.values | {"stride": self.frames.stride})

    def restore(self, state: State) -> None:
        """Take over the history of an interrupted run."""
        self.partitions = list(state.tensors["partitions"].numpy())
        self.frames.restore(state.tensors, state.values["stride"])
        super().restore(state)


class Scorer:
    """Scores the partitions of a history; it refers to the history; nothing that a method holds refers to it.

    The true labels `y` (n,) are None for unlabelled data.
    """

    def __init__(self, y: np.ndarray | None, history: History) -> None:
        self.y = y
        self.history = history
        self._scores: list[dict[str, float]] = []
        self._lock = threading.Lock()  # the thread that shows a running job scores its iterations too

    def scores(self) -> list[dict[str, float]]:
        """The scores of every iteration so far."""
        with self._lock:
            new = self.history.partitions[len(self._scores) :]
            self._scores += [scores(self.y, labels.astype(np.int64)) for labels in new]
            return list(self._scores)

    def rows(self, history: Iterable[dict[str, float]]) -> list[dict[str, float]]:
        """The history that the method recorded, with the scores of each iteration."""
        return [row | score for row, score in zip(history, self.scores(), strict=True)]


def scores(y: np.ndarray | None, labels: np.ndarray) -> dict[str, float]:
    """ACC, NMI and ARI in [0, 1]; empty without true labels. A sample with a negative one is not scored."""
    if y is None:
        return {}
    y, labels = labelled(y, labels)
    return {
        "acc": metrics.accuracy(y, labels),
        "nmi": metrics.nmi(y, labels),
        "ari": metrics.ari(y, labels),
    }


def labelled(y: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The true and the found labels of the samples that have a true one."""
    known = y >= 0
    return (y, labels) if known.all() else (y[known], labels[known])
