"""The epochs of a pretraining, stage by stage, with what is shown and kept after each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from jaxtyping import Int
from torch import Tensor, nn
from tqdm.auto import tqdm

from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint, State, continue_training, copy_values
from dekm.nn.training import Step, train


@dataclass(frozen=True)
class Epoch:
    """One epoch of a pretraining."""

    n_epoch: int  # number of epochs so far, those of all stages together
    n_epochs: int  # of all stages together
    loss: float  # mean loss of the batches
    layer: int | None  # the layer that the epoch trained, from 1 on; None for the whole network


OnEpoch = Callable[[Epoch], None]


class Stages:
    """The epochs of a pretraining: a stage for each layer if it is layer-wise, and one of the whole network.

    A stage has `n_epochs` of `n_steps` steps. After every epoch the state is kept in `checkpoint`, from which
    the autoencoder gets its weights, and `on_epoch` is called.
    """

    def __init__(
        self,
        autoencoder: nn.Module,
        *,
        n_stages: int,
        n_epochs: int,
        n_steps: int,
        progress: bool = False,
        checkpoint: Checkpoint = NO_CHECKPOINT,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.autoencoder = autoencoder
        self.n_stages = n_stages
        self.n_epochs = n_epochs
        self.n_steps = n_steps
        self.checkpoint = checkpoint
        self.on_epoch = on_epoch
        self.losses: list[list[float]] = []  # of every stage that has begun
        self._saved = checkpoint.load()
        if self._saved is not None:
            copy_values(autoencoder.state_dict(), self._saved.tensors)
        self._bar = tqdm(total=n_stages * n_epochs, desc="Pretraining", unit=" epochs", disable=not progress)

    def run(
        self, step: Step, stream: Iterator[Int[Tensor, " b"]], *, generator: torch.Generator | None = None
    ) -> list[float]:
        """Train the next stage and return its losses; `generator` gives the random numbers in its loss."""
        live = self.autoencoder.state_dict() | step.optimizer.tensors()
        losses = self._continue(step, stream, live, generator)
        self.losses.append(losses)
        for _ in range(len(losses), self.n_epochs):
            losses.append(train(step, islice(stream, self.n_steps)))
            self._report(losses[-1])
            self.checkpoint.save(lambda: self._state(live, generator))
        if len(self.losses) == self.n_stages:
            self._bar.close()
        return losses

    def _continue(
        self,
        step: Step,
        stream: Iterator[Int[Tensor, " b"]],
        live: dict[str, Tensor],
        generator: torch.Generator | None,
    ) -> list[float]:
        """The losses of the epochs of this stage that an interrupted pretraining has finished."""
        stage, saved = len(self.losses), self._saved
        stages = [] if saved is None else saved.values["losses"]
        if saved is None or stage >= len(stages):
            return []
        n_steps = len(stages[stage]) * self.n_steps
        if stage == len(stages) - 1:
            continue_training(step, stream, n_steps, live, saved.tensors, generator=generator)
        else:
            for _ in islice(stream, n_steps):
                pass
        self._bar.update(len(stages[stage]))
        return list(stages[stage])

    def _report(self, loss: float) -> None:
        self._bar.update()
        self._bar.set_postfix(loss=loss)
        if self.on_epoch is not None:
            n_epoch = sum(map(len, self.losses))
            layer = len(self.losses) if len(self.losses) < self.n_stages else None
            self.on_epoch(Epoch(n_epoch, self.n_stages * self.n_epochs, loss, layer))

    def _state(self, live: dict[str, Tensor], generator: torch.Generator | None) -> State:
        random = {} if generator is None else {"generator": generator.get_state()}
        return State(live | random, {"losses": self.losses})
