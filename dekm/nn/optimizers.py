"""The optimizers of the deep methods, on PyTorch's fused kernels.

Those of `torch.optim` take the same steps, but their first step imports PyTorch's compiler, which takes
seconds of every process. All tensors of an optimizer keep their memory, so a CUDA graph can capture a step.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

BETAS = (0.9, 0.999)
EPS = 1e-8
NEGLIGIBLE = 1e-32  # its square root vanishes beside EPS in float32


class Optimizer:
    """Base class: changes parameters on one device in place by their gradients."""

    def __init__(self, parameters: Iterable[nn.Parameter], *, lr: float) -> None:
        self.parameters = list(parameters)
        self.lr = lr
        self.state = [self._initial_state(parameter) for parameter in self.parameters]

    def tensors(self) -> dict[str, Tensor]:
        """The state of the optimizer by name; the tensors change with every step."""
        return {
            f"optimizer.{i}.{j}": tensor
            for i, state in enumerate(self.state)
            for j, tensor in enumerate(state)
        }

    def zero_grad(self) -> None:
        """Remove the gradients of all parameters."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters that have a gradient."""
        used = [
            (parameter, parameter.grad, *state)
            for parameter, state in zip(self.parameters, self.state, strict=True)
            if parameter.grad is not None
        ]
        self._update(*map(list, zip(*used, strict=True)))

    @torch.no_grad()
    def drop_negligible(self) -> None:
        """Set the values of the state to zero that are too small to change a parameter, on the CPU.

        The state of a weight whose gradient stays zero, as behind a ReLU that is never active, is multiplied
        by a factor below one in every step. It ends in subnormal numbers, which rounding keeps above zero and
        which a CPU computes with a hundred times as slowly.
        """
        for tensor in self.tensors().values():
            if tensor.device.type == "cpu":
                torch.ops.aten.hardshrink.out(tensor, NEGLIGIBLE, out=tensor)

    def _initial_state(self, parameter: nn.Parameter) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _update(self, *columns: list[Tensor]) -> None:
        """Update parameters by their gradients and states, given as one list each."""
        raise NotImplementedError


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015); its steps are those of ``torch.optim.Adam(..., fused=True)``."""

    def _initial_state(self, parameter: nn.Parameter) -> tuple[Tensor, ...]:
        n_steps = torch.zeros((), dtype=torch.float32, device=parameter.device)
        return torch.zeros_like(parameter), torch.zeros_like(parameter), n_steps

    def _update(self, *columns: list[Tensor]) -> None:
        parameters, gradients, means, squares, n_steps = columns
        torch._foreach_add_(n_steps, 1)
        torch._fused_adam_(
            parameters,
            gradients,
            means,
            squares,
            [],
            n_steps,
            lr=self.lr,
            beta1=BETAS[0],
            beta2=BETAS[1],
            weight_decay=0.0,
            eps=EPS,
            amsgrad=False,
            maximize=False,
        )


class SGD(Optimizer):
    """Stochastic gradient descent with momentum in [0, 1); its steps are those of ``torch.optim.SGD``."""

    def __init__(self, parameters: Iterable[nn.Parameter], *, lr: float, momentum: float) -> None:
        super().__init__(parameters, lr=lr)
        self.momentum = momentum

    def _initial_state(self, parameter: nn.Parameter) -> tuple[Tensor, ...]:
        return (torch.zeros_like(parameter),)

    def _update(self, *columns: list[Tensor]) -> None:
        parameters, gradients, velocities = columns
        torch._fused_sgd_(
            parameters,
            gradients,
            velocities if self.momentum else [],
            weight_decay=0.0,
            momentum=self.momentum,
            lr=self.lr,
            dampening=0.0,
            nesterov=False,
            maximize=False,
            is_first_step=False,
        )
