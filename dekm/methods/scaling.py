"""Scaling of the samples that belongs to the protocol of a method, between the data and its networks."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from dekm.errors import InputError

Samples = Float[Tensor, "n ..."]


def _symmetric(X: Samples) -> Samples:
    return 2 * X - 1


def _mean_square(X: Samples) -> Samples:
    norms = X.flatten(1).norm(dim=1).clamp_min(torch.finfo(X.dtype).tiny)
    return X * (math.sqrt(X[0].numel()) / norms).view(-1, *[1] * (X.ndim - 1))


SCALINGS: dict[str, Callable[[Samples], Samples]] = {
    "none": lambda X: X,
    "symmetric": _symmetric,
    "mean_square": _mean_square,
}


def check_range(X: Samples, scaling: str) -> None:
    """Raise `InputError` if the samples of a fit are not in the range that a scaling is for."""
    if scaling != "symmetric":
        return
    low, high = (float(value) for value in X.aminmax())
    if low < 0 or high > 1:
        raise InputError(
            f"scaling='symmetric' needs values in [0, 1]; X has values from {low:g} to {high:g}."
        )
