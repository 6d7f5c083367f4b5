"""The optimizer of the deep methods, on PyTorch's fused kernel.

`torch.optim.Adam` takes the same steps, but its first step imports PyTorch's compiler, which takes seconds of
every process.
"""

from collections.abc import Iterable

import torch
from torch import nn

BETAS = (0.9, 0.999)
EPS = 1e-8


class Adam:
    """Adam (Kingma and Ba, 2015), step by step equal to ``torch.optim.Adam(..., fused=True)``.

    All tensors keep their memory, and the number of steps is on the device, so a CUDA graph can capture a
    step.

    Parameters
    ----------
    parameters : iterable of torch.nn.Parameter
        The parameters to optimize, float32, on one device.
    lr : float
        Learning rate.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], *, lr: float) -> None:
        self.parameters = list(parameters)
        self.lr = lr
        self._state = [
            (torch.zeros_like(value), torch.zeros_like(value), torch.zeros((), device=value.device))
            for value in self.parameters
        ]

    def zero_grad(self) -> None:
        """Remove the gradients of all parameters."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters that have a gradient, in place."""
        used = [
            (parameter, parameter.grad, *state)
            for parameter, state in zip(self.parameters, self._state, strict=True)
            if parameter.grad is not None
        ]
        parameters, gradients, means, squares, steps = map(list, zip(*used, strict=True))
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            parameters,
            gradients,
            means,
            squares,
            [],
            steps,
            lr=self.lr,
            beta1=BETAS[0],
            beta2=BETAS[1],
            weight_decay=0.0,
            eps=EPS,
            amsgrad=False,
            maximize=False,
        )
