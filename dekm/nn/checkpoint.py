"""The state of a training, from which an interrupted one continues as if it had never stopped."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from dekm.nn.training import Step


@dataclass
class State:
    """The state of a training between two epochs or iterations.

    Attributes
    ----------
    tensors : dict of str to tensor
        Weights, the state of the optimizer, and further arrays of the training.
    values : dict of str to Any
        Everything else, as JSON can store it.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


class Checkpoint:
    """Where a training keeps its state. This class keeps nothing; a subclass decides where and how often."""

    def load(self) -> State | None:
        """The last state that was kept; None if the training starts from the beginning."""
        return None

    def save(self, state: Callable[[], State]) -> None:
        """Keep the state that `state` returns; a checkpoint that is not due does not call it."""


NO_CHECKPOINT = Checkpoint()


def continue_training(
    step: Step,
    stream: Iterator[Int[Tensor, " b"]],
    n_steps: int,
    live: Mapping[str, Tensor],
    saved: Mapping[str, Tensor],
    *,
    generator: torch.Generator | None = None,
) -> None:
    """Bring a new training to the state of an interrupted one after `n_steps` >= 1 steps.

    `stream` yields the batches from the beginning on, of which those of the steps are skipped; `step` was not
    called before. The tensors of `live` keep their memory and get the values of `saved`, which also has the
    state of the `generator` of the random numbers in the loss.
    """
    first = next(stream)
    step.capture(first)
    for _ in islice(stream, n_steps - 1):
        pass
    copy_values(live, saved)
    if generator is not None:
        generator.set_state(saved["generator"])


@torch.no_grad()
def copy_values(live: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> None:
    """Set the values of tensors in place, which may be on another device than the saved values."""
    for name, tensor in live.items():
        tensor.copy_(saved[name])
