"""Layers that change the order of the axes of images, and convolutions of images with one channel."""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import fold, linear, unfold


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


class GreyConv2d(nn.Conv2d):
    """Convolution of images with one channel, on a GPU as a matrix product of the patches and the weights.

    The gradient of the weights is then a matrix product too, which for one channel is faster on a GPU than
    cuDNN's convolution and deterministic. On the CPU oneDNN's convolution is faster.
    """

    def forward(self, x: Float[Tensor, "b 1 h w"]) -> Float[Tensor, "b c i j"]:
        """As `torch.nn.Conv2d`."""
        return self.by_patches(x) if x.is_cuda else super().forward(x)

    def by_patches(self, x: Float[Tensor, "b 1 h w"]) -> Float[Tensor, "b c i j"]:
        """The convolution as a matrix product."""
        rows, columns = (int(padding) for padding in self.padding)
        height = (x.shape[2] + 2 * rows - self.kernel_size[0]) // self.stride[0] + 1
        patches = unfold(x, self.kernel_size, padding=(rows, columns), stride=self.stride).transpose(1, 2)
        pixels = linear(patches, self.weight.flatten(1), self.bias)
        return pixels.unflatten(1, (height, -1)).permute(0, 3, 1, 2)


class GreyConvTranspose2d(nn.ConvTranspose2d):
    """Transposed convolution to images with one channel, on a GPU as a matrix product (see `GreyConv2d`).

    Parameters
    ----------
    sides : tuple of int
        (h, w) of the images.
    *args
        Arguments of `torch.nn.ConvTranspose2d`.
    """

    def __init__(self, sides: tuple[int, int], *args: Any) -> None:
        super().__init__(*args)
        self.sides = sides

    def forward(  # type: ignore[override]  # the size of the output is fixed, not an argument
        self, x: Float[Tensor, "b c i j"]
    ) -> Float[Tensor, "b 1 h w"]:
        """As `torch.nn.ConvTranspose2d`."""
        return self.by_patches(x) if x.is_cuda else super().forward(x)

    def by_patches(self, x: Float[Tensor, "b c i j"]) -> Float[Tensor, "b 1 h w"]:
        """The transposed convolution as a matrix product, whose patches are summed into an image."""
        rows, columns = (int(padding) for padding in self.padding)
        patches = (x.permute(0, 2, 3, 1).flatten(1, 2) @ self.weight.flatten(1)).transpose(1, 2)
        image = fold(patches, self.sides, self.kernel_size, padding=(rows, columns), stride=self.stride)
        return image if self.bias is None else image + self.bias
