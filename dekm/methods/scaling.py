"""Scaling of the samples that belongs to the protocol of a method, between the data and its networks."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.utils import check_array
from torch import Tensor, nn

from dekm.errors import InputError
from dekm.nn.training import output_of

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


def decode(decoder: nn.Module, H: Any, embedding_dim: int, scaling: str) -> np.ndarray:
    """Samples of some embeddings: g(h), scaled back where the scaling keeps what that needs."""
    try:
        rows = check_array(H, dtype=np.float32, input_name="H")
    except ValueError as error:
        raise InputError(str(error)) from error
    if rows.shape[1] != embedding_dim:
        raise InputError(f"H of shape {rows.shape} should be (n, {embedding_dim}).")
    device = next(decoder.parameters()).device
    X = output_of(decoder, torch.from_numpy(np.array(rows, order="C")).to(device))
    return ((X + 1) / 2 if scaling == "symmetric" else X).cpu().numpy()
