"""Base class of the methods whose interrupted fits continue from a checkpoint."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int
from torch import Tensor

from dekm.methods.base import Clusterer
from dekm.methods.persistence import Tensors
from dekm.nn.checkpoint import Checkpoint, State, continue_training
from dekm.nn.training import Step


class ContinuedFit(Clusterer):
    """Base class of the methods whose interrupted fits continue from a checkpoint."""

    def continue_fit(
        self,
        checkpoint: Checkpoint,
        step: Step,
        live: Tensors,
        random_state: np.random.RandomState,
        stream: Iterator[Int[Tensor, " b"]],
        n_batches: int,
        n_iter: int,
        *rest: float,
    ) -> Sequence[Any]:
        """Bring a fit to the state that `keep_state` has kept of an interrupted one.

        Parameters
        ----------
        checkpoint : Checkpoint
            Where the state is kept.
        step : Step
            The step of the fit, not called before.
        live : dict of str to tensor
            The tensors of the fit, without those of `step`; they are changed in place.
        random_state : RandomState
            The generator of the fit.
        stream : iterator of int64 tensors of shape (b,)
            The batches of the fit from its beginning on.
        n_batches : int
            Steps of an iteration.
        n_iter, *rest : int, float
            The numbers of a fit that starts from the beginning: that of its finished iterations, and others.

        Returns
        -------
        sequence of int or float
            Those numbers, or the ones that `keep_state` was given.
        """
        state = checkpoint.load()
        if state is None:
            return n_iter, *rest
        values = state.values
        n_steps = values["numbers"][0] * n_batches
        continue_training(step, stream, n_steps, step.tensors() | live, state.tensors)
        random_state.set_state(values["random_state"])
        self._first_labels = state.tensors["first_labels"].to(step.parameters[0].device)
        self.history_ = values["history"]
        self._started = time.perf_counter() - values["seconds"]
        return values["numbers"]

    def keep_state(
        self,
        checkpoint: Checkpoint,
        step: Step,
        live: Tensors,
        random_state: np.random.RandomState,
        *numbers: float,
    ) -> None:
        """Keep the state of the fit after an iteration, if a checkpoint is due; see `continue_fit`."""

        def state() -> State:
            algorithm, keys, *rest = random_state.get_state()
            values = {
                "numbers": numbers,
                "random_state": [algorithm, np.asarray(keys).tolist(), *rest],
                "history": self.history_,
                "seconds": time.perf_counter() - self._started,
            }
            first = {} if self._first_labels is None else {"first_labels": self._first_labels}
            return State(step.tensors() | live | first, values)

        checkpoint.save(state)
