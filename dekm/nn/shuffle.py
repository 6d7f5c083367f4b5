"""Transposed convolutions as one dense convolution whose channels are the phases of the stride.

The pixels of a transposed convolution of stride s whose rows are r, r + s, r + 2s, ... depend on every s-th
row of the kernel only, and are a convolution of stride 1 with these rows; the same holds for the columns
(Shi et al., 2016, "Is the deconvolution layer the same as a convolutional layer?").
"""

from itertools import product
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pixel_shuffle

from dekm.nn.kernels import Geometry


class Phase(NamedTuple):
    """The rows (or columns) number r, r + s, r + 2s, ... of the images.

    They depend on the rows `taps` of the kernel, `length` in number, and the first of them on the rows of the
    feature maps from `start` on, which is negative in the padding; there are `size` of them.
    """

    taps: slice
    start: int
    length: int
    size: int


def images(
    maps: Float[Tensor, "b o i j"], weight: Float[Tensor, "o c k l"], bias: Tensor | None, geometry: Geometry
) -> Float[Tensor, "b c h w"]:
    """The transposed convolution of feature maps; fast for images with few channels."""
    (s, t), (h, w), (o, c) = geometry.stride, geometry.sides, weight.shape[:2]
    rows_of, columns_of = phases(geometry, 0), phases(geometry, 1)
    rows, columns = _union(rows_of), _union(columns_of)
    kernel = weight.new_zeros(c, s, t, o, rows.length, columns.length)
    for (r, row), (q, column) in product(enumerate(rows_of), enumerate(columns_of)):
        window = kernel[:, r, q, :, row.start - rows.start :, column.start - columns.start :]
        taps = weight[:, :, row.taps, column.taps].flip(2, 3).transpose(0, 1)
        window[:, :, : row.length, : column.length] = taps
    bias = None if bias is None else bias.repeat_interleave(s * t)
    return pixel_shuffle(_convolution(maps, kernel.flatten(0, 2), bias, rows, columns), s)[:, :, :h, :w]


def phases(geometry: Geometry, axis: int) -> list[Phase]:
    """The phases of the rows (axis 0) or of the columns (axis 1)."""
    stride, padding = geometry.stride[axis], geometry.padding[axis]
    kernel, side = geometry.kernel[axis], geometry.sides[axis]
    found = []
    for r in range(min(stride, side)):
        first = (r + padding) % stride
        length = len(range(first, kernel, stride))
        start = (r + padding) // stride - length + 1
        found.append(Phase(slice(first, None, stride), start, length, len(range(r, side, stride))))
    return found


def _union(of: list[Phase]) -> Phase:
    """The smallest phase that contains all of them."""
    start, end = min(phase.start for phase in of), max(phase.start + phase.length for phase in of)
    return Phase(slice(None), start, end - start, max(phase.size for phase in of))


def _convolution(
    maps: Tensor, kernel: Float[Tensor, "c o k l"], bias: Tensor | None, rows: Phase, columns: Phase
) -> Float[Tensor, "b c h w"]:
    """The convolution of stride 1 at the rows and columns of a phase."""
    kernel = kernel.contiguous(memory_format=torch.channels_last)
    padding = [_padding(phase, side) for phase, side in zip((rows, columns), maps.shape[2:], strict=True)]
    images = torch.conv2d(maps, kernel, bias, padding=padding)
    top, left = padding[0] + rows.start, padding[1] + columns.start
    return images[:, :, top : top + rows.size, left : left + columns.size]


def _padding(phase: Phase, side: int) -> int:
    return max(0, -phase.start, phase.start + phase.size + phase.length - 1 - side)
