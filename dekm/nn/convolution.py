"""Convolutions of images that are stored pixel by pixel, and those of grey images."""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import fold, linear, unfold


class ChannelsFirst(nn.Module):
    """(b, h, w, c) to (b, c, h, w): a view, which PyTorch calls the channels-last memory format."""

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b c h w"]:
        """The same values, seen channel by channel."""
        return x.permute(0, 3, 1, 2)


class ChannelsLast(nn.Module):
    """(b, c, h, w) to (b, h, w, c)."""

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b h w c"]:
        """The same values, seen pixel by pixel."""
        return x.permute(0, 2, 3, 1)


class GreyConv2d(nn.Conv2d):
    """A convolution of grey images; on a GPU as one matrix product over their patches.

    The gradient of its weights is a matrix product too, which on a GPU is faster than cuDNN's for one
    channel and repeats bit by bit. On the CPU oneDNN's convolution is faster.
    """

    def forward(self, x: Float[Tensor, "b 1 h w"]) -> Float[Tensor, "b c i j"]:
        """As `torch.nn.Conv2d`."""
        return self.by_patches(x) if x.is_cuda else super().forward(x)

    def by_patches(self, x: Float[Tensor, "b 1 h w"]) -> Float[Tensor, "b c i j"]:
        """The product of patches and weights."""
        rows, columns = (int(padding) for padding in self.padding)
        height = (x.shape[2] + 2 * rows - self.kernel_size[0]) // self.stride[0] + 1
        patches = unfold(x, self.kernel_size, padding=(rows, columns), stride=self.stride).transpose(1, 2)
        pixels = linear(patches, self.weight.flatten(1), self.bias)
        return pixels.unflatten(1, (height, -1)).permute(0, 3, 1, 2)


class GreyConvTranspose2d(nn.ConvTranspose2d):
    """The mirror of `GreyConv2d`: on a GPU one matrix product, whose patches add up to a grey image."""

    def __init__(self, sides: tuple[int, int], *args: Any) -> None:
        super().__init__(*args)
        self.sides = sides

    def forward(  # type: ignore[override]  # the sides are those of the images, not an argument
        self, x: Float[Tensor, "b c i j"]
    ) -> Float[Tensor, "b 1 h w"]:
        """As `torch.nn.ConvTranspose2d`, to images of given sides."""
        return self.by_patches(x) if x.is_cuda else super().forward(x)

    def by_patches(self, x: Float[Tensor, "b c i j"]) -> Float[Tensor, "b 1 h w"]:
        """The sum of the patches."""
        rows, columns = (int(padding) for padding in self.padding)
        patches = (x.permute(0, 2, 3, 1).flatten(1, 2) @ self.weight.flatten(1)).transpose(1, 2)
        image = fold(patches, self.sides, self.kernel_size, padding=(rows, columns), stride=self.stride)
        return image if self.bias is None else image + self.bias
