"""A training step as a CUDA graph, and the proof that the graph repeats the step."""

import logging
from collections.abc import Callable, Iterable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from dekm.concurrency import capture_stream
from dekm.errors import InputError

WARM_UP = 3  # steps before a capture, which initialize the CUDA libraries
# Largest differences between a step and its repetition by the graph: of the loss as a fraction of it, and of
# the mean change of the parameters. The kernels of both are the same.
LOSS_BOUND, CHANGE_BOUND = 1e-4, 1e-2

logger = logging.getLogger(__name__)

Steps = Callable[[Int[Tensor, " b"]], Float[Tensor, ""]]


class CapturedStep:
    """A step on a GPU, which is captured after `WARM_UP` calls; the later calls replay the graph.

    The last step before is taken again by the graph. If the loss or the parameters differ, as where Python
    state of a network decides what it computes, a warning says so and no graph is used.

    Parameters
    ----------
    step : callable
        Takes a step on the batch of some indices, and returns its loss.
    parameters : sequence of Tensor
        The parameters.
    others : sequence of Tensor
        All other tensors that a step changes.
    generator : torch.Generator or None
        The generator of random numbers of the step; the default one is known.

    Raises
    ------
    InputError
        If the step cannot be captured.
    """

    def __init__(
        self,
        step: Steps,
        parameters: Sequence[Tensor],
        others: Iterable[Tensor],
        generator: torch.Generator | None,
    ) -> None:
        self.step, self.parameters, self.generator = step, parameters, generator
        self.tensors = [*(value.detach() for value in parameters), *others]
        device = parameters[0].device
        index = torch.cuda.current_device() if device.index is None else device.index
        self.generators = [torch.cuda.default_generators[index], *([generator] if generator else [])]
        self.stream = capture_stream(device)
        self.warm_up = WARM_UP
        self.replay: Steps | None = None

    def __call__(self, index: Int[Tensor, " b"]) -> Float[Tensor, ""]:
        """Take a step."""
        if self.replay is not None:
            return self.replay(index)
        self.warm_up -= 1
        return self.aside(index) if self.warm_up else self.capture_and_prove(index)

    def aside(self, index: Int[Tensor, " b"]) -> Float[Tensor, ""]:
        """A step on the stream of the later capture, as PyTorch demands of the steps before a capture."""
        current = torch.cuda.current_stream()
        self.stream.wait_stream(current)
        with torch.cuda.stream(self.stream):
            loss = self.step(index)
        current.wait_stream(self.stream)
        return loss

    def capture_and_prove(self, index: Int[Tensor, " b"]) -> Float[Tensor, ""]:
        """Take a step, capture it, take it again from the same state by the graph, and compare the two."""
        n = len(self.parameters)
        before, states = self.copies(), self.random_states()
        loss = self.aside(index)
        after, later_states = self.copies(), self.random_states()
        replay = self.captured(index)
        self.restore(before, states)
        loss_again = replay(index)
        difference, change = (
            sum(
                (value - new).abs().sum(dtype=torch.float64)
                for value, new in zip(old, after[:n], strict=True)
            )
            for old in (self.tensors[:n], before[:n])
        )
        self.restore(after, later_states)
        repeated = ((loss_again - loss).abs() <= LOSS_BOUND * loss.abs()) & (
            difference <= CHANGE_BOUND * change
        )
        if repeated or not loss.isfinite():
            self.replay = replay
        else:
            self.replay = self.step
            logger.warning(
                "capture: the graph of the training step does not repeat the step, so no graph is used: loss "
                "%.6g, by the graph %.6g. A network whose computation depends on Python state, such as a "
                "counter, cannot be captured.",
                float(loss),
                float(loss_again),
            )
        return loss

    def captured(self, index: Int[Tensor, " b"]) -> Steps:
        """The step as a graph; a capture executes nothing."""
        graph, static_index = torch.cuda.CUDAGraph(), index.clone()
        if self.generator is not None:
            graph.register_generator_state(self.generator)
        try:
            with torch.cuda.graph(graph, stream=self.stream):
                loss = self.step(static_index)
        except RuntimeError as error:
            reason = next(iter(str(error).splitlines()), "").rstrip(".")
            raise InputError(
                f"The training step cannot be captured as a CUDA graph: {reason}. Set capture=False of the "
                "autoencoder (capture: false of the pretraining)."
            ) from error

        def replay(index: Int[Tensor, " b"]) -> Float[Tensor, ""]:
            static_index.copy_(index)
            graph.replay()
            return loss.clone()  # the next replay overwrites `loss`

        return replay

    def copies(self) -> list[Tensor]:
        """Copies of all tensors that a step changes."""
        return [tensor.clone() for tensor in self.tensors]

    def random_states(self) -> list[Tensor]:
        """The states of the generators."""
        return [generator.get_state() for generator in self.generators]

    def restore(self, values: Sequence[Tensor], states: Sequence[Tensor]) -> None:
        """Set all tensors that a step changes, and the generators."""
        for tensor, value in zip(self.tensors, values, strict=True):
            tensor.copy_(value)
        for generator, state in zip(self.generators, states, strict=True):
            generator.set_state(state)
