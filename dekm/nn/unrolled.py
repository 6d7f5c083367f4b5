"""Convolutions of small images as products with one matrix.

A convolution is a linear map from the values of an image to the values of the feature maps. If the image has
at most as many pixels as the kernel, the product with its matrix takes no more operations than the
convolution with its padding.

With images of 8x8, whose second and third convolutions are such, a training step takes 1.42 times as long
without (AMD EPYC with AVX-512, and 1.43 with AVX2 only); no other shape of the paper has one.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from dekm.nn.dense import linear
from dekm.nn.kernels import Geometry


def maps(
    x: Float[Tensor, "b c h w"], weight: Float[Tensor, "o c k l"], bias: Tensor | None, geometry: Geometry
) -> Float[Tensor, "b o i j"]:
    """The convolution of images, with derivatives."""
    rows = linear(channels_last(x).flatten(1), Unroll.apply(weight, geometry), of_pixels(bias, geometry.maps))
    return rows.view(len(x), *geometry.maps, -1).permute(0, 3, 1, 2)


def images(
    x: Float[Tensor, "b o i j"], weight: Float[Tensor, "o c k l"], bias: Tensor | None, geometry: Geometry
) -> Float[Tensor, "b c h w"]:
    """The transposed convolution of feature maps, with derivatives."""
    matrix = Unroll.apply(weight, geometry)
    rows = linear(channels_last(x).flatten(1), matrix.T, of_pixels(bias, geometry.sides))
    return rows.view(len(x), *geometry.sides, -1).permute(0, 3, 1, 2)


def channels_last(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b h w c"]:
    """The images with the channels last, contiguous."""
    return x.permute(0, 2, 3, 1).contiguous()


def of_pixels(bias: Float[Tensor, " c"] | None, sides: tuple[int, int]) -> Float[Tensor, " p"] | None:
    """The bias of each value of an image or map, pixel by pixel."""
    return None if bias is None else bias.repeat(sides[0] * sides[1])


class Unroll(torch.autograd.Function):
    """The matrix (i*j*o, h*w*c) of a convolution with some weights."""

    @staticmethod
    def forward(ctx: Any, weight: Float[Tensor, "o c k l"], geometry: Geometry) -> Float[Tensor, "q p"]:
        """The matrix; its values are weights and zeros."""
        ctx.geometry, ctx.shape = geometry, weight.shape
        (o, c), kernel = weight.shape[:2], channels_last(weight)
        matrix = weight.new_zeros(*geometry.maps, o, *geometry.sides, c)
        for pixel, of_image, of_kernel in windows(geometry):
            matrix[pixel][of_image] = kernel[of_kernel]
        return matrix.flatten(3).flatten(0, 2)

    @staticmethod
    def backward(ctx: Any, gradient: Float[Tensor, "q p"]) -> tuple[Float[Tensor, "o c k l"], None]:
        """Gradient of the weights: the sum over all places of a weight in the matrix."""
        o, c, *kernel = ctx.shape
        of_matrix = gradient.reshape(*ctx.geometry.maps, o, *ctx.geometry.sides, c)
        total = gradient.new_zeros(o, *kernel, c)
        for pixel, of_image, of_kernel in windows(ctx.geometry):
            total[of_kernel].add_(of_matrix[pixel][of_image])
        return total.permute(0, 3, 1, 2), None


Slices = tuple[slice, slice, slice]


def windows(geometry: Geometry) -> Iterator[tuple[tuple[int, int], Slices, Slices]]:
    """Each pixel of the feature maps, and the parts of the image and of the kernel that it depends on."""
    rows_of, columns_of = (list(windows_along(geometry, axis)) for axis in (0, 1))
    for (i, (rows, of_rows)), (j, (columns, of_columns)) in product(
        enumerate(rows_of), enumerate(columns_of)
    ):
        yield (i, j), (slice(None), rows, columns), (slice(None), of_rows, of_columns)


def windows_along(geometry: Geometry, axis: int) -> Iterator[tuple[slice, slice]]:
    """The rows (axis 0) or columns (axis 1) of the image and of the kernel for each of the feature maps."""
    for i in range(geometry.maps[axis]):
        first = i * geometry.stride[axis] - geometry.padding[axis]
        start = max(0, first)
        end = max(start, min(geometry.sides[axis], first + geometry.kernel[axis]))
        yield slice(start, end), slice(start - first, end - first)
