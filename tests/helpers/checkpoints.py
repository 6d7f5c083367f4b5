"""A checkpoint in memory that interrupts the training which keeps its state there."""

import json
from collections.abc import Callable

from dekm.nn.checkpoint import Checkpoint, State


class InterruptedTrainingError(Exception):
    """Raised in a training after some of its states were kept."""


class Memory(Checkpoint):
    """Keeps every state; the `stop_after`-th one ends the training."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.kept: State | None = None
        self.n_saved = 0

    def load(self) -> State | None:
        return self.kept

    def save(self, state: Callable[[], State]) -> None:
        found = state()
        tensors = {name: value.detach().cpu().clone() for name, value in found.tensors.items()}
        self.kept = State(tensors, json.loads(json.dumps(found.values)))  # as a file keeps them
        self.n_saved += 1
        if self.n_saved == self.stop_after:
            raise InterruptedTrainingError
