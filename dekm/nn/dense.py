"""Fully connected layers, and their matrix products by oneDNN or by PyTorch's BLAS on the CPU.

PyTorch multiplies float32 matrices by MKL, which does not use AVX-512 on AMD processors; oneDNN, which
PyTorch includes for its convolutions, does. The results differ by rounding only.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from dekm.nn import kernels


def product(
    x: Float[Tensor, "b p"], weight: Float[Tensor, "q p"], bias: Float[Tensor, " q"] | None = None
) -> Float[Tensor, "b q"]:
    """``x @ weight.T + bias`` by oneDNN; `weight` may be a transposed view."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def transposed(x: Float[Tensor, "b q"]) -> Float[Tensor, "q b"]:
    """A transposed copy of a matrix."""
    # PyTorch copies a tensor with three axes by all threads, which takes half the time.
    return x.T.unsqueeze(-1).contiguous().squeeze(-1)


class OneDnnLinear(torch.autograd.Function):
    """A linear map of float32 rows on the CPU and its gradients, which are three matrix products."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """As `torch.nn.functional.linear`."""
        ctx.save_for_backward(x, weight)
        return product(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Gradients of x, weight and bias; None where no gradient is needed."""
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        return (
            product(gradient, weight.T) if of_x else None,
            product(transposed(gradient), x.T) if of_weight else None,
            gradient.sum(0) if of_bias else None,
        )


def linear(
    x: Float[Tensor, "b p"], weight: Float[Tensor, "q p"], bias: Float[Tensor, " q"] | None
) -> Float[Tensor, "b q"]:
    """`torch.nn.functional.linear` of float32 rows on the CPU, by the library that the rules name."""
    if kernels.rules().dense == "onednn":
        return OneDnnLinear.apply(x, weight, bias)
    return torch.nn.functional.linear(x, weight, bias)


class Dense(nn.Linear):
    """`torch.nn.Linear` with the faster library on the CPU; oneDNN has first derivatives only."""

    def forward(self, x: Float[Tensor, "*b p"]) -> Float[Tensor, "*b q"]:
        """As `torch.nn.Linear`."""
        if kernels.are_for(x, self.weight) and x.ndim == 2 and x.shape[1] == self.in_features:
            return linear(x, self.weight, self.bias)
        return super().forward(x)
