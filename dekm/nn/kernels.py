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

from dekm.nn.geometry import Geometry

CPUINFO = Path("/proc/cpuinfo")
PATCH_CHANNELS = 8  # patches of fewer channels are copied in runs that are too short
VENDORS = {"AuthenticAMD": "amd", "GenuineIntel": "intel"}


class Processor(NamedTuple):
    """What the rules know of a processor.

    Parameters
    ----------
    vendor : str
        "amd", "intel" or "other".
    instruction_set : str
        Name that PyTorch gives to the largest vector instructions that it uses, such as "AVX2".
    onednn : bool
        Whether this PyTorch contains oneDNN with the operators of inference.
    """

    vendor: str
    instruction_set: str
    onednn: bool


class Rules(NamedTuple):
    """The kernels of a processor; PyTorch's own ones by default.

    Parameters
    ----------
    dense : str
        Library of the products of matrices: "onednn", or "blas" for the one that PyTorch is built with.
    gradients_by_patches : int
        The gradient of the weights of a convolution is a product of patches (`dekm.nn.patches`) if the
        feature maps have at most this number of pixels.
    images_by_patches : int
        The same of the transposed convolution, of the convolution's gradient of its images, and of both
        with the roles of images and maps exchanged.
    channels_by_shuffle : int
        A transposed convolution to at most this number of channels is one dense convolution, whose channels
        are shuffled into an image (`dekm.nn.shuffle`).
    """

    dense: str = "blas"
    gradients_by_patches: int = 0
    images_by_patches: int = 0
    channels_by_shuffle: int = 0


def of_maps(n_channels: int, geometry: Geometry) -> str:
    """The kernel of a convolution of images with `n_channels`."""
    return "patches" if _suits_patches(n_channels, geometry, rules().images_by_patches) else "torch"


def of_images(n_channels: int, geometry: Geometry) -> str:
    """The kernel of a transposed convolution to images with `n_channels`."""
    (s, t), chosen = geometry.stride, rules()
    if n_channels <= chosen.channels_by_shuffle and s == t <= min(geometry.kernel):
        return "shuffle"
    return "patches" if _suits_patches(n_channels, geometry, chosen.images_by_patches) else "torch"


def of_weight_gradient(n_channels: int, geometry: Geometry) -> str:
    """The kernel of the gradient of the weights of a convolution of images with `n_channels`."""
    return "patches" if _suits_patches(n_channels, geometry, rules().gradients_by_patches) else "torch"


def _suits_patches(n_channels: int, geometry: Geometry, most_pixels: int) -> bool:
    return n_channels >= PATCH_CHANNELS and math.prod(geometry.maps) <= most_pixels


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
        return Rules("onednn", gradients_by_patches=4, channels_by_shuffle=3)
    return Rules("blas", gradients_by_patches=9, channels_by_shuffle=3)


@cache
def this_processor() -> Processor:
    """The processor of this machine."""
    has_onednn = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return Processor(vendor(), torch.backends.cpu.get_cpu_capability(), has_onednn)


def vendor() -> str:
    """Vendor of the processor: "amd", "intel", or "other" if it is not known."""
    described = CPUINFO.read_text() if CPUINFO.exists() else platform.processor()
    return next((name for key, name in VENDORS.items() if key in described), "other")


def decided() -> dict[str, str | int | bool | None]:
    """The processor and its rules, for the record of what made a result."""
    return this_processor()._asdict() | rules()._asdict()
