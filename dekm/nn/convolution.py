"""Convolutions and their transposes, by the kernels that are fastest on a processor, and the order of axes.

A convolution of stride s maps images to smaller feature maps. It and its transpose need three products: the
maps of images, the images of maps, and the gradient of the weights. Each is computed by the kernel that
`dekm.nn.kernels` gives for its shape.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import fold, linear, unfold

from dekm.nn import kernels, shuffle, unrolled
from dekm.nn.kernels import Geometry, Pair

Gradients = tuple[Tensor | None, Tensor | None, Tensor | None, None]


class ChannelsFirst(nn.Module):
    """Permute (b, h, w, c) to (b, c, h, w); the result is in PyTorch's channels-last memory format."""

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b c h w"]:
        """A view of the images with the channels first."""
        return x.permute(0, 3, 1, 2)


class ChannelsLast(nn.Module):
    """Permute (b, c, h, w) to (b, h, w, c)."""

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b h w c"]:
        """A view of the images with the channels last."""
        return x.permute(0, 2, 3, 1)


class Convolution(nn.Conv2d):
    """`torch.nn.Conv2d` of stride s by the fastest kernels; on the CPU it has first derivatives only.

    Images with one channel are convolved on a GPU as a matrix product of the patches and the weights. The
    gradient of the weights is then a matrix product too, which is faster than cuDNN's convolution and
    deterministic.
    """

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b o i j"]:
        """As `torch.nn.Conv2d`."""
        if not is_simple(self, x):
            return super().forward(x)
        if x.is_cuda and self.in_channels == 1:
            return self.by_patches(x)
        if not kernels.are_for(x, self.weight):
            return super().forward(x)
        geometry = geometry_of(self, x.shape[2:], maps_of(self, x.shape[2:]))
        product = unrolled.maps if kernels.unrolls(geometry) else Maps.apply
        return product(x, self.weight, self.bias, geometry)

    def by_patches(self, x: Float[Tensor, "b 1 h w"]) -> Float[Tensor, "b o i j"]:
        """The convolution of images with one channel as a matrix product."""
        rows, columns = (int(padding) for padding in self.padding)
        windows = unfold(x, self.kernel_size, padding=(rows, columns), stride=self.stride).transpose(1, 2)
        pixels = linear(windows, self.weight.flatten(1), self.bias)
        return pixels.unflatten(1, maps_of(self, x.shape[2:])).permute(0, 3, 1, 2)


class TransposedConvolution(nn.ConvTranspose2d):
    """`torch.nn.ConvTranspose2d` of stride s to images of `sides` (h, w), as `Convolution`."""

    def __init__(self, sides: Pair, *args: Any) -> None:
        super().__init__(*args)
        self.sides = sides

    def forward(  # type: ignore[override]  # the size of the output is fixed, not an argument
        self, x: Float[Tensor, "b o i j"]
    ) -> Float[Tensor, "b c h w"]:
        """As `torch.nn.ConvTranspose2d`."""
        if not is_simple(self, x):
            return super().forward(x)
        if x.is_cuda and self.out_channels == 1:
            return self.by_patches(x)
        if not kernels.are_for(x, self.weight):
            return super().forward(x)
        geometry = geometry_of(self, self.sides, x.shape[2:])
        product = unrolled.images if kernels.unrolls(geometry) else Images.apply
        return product(x, self.weight, self.bias, geometry)

    def by_patches(self, x: Float[Tensor, "b o i j"]) -> Float[Tensor, "b 1 h w"]:
        """The transposed convolution as a matrix product, whose patches are summed into an image."""
        rows, columns = (int(padding) for padding in self.padding)
        windows = (x.permute(0, 2, 3, 1).flatten(1, 2) @ self.weight.flatten(1)).transpose(1, 2)
        image = fold(windows, self.sides, self.kernel_size, padding=(rows, columns), stride=self.stride)
        return image if self.bias is None else image + self.bias


class Maps(torch.autograd.Function):
    """The feature maps of images, and the gradients of a convolution."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, geometry: Geometry) -> Tensor:
        """As `torch.nn.functional.conv2d`."""
        ctx.save_for_backward(x, weight)
        ctx.geometry = geometry
        return maps(x, weight, bias, geometry)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        """Gradients of x, weight and bias; None where no gradient is needed."""
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias, _ = ctx.needs_input_grad
        return (
            images(gradient, weight, None, ctx.geometry) if of_x else None,
            weight_gradient(x, gradient, weight, ctx.geometry) if of_weight else None,
            gradient.sum((0, 2, 3)) if of_bias else None,
            None,
        )


class Images(torch.autograd.Function):
    """The images of feature maps, and the gradients of a transposed convolution."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, geometry: Geometry) -> Tensor:
        """As `torch.nn.functional.conv_transpose2d`."""
        ctx.save_for_backward(x, weight)
        ctx.geometry = geometry
        return images(x, weight, bias, geometry)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Gradients:
        """Gradients of x, weight and bias; None where no gradient is needed."""
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias, _ = ctx.needs_input_grad
        return (
            maps(gradient, weight, None, ctx.geometry) if of_x else None,
            weight_gradient(gradient, x, weight, ctx.geometry) if of_weight else None,
            gradient.sum((0, 2, 3)) if of_bias else None,
            None,
        )


def maps(
    x: Float[Tensor, "b c h w"], weight: Float[Tensor, "o c k l"], bias: Tensor | None, geometry: Geometry
) -> Float[Tensor, "b o i j"]:
    """The convolution of images."""
    return torch.conv2d(x, weight, bias, geometry.stride, geometry.padding)


def images(
    x: Float[Tensor, "b o i j"], weight: Float[Tensor, "o c k l"], bias: Tensor | None, geometry: Geometry
) -> Float[Tensor, "b c h w"]:
    """The transposed convolution of feature maps."""
    if kernels.of_images(weight.shape[1], geometry) == "shuffle":
        return shuffle.images(x, weight, bias, geometry)
    sizes = geometry.stride, geometry.padding, geometry.output_padding
    found = torch.conv_transpose2d(x, weight, None, *sizes)
    # With a bias, oneDNN takes up to twice as long for maps of odd size; the values are the same.
    return found if bias is None else found.add_(bias[:, None, None])


def weight_gradient(
    x: Float[Tensor, "b c h w"], gradient: Float[Tensor, "b o i j"], weight: Tensor, geometry: Geometry
) -> Float[Tensor, "o c k l"]:
    """The gradient of the weights, from images and the gradient of maps or the reverse."""
    sizes = geometry.stride, geometry.padding, (1, 1), False, (0, 0), 1
    only_weight = (False, True, False)
    return torch.ops.aten.convolution_backward(gradient, x, weight, None, *sizes, only_weight)[1]


def is_simple(layer: nn.Conv2d | nn.ConvTranspose2d, x: Tensor) -> bool:
    """Whether the layer has zero padding by numbers and neither groups nor dilation, and x is a batch."""
    options = (layer.groups, layer.dilation, layer.padding_mode)
    return options == (1, (1, 1), "zeros") and isinstance(layer.padding, tuple) and x.ndim == 4


def maps_of(layer: nn.Conv2d, sides: Sequence[int]) -> Pair:
    """(i, j) of the maps of images of size (h, w)."""
    kernel, stride, padding = pair(layer.kernel_size), pair(layer.stride), pair(layer.padding)
    i, j = ((sides[axis] + 2 * padding[axis] - kernel[axis]) // stride[axis] + 1 for axis in (0, 1))
    return i, j


def geometry_of(layer: nn.Conv2d | nn.ConvTranspose2d, sides: Sequence[int], maps: Sequence[int]) -> Geometry:
    """The sizes of a layer for images of size (h, w) and maps of size (i, j)."""
    return Geometry(*map(pair, (sides, maps, layer.kernel_size, layer.stride, layer.padding)))


def pair(sizes: Sequence[int | str]) -> Pair:
    """Rows and columns."""
    rows, columns = map(int, sizes)
    return rows, columns
