"""Convolutions, their transposes and the gradients of their weights as matrix products of patches.

A patch is the part of an image that a pixel of the feature maps depends on. The patches of a few images are
made at a time, so they stay in the cache.
"""

import math
from collections.abc import Iterator
from itertools import product

import torch
from jaxtyping import Float
from torch import Tensor

from dekm.nn.dense import add_product_of_transposed
from dekm.nn.geometry import Geometry, channels_last

BLOCK = 2**20  # bytes of patches at a time


def maps(
    x: Float[Tensor, "b c h w"], weight: Float[Tensor, "o c k l"], bias: Tensor | None, geometry: Geometry
) -> Float[Tensor, "b o i j"]:
    """The convolution of images."""
    rows = x.new_empty(len(x) * math.prod(geometry.maps), len(weight))
    kernel = channels_last(weight).flatten(1).T
    start = 0
    for block in patches(channels_last(x), geometry):
        torch.mm(block, kernel, out=rows[start : start + len(block)])
        start += len(block)
    if bias is not None:
        rows += bias
    return rows.view(len(x), *geometry.maps, -1).permute(0, 3, 1, 2)


def images(
    maps: Float[Tensor, "b o i j"], weight: Float[Tensor, "o c k l"], bias: Tensor | None, geometry: Geometry
) -> Float[Tensor, "b c h w"]:
    """The transposed convolution of feature maps: their patches, summed where they overlap."""
    (i, j), (s, t), (h, w), (top, left) = geometry.maps, geometry.stride, geometry.sides, geometry.padding
    c = weight.shape[1]
    kernel = channels_last(weight).flatten(1)
    found = maps.new_empty(len(maps), h, w, c)
    n = images_per_block(geometry, c)
    padded = maps.new_empty(n, *geometry.padded, c)
    for of_maps, of_images in zip(channels_last(maps).split(n), found.split(n), strict=True):
        block = (of_maps.flatten(0, 2) @ kernel).view(-1, i, j, *geometry.kernel, c)
        total = padded[: len(block)].zero_()
        for row, column in product(*map(range, geometry.kernel)):
            total[:, row:, column:][:, : s * i : s, : t * j : t] += block[:, :, :, row, column]
        of_images.copy_(total[:, top : top + h, left : left + w])
    if bias is not None:
        found += bias
    return found.permute(0, 3, 1, 2)


def weight_gradient(
    x: Float[Tensor, "b c h w"], gradient: Float[Tensor, "b o i j"], geometry: Geometry
) -> Float[Tensor, "o c k l"]:
    """Gradient of the weights of a convolution of `x`, from the gradient of its output."""
    rows = channels_last(gradient).flatten(0, 2)
    total = x.new_zeros(rows.shape[1], math.prod(geometry.kernel) * x.shape[1])
    start = 0
    for block in patches(channels_last(x), geometry):
        add_product_of_transposed(total, rows[start : start + len(block)], block)
        start += len(block)
    return total.unflatten(1, (*geometry.kernel, -1)).permute(0, 3, 1, 2)


def patches(x: Float[Tensor, "b h w c"], geometry: Geometry) -> Iterator[Float[Tensor, "m p"]]:
    """The patches of some images after the other, one row of k*l*c values for each pixel of the output.

    Each block is in the memory of the one before.
    """
    (rows, columns), (i, j), (height, width) = geometry.kernel, geometry.maps, geometry.padded
    b, h, w, c = x.shape
    n = min(b, images_per_block(geometry, c))
    padded = x.new_zeros(n, height, width, c)
    inner = padded[:, geometry.padding[0] :, geometry.padding[1] :][:, :h, :w]
    of_image, of_row = height * width * c, width * c
    strides = (of_image, geometry.stride[0] * of_row, geometry.stride[1] * c, of_row, 1)
    windows = padded.as_strided((n, i, j, rows, columns * c), strides)
    block = x.new_empty(windows.shape)
    for images in x.split(n):
        inner[: len(images)].copy_(images)
        yield block[: len(images)].copy_(windows[: len(images)]).view(-1, rows * columns * c)


def images_per_block(geometry: Geometry, n_channels: int) -> int:
    """Number of images whose patches are made at a time."""
    return max(1, BLOCK // (4 * math.prod(geometry.maps) * math.prod(geometry.kernel) * n_channels))
