"""The rules by which the kernels of matrix products and convolutions are chosen.

PyTorch has several kernels for the same product, and which is fastest depends on the shape and the processor.
The rules are constants that were measured (see ``benchmarks/README.md``) and not times taken in this process,
so the same machine always uses the same kernels and computes the same numbers.
"""

import math
import platform
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

CPUINFO = Path("/proc/cpuinfo")
VENDORS = {"AuthenticAMD": "amd", "GenuineIntel": "intel"}

Pair = tuple[int, int]


class Geometry(NamedTuple):
    """Rows and columns of images, feature maps, kernel, stride and padding of a convolution."""

    sides: Pair
    maps: Pair
    kernel: Pair
    stride: Pair
    padding: Pair

    @property
    def padded(self) -> Pair:
        """(h, w) of the padded images."""
        (height, width), (rows, columns) = self.sides, self.padding
        return height + 2 * rows, width + 2 * columns

    @property
    def output_padding(self) -> Pair:
        """Rows and columns of the images that no window of the convolution reaches."""
        rows, columns = (
            padded - kernel - (maps - 1) * stride
            for padded, kernel, maps, stride in zip(
                self.padded, self.kernel, self.maps, self.stride, strict=True
            )
        )
        return rows, columns


class Processor(NamedTuple):
    """What the rules know of a processor.

    `vendor` is "amd", "intel" or "other", `instruction_set` what PyTorch calls the largest vectors that it
    uses, such as "AVX2", and `onednn` whether this PyTorch contains oneDNN with the operators of inference.
    """

    vendor: str
    instruction_set: str
    onednn: bool


class Rules(NamedTuple):
    """The kernels of a processor; PyTorch's own ones by default."""

    # library of the products of matrices: "onednn", or "blas" for the one that PyTorch is built with
    dense: str = "blas"
    # whether a convolution of images with at most as many pixels as the kernel, or its transpose, is a
    # product with a matrix (`dekm.nn.unrolled`)
    unrolls: bool = False
    # a transposed convolution to at most this number of channels is one dense convolution, whose channels are
    # shuffled into an image (`dekm.nn.shuffle`)
    channels_by_shuffle: int = 0


def are_for(x: Tensor, weight: Tensor) -> bool:
    """Whether the rules are for a batch and the weights of a layer: float32 on the CPU.

    An empty batch, autocast and a trace, which an export takes, are left to PyTorch.
    """
    is_traced = torch.jit.is_tracing()  # type: ignore[attr-defined]  # a public function of another module
    if is_traced or torch.is_autocast_enabled("cpu") or not len(x):
        return False
    return x.device.type == "cpu" and x.dtype == weight.dtype == torch.float32


def unrolls(geometry: Geometry) -> bool:
    """Whether a convolution and its transpose are products with a matrix."""
    return rules().unrolls and math.prod(geometry.sides) <= math.prod(geometry.kernel)


def of_images(n_channels: int, geometry: Geometry) -> str:
    """The kernel of a transposed convolution to images with `n_channels`: "shuffle" or "torch"."""
    s, t = geometry.stride
    few = n_channels <= rules().channels_by_shuffle
    return "shuffle" if few and s == t <= min(geometry.kernel) else "torch"


@cache
def rules() -> Rules:
    """The rules of the processor of this machine."""
    return rules_of(this_processor())


def rules_of(processor: Processor) -> Rules:
    """The rules of a processor.

    MKL does not use AVX-512 on processors of AMD, where oneDNN is twice as fast. Everywhere else MKL is the
    faster of the two, and oneDNN has slow kernels for the gradient of the weights of strided convolutions,
    in particular without AVX-512.
    """
    avx512 = processor.instruction_set.startswith("AVX512")
    if not processor.onednn or not processor.instruction_set.startswith("AVX"):
        return Rules()
    if avx512 and processor.vendor == "amd":
        return Rules("onednn", unrolls=True, channels_by_shuffle=3)
    return Rules("blas", unrolls=True, channels_by_shuffle=3)


@cache
def this_processor() -> Processor:
    """The processor of this machine."""
    has_onednn = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return Processor(vendor(), torch.backends.cpu.get_cpu_capability(), has_onednn)


def vendor() -> str:
    """Vendor of the processor: "amd", "intel", or "other" if it is not known."""
    try:
        described = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:  # another system than Linux, or a sandbox
        described = platform.processor()
    return next((name for key, name in VENDORS.items() if key in described), "other")


def decided() -> dict[str, str | int | bool | None]:
    """The processor and its rules, for the record of what made a result."""
    return this_processor()._asdict() | rules()._asdict()
