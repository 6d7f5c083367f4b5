"""Devices by their names, and the precision of the training steps on a GPU."""

import contextlib
import functools
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from dekm.errors import InputError, shown
from dekm.nn import kernels

logger = logging.getLogger(__name__)

# cuBLAS is deterministic only with a workspace of fixed size; CUDA reads the variable when it starts.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def resolve_device(device: str | torch.device) -> torch.device:
    """The device of a name: "auto" (a GPU if there is one, otherwise the CPU), "cpu", "cuda" or "cuda:N".

    `InputError` if the name is not one of these, or the device does not exist.
    """
    if not isinstance(device, str | torch.device):
        raise InputError(f"device={shown(device)} should be 'auto', 'cpu', 'cuda' or 'cuda:N'.")
    if device == "auto":
        return torch.device("cuda" if has_gpu() else "cpu")
    try:
        resolved = torch.device(device)
    except RuntimeError as error:
        raise InputError(f"device={shown(device)} should be 'auto', 'cpu', 'cuda' or 'cuda:N'.") from error
    if resolved.type not in ("cpu", "cuda"):
        apple = " GPUs of Apple are not supported." if resolved.type == "mps" else ""
        raise InputError(f"device={shown(device)} should be 'auto', 'cpu', 'cuda' or 'cuda:N'.{apple}")
    if resolved.type == "cuda" and (resolved.index or 0) >= torch.cuda.device_count():
        raise InputError(
            f"device={shown(device)} does not exist: PyTorch sees {torch.cuda.device_count()} GPUs."
        )
    return resolved


def has_gpu() -> bool:
    """Whether PyTorch can use a GPU.

    A PyTorch that is built with CUDA may warn at length of a driver that is missing or too old; the log says
    it once, in one line.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        is_available = torch.cuda.is_available()
    if caught and not is_available:
        _log_once(str(caught[0].message).partition("\n")[0])
    return is_available


@functools.cache
def _log_once(reason: str) -> None:
    logger.warning("device='auto' is the CPU: %s", reason)


def device_name(device: str | torch.device) -> str:
    """Name of the hardware that a device stands for: "cpu", or the model of the GPU."""
    resolved = resolve_device(device)
    return torch.cuda.get_device_name(resolved) if resolved.type == "cuda" else "cpu"


def hardware(device: str | torch.device) -> dict[str, Any]:
    """The device, the number of CPU threads and the kernels, which decide the last bits of a result."""
    return {
        "device": device_name(device),
        "threads": torch.get_num_threads(),
        "kernels": kernels.decided(),
    }


@contextlib.contextmanager
def default_modes() -> Iterator[None]:
    """Record gradients and keep float32 in the block, or in a function that this decorates.

    A caller may have entered ``torch.no_grad``, ``torch.inference_mode`` or ``torch.autocast``.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        yield


@contextlib.contextmanager
def tensor_cores() -> Iterator[None]:
    """Use TF32 and deterministic convolutions on GPUs within the block."""
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
    """The precision of the training steps on the device of `X`: TF32 on a GPU, float32 on the CPU."""
    return tensor_cores() if X.is_cuda else contextlib.nullcontext()
