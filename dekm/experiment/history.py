"""What the hooks of a pretraining and of a run collect: losses, and the scores of every iteration."""

import time

import numpy as np

from dekm import metrics
from dekm.experiment.frames import Frames
from dekm.experiment.live import Live
from dekm.methods.iteration import Iteration
from dekm.nn.checkpoint import State
from dekm.nn.stages import Epoch


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
        self.frames = Frames()

    def __call__(self, iteration: Iteration) -> None:
        """Score the labels of one iteration, and keep it as a frame."""
        self.scores.append(scores(self.y, iteration.labels.cpu().numpy()))
        self.points.append(self._point(iteration))
        if self.live is not None:
            self.live.update(iteration.n_iter, self.points[-1])
        self.frames.add(iteration)

    def rows(self, history: list[dict[str, float]]) -> list[dict[str, float]]:
        """The history that the method recorded, with the scores of each iteration."""
        return [row | score for row, score in zip(history, self.scores, strict=True)]

    def state(self) -> State:
        """What a checkpoint keeps of the history."""
        values = {"points": self.points, "scores": self.scores, "stride": self.frames.stride}
        return State(self.frames.tensors(), values | {"seconds_of_run": time.perf_counter() - self.started})

    def restore(self, state: State) -> None:
        """Take over the history of an interrupted run."""
        self.points, self.scores = state.values["points"], state.values["scores"]
        self.started = time.perf_counter() - state.values["seconds_of_run"]
        self.frames.restore(state.tensors, state.values["stride"])
        if self.live is not None:
            self.live.restore(int(self.points[-1]["n_iter"]), self.points)

    def _point(self, iteration: Iteration) -> dict[str, float]:
        return {
            **iteration.row(),
            "seconds": time.perf_counter() - self.started,
            **self.scores[-1],
        }
