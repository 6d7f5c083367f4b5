"""The training step of all deep methods, the batches of samples, and the encoding of all samples."""

from collections.abc import Callable, Iterable, Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from dekm.concurrency import yield_turn
from dekm.errors import DivergedError
from dekm.nn.allocator import keep_freed_memory
from dekm.nn.capture import WARM_UP, CapturedStep
from dekm.nn.device import precision_of_steps, tensor_cores
from dekm.nn.networks import Network
from dekm.nn.optimizers import Adam, Optimizer
from dekm.nn.own_network import evaluation

EMBEDDING_BATCH = 2048  # samples
# Bytes of the images that are embedded at once. Their feature maps are about eight times as large: on a CPU
# they stay in the cache, on a GPU they bound the memory.
IMAGE_BYTES = {"cpu": 2**21, "cuda": 2**26}

Loss = Callable[[Int[Tensor, " b"]], Float[Tensor, ""]]


class Step:
    """One step of an optimizer on the loss of a batch.

    On a GPU the whole step, including `after`, is captured as a CUDA graph after a few calls, and the later
    calls replay the graph (`dekm.nn.capture`). The results are the same.

    Parameters
    ----------
    loss : callable
        Maps the int64 indices of the b samples of a batch to a scalar tensor. The tensors that it reads must
        keep their memory between the steps, because a graph reads the addresses that were captured: new
        values are copied into them.
    parameters : iterable of torch.nn.Parameter
        The parameters to optimize.
    lr : float
        Learning rate.
    optimizer : callable
        Makes the optimizer from the parameters and `lr`; Adam with the betas of Section IV-C of the paper.
    generator : torch.Generator or None
        The generator that `loss` draws random numbers from, on the device of the parameters.
    after : callable or None
        Called with the indices of the batch after the update of the parameters; changes tensors in place.
    changed : iterable of Tensor
        The tensors that `after` changes.
    network : Network or None
        The network of `loss`: a step may change its buffers, and it says whether to capture the step.
    """

    def __init__(
        self,
        loss: Loss,
        parameters: Iterable[nn.Parameter],
        *,
        lr: float,
        optimizer: Callable[..., Optimizer] = Adam,
        generator: torch.Generator | None = None,
        after: Callable[[Int[Tensor, " b"]], None] | None = None,
        changed: Iterable[Tensor] = (),
        network: Network | None = None,
    ) -> None:
        self.loss = loss
        self.parameters = list(parameters)
        self.lr = lr
        self.generator = generator
        self.after = after
        device = self.parameters[0].device
        self.optimizer = optimizer(self.parameters, lr=lr)
        self._captured: CapturedStep | None = None
        if device.type == "cpu":
            keep_freed_memory()
        elif network is None or network.capture:
            buffers = () if network is None else network.buffers()
            others = [*self.optimizer.tensors().values(), *changed, *buffers]
            self._captured = CapturedStep(self._step, self.parameters, others, generator)

    def __call__(self, index: Int[Tensor, " b"]) -> Float[Tensor, ""]:
        """Take a step and return the loss before it, as a tensor on the device: reading it would wait."""
        if index.device.type == "cpu":
            return self._step(index)
        with torch.cuda.device(index.device), tensor_cores():
            return self._step(index) if self._captured is None else self._captured(index)

    def tensors(self) -> dict[str, Tensor]:
        """The parameters and the state of the optimizer by name; the tensors change with every step."""
        parameters = {f"parameter.{i}": value.detach() for i, value in enumerate(self.parameters)}
        return parameters | self.optimizer.tensors()

    def capture(self, index: Int[Tensor, " b"]) -> None:
        """Where the step is captured, take the steps of the warm-up, of which the last captures the graph."""
        if self._captured is not None:
            for _ in range(WARM_UP):
                self(index)

    def _step(self, index: Int[Tensor, " b"]) -> Float[Tensor, ""]:
        self.optimizer.zero_grad()
        loss = self.loss(index)
        loss.backward()
        self.optimizer.step()
        if self.after is not None:
            with torch.no_grad():
                self.after(index)
        return loss.detach()


def train(step: Step, stream: Iterable[Int[Tensor, " b"]]) -> float:
    """Take one step per batch of `stream` and return the mean loss.

    The device is waited for only once, at the end.

    Raises
    ------
    DivergedError
        If the loss or a parameter is no longer finite.
    """
    losses = []
    for index in stream:
        losses.append(step(index))
        yield_turn()
    step.optimizer.drop_negligible()
    mean = torch.stack(losses).mean()
    finite = torch.stack([mean.isfinite(), *(value.isfinite().all() for value in step.parameters)])
    if not finite.all():
        raise DivergedError(
            f"The training diverged with lr={step.lr}: the loss or a weight is not finite (mean loss "
            f"{float(mean)}). Try a smaller lr, or samples scaled to [0, 1]."
        )
    return float(mean)


def squared_error(x_hat: Float[Tensor, "b ..."], x: Float[Tensor, "b ..."]) -> Float[Tensor, ""]:
    """Equation (1) on a batch: the squared error, summed over the values of a sample, mean over the batch."""
    return ((x_hat - x) ** 2).flatten(1).sum(1).mean()


def batches(
    n_samples: int, batch_size: int, *, generator: torch.Generator, reshuffle: bool, device: torch.device
) -> Iterator[Int[Tensor, " b"]]:
    """Infinite iterator over batches of sample indices, int64, all of size min(batch_size, n_samples).

    A batch that reaches the end of an epoch continues with the next epoch, so no sample is dropped and no
    batch is smaller. With `reshuffle` every epoch has a new order; otherwise the first order repeats, and any
    n_samples consecutive indices contain every sample once. `generator`, on the CPU, draws the order.
    """
    size = min(batch_size, n_samples)
    order = torch.randperm(n_samples, generator=generator, device="cpu").to(device)
    rest = order[:0]
    while True:
        stream = torch.cat([rest, order])
        n_full = len(stream) // size * size
        yield from stream[:n_full].split(size)
        rest = stream[n_full:]
        if reshuffle:
            order = torch.randperm(n_samples, generator=generator, device="cpu").to(device)


def steps_per_epoch(n_samples: int, batch_size: int) -> int:
    """Number of batches that contain at least `n_samples` indices."""
    return -(-n_samples // min(batch_size, n_samples))


def encode(encoder: nn.Module, X: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
    """Embedding H = f(X) without gradients and in evaluation mode: line 3 of Algorithm 1."""
    return output_of(encoder, X)


@torch.no_grad()
def output_of(module: nn.Module, X: Float[Tensor, "n ..."]) -> Float[Tensor, "n ..."]:
    """Output of a network for all samples, without gradients and in evaluation mode."""
    with precision_of_steps(X), evaluation(module):
        return torch.cat([module(batch) for batch in X.split(samples_at_once(X))])


def samples_at_once(X: Float[Tensor, "n ..."]) -> int:
    """Number of samples that are given to a network at once, without gradients."""
    if X.ndim < 4 or len(X) == 0:
        return EMBEDDING_BATCH
    return min(EMBEDDING_BATCH, max(1, IMAGE_BYTES[X.device.type] // X[0].nbytes))
