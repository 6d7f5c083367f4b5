"""The gradients of the weights of convolutions as matrix products of patches.

A patch is the part of an image that a pixel of the feature maps depends on. The patches of a few images are
made at a time, so they stay in the cache.
"""

import math
from collections.abc import Iterator

from jaxtyping import Float
from torch import Tensor

from dekm.nn.dense import add_product_of_transposed
from dekm.nn.kernels import Geometry

BLOCK = 2**20  # bytes of patches at a time


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
    n_blocks = -(-b * i * j * rows * columns * c * x.element_size() // BLOCK)
    n = -(-b // n_blocks)
    padded = x.new_zeros(n, height, width, c)
    inner = padded[:, geometry.padding[0] :, geometry.padding[1] :][:, :h, :w]
    of_image, of_row = height * width * c, width * c
    strides = (of_image, geometry.stride[0] * of_row, geometry.stride[1] * c, of_row, 1)
    windows = padded.as_strided((n, i, j, rows, columns * c), strides)
    block = x.new_empty(windows.shape)
    for images in x.split(n):
        inner[: len(images)].copy_(images)
        yield block[: len(images)].copy_(windows[: len(images)]).view(-1, rows * columns * c)


def channels_last(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b h w c"]:
    """The images with the channels last, contiguous."""
    return x.permute(0, 2, 3, 1).contiguous()
