"""What an interrupted fit continues from: its training, its generator, its history and its clock."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int
from torch import Tensor

from dekm.methods.base import Clusterer
from dekm.methods.persistence import Tensors
from dekm.nn.checkpoint import Checkpoint, State, continue_training
from dekm.nn.training import Step


@dataclass(frozen=True)
class Continuation:
    """The state of a fit between two iterations."""

    fit: Clusterer  # the estimator, whose `fit` has called `start_fit`
    checkpoint: Checkpoint  # where the state is kept
    step: Step  # of the fit, not called before `resume`
    live: Tensors  # the tensors of the fit, without those of `step`; they are changed in place
    random_state: np.random.RandomState  # the generator of the fit

    def resume(
        self, stream: Iterator[Int[Tensor, " b"]], n_steps: int, *, n_iter: int = 0, **start: float
    ) -> dict[str, Any]:
        """Bring the fit to the state that `keep` has kept of an interrupted one, and return its numbers.

        `stream` has the batches (b,) of the fit from its beginning on, `n_steps` of them for an iteration. A
        fit that starts from the beginning has the numbers `n_iter`, of its finished iterations, and `start`.
        """
        self.fit._n_steps = n_steps
        state = self.checkpoint.load()
        if state is None:
            return {"n_iter": n_iter, **start}
        tensors, values = state.tensors, state.values
        taken = values["numbers"]["n_iter"] * n_steps
        continue_training(self.step, stream, taken, self.step.tensors() | self.live, tensors)
        self.random_state.set_state(values["random_state"])
        self.fit._first_labels = tensors["first_labels"].to(self.step.parameters[0].device)
        self.fit.history_ = values["history"]
        self.fit._started = time.perf_counter() - values["seconds"]
        return values["numbers"]

    def keep(self, **numbers: float) -> None:
        """Keep the state after an iteration, if a checkpoint is due; the numbers are those of `resume`."""

        def state() -> State:
            algorithm, keys, *rest = self.random_state.get_state()
            values = {
                "numbers": numbers,
                "random_state": [algorithm, np.asarray(keys).tolist(), *rest],
                "history": self.fit.history_,
                "seconds": time.perf_counter() - self.fit._started,
            }
            first = self.fit._first_labels
            return State(
                self.step.tensors() | self.live | ({} if first is None else {"first_labels": first}), values
            )

        self.checkpoint.save(state)
