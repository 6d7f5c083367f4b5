"""Devices by their names, and the arithmetic that the training steps use on a GPU."""

import contextlib
import os
from collections.abc import Iterator

import torch
from torch import Tensor

from dekm.errors import InputError

# Read when CUDA starts: cuBLAS repeats bit by bit only with a workspace of fixed size.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def resolve_device(device: str) -> torch.device:
    """The device named by "auto" (a GPU where there is one), "cpu", "cuda" or "cuda:1".

    Raises
    ------
    InputError
        If the name is unknown or the device is not there.
    """
    if not isinstance(device, str):
        raise InputError(f"device={device!r} should be 'auto', 'cpu', 'cuda' or 'cuda:N'.")
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
    except RuntimeError as error:
        raise InputError(f"device={device!r} should be 'auto', 'cpu', 'cuda' or 'cuda:N'.") from error
    if resolved.type not in ("cpu", "cuda"):
        raise InputError(f"device={device!r} should be 'auto', 'cpu', 'cuda' or 'cuda:N'.")
    if resolved.type == "cuda" and (resolved.index or 0) >= torch.cuda.device_count():
        raise InputError(f"device={device!r} is not there: PyTorch sees {torch.cuda.device_count()} GPUs.")
    return resolved


def device_name(device: str) -> str:
    """Name of the hardware that a device stands for: "cpu", or the model of the GPU."""
    resolved = resolve_device(device)
    return torch.cuda.get_device_name(resolved) if resolved.type == "cuda" else "cpu"


@contextlib.contextmanager
def tensor_cores() -> Iterator[None]:
    """TF32 matrix products, and convolutions that repeat bit by bit, for the kernels chosen in the block."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    conv = cudnn.conv  # type: ignore[attr-defined]  # PyTorch adds it when it is imported
    before = matmul.fp32_precision, conv.fp32_precision, cudnn.benchmark, cudnn.deterministic
    matmul.fp32_precision = conv.fp32_precision = "tf32"
    cudnn.benchmark, cudnn.deterministic = False, True
    try:
        yield
    finally:
        matmul.fp32_precision, conv.fp32_precision, cudnn.benchmark, cudnn.deterministic = before


def precision_of_steps(X: Tensor) -> contextlib.AbstractContextManager[None]:
    """The arithmetic of the steps, for what belongs to them on the device of `X`."""
    return tensor_cores() if X.is_cuda else contextlib.nullcontext()
