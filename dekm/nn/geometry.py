"""Sizes of a strided convolution from images to feature maps, and of its transpose."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

Pair = tuple[int, int]


class Geometry(NamedTuple):
    """Rows and columns of everything that a convolution has.

    Parameters
    ----------
    sides : tuple of int
        (h, w) of the images.
    maps : tuple of int
        (i, j) of the feature maps.
    kernel, stride, padding : tuple of int
        As in `torch.nn.Conv2d`.
    """

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


def channels_last(x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b h w c"]:
    """The images with the channels last, contiguous."""
    return x.permute(0, 2, 3, 1).contiguous()
