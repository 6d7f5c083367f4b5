"""The encoder f and decoder g of the paper (Section IV-C).

Samples keep the shape of Table II: images are (h, w, c), vectors are (d,).
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dekm.nn.convolution import ChannelsFirst, ChannelsLast, GreyConv2d, GreyConvTranspose2d
from dekm.nn.dense import Dense

KERNELS = (5, 5, 3)
STRIDE = 2


def convolution_sides(side: int) -> tuple[list[int], list[int]]:
    """Sides before and after each convolution, and the padding of each.

    The third convolution is unpadded where `side` is not a multiple of 8: 28, 14, 7, 3.
    """
    sides, paddings = [side], []
    for layer, kernel in enumerate(KERNELS):
        unpadded = layer == 2 and side % 8 and sides[-1] >= kernel
        paddings.append(0 if unpadded else kernel // 2)
        sides.append((sides[-1] + 2 * paddings[-1] - kernel) // STRIDE + 1)
    return sides, paddings


class ConvAutoencoder(nn.Module):
    """Three strided convolutions and a dense embedding, and their mirror: for images (h, w, c).

    Output padding restores the sides, so ``decoder(encoder(x))`` has the shape of ``x`` for any h and w.
    """

    def __init__(self, shape: Sequence[int], embedding_dim: int, channels: Sequence[int]) -> None:
        super().__init__()
        height, width, depth = shape
        (rows, row_padding), (columns, column_padding) = convolution_sides(height), convolution_sides(width)
        depths = [depth, *channels]
        code = (depths[-1], rows[-1], columns[-1])
        encoder: list[nn.Module] = [ChannelsFirst()]
        decoder: list[nn.Module] = [ChannelsLast()]
        for i, kernel in enumerate(KERNELS):
            padding = (row_padding[i], column_padding[i])
            output_padding = (
                rows[i] - ((rows[i + 1] - 1) * STRIDE - 2 * row_padding[i] + kernel),
                columns[i] - ((columns[i + 1] - 1) * STRIDE - 2 * column_padding[i] + kernel),
            )
            down = (depths[i], depths[i + 1], kernel, STRIDE, padding)
            up = (depths[i + 1], depths[i], kernel, STRIDE, padding, output_padding)
            encoder += [GreyConv2d(*down) if depths[i] == 1 else nn.Conv2d(*down), nn.ReLU()]
            restore = (
                GreyConvTranspose2d((rows[i], columns[i]), *up) if depths[i] == 1 else nn.ConvTranspose2d(*up)
            )
            decoder = [nn.ReLU(), restore, *decoder]
        n_code = math.prod(code)
        self.encoder = nn.Sequential(*encoder, nn.Flatten(), Dense(n_code, embedding_dim))
        self.decoder = nn.Sequential(Dense(embedding_dim, n_code), nn.Unflatten(1, code), *decoder)

    def forward(self, x: Float[Tensor, "b h w c"]) -> Float[Tensor, "b h w c"]:
        """The reconstruction g(f(x))."""
        return self.decoder(self.encoder(x))


class MLPAutoencoder(nn.Module):
    """Fully connected d-500-500-2000-e and its mirror, for samples of any shape with d values."""

    def __init__(self, shape: Sequence[int], embedding_dim: int, hidden: Sequence[int]) -> None:
        super().__init__()
        widths = [math.prod(shape), *hidden, embedding_dim]
        self.encoder = nn.Sequential(nn.Flatten(), *dense_layers(widths))
        self.decoder = nn.Sequential(*dense_layers(widths[::-1]), nn.Unflatten(1, tuple(shape)))

    def forward(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The reconstruction g(f(x))."""
        return self.decoder(self.encoder(x))


Network = ConvAutoencoder | MLPAutoencoder


def dense_layers(widths: Sequence[int]) -> list[nn.Module]:
    """Linear layers with ReLU between them; the last is linear."""
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise(widths):
        layers += [Dense(n_in, n_out), nn.ReLU()]
    return layers[:-1]


def xavier_initialize(module: nn.Module, generator: torch.Generator) -> None:
    """Xavier uniform weights and zero biases, in place."""
    for parameter in module.parameters():
        if parameter.ndim > 1:
            nn.init.xavier_uniform_(parameter, generator=generator)
        else:
            nn.init.zeros_(parameter)


def released_initialize(network: Network, generator: torch.Generator) -> None:
    """The authors' released initialization, in place: uniform weights in [-0.05, 0.05] and zero biases.

    Those of the convolutional network are its three encoder convolutions (its other layers are Xavier's),
    those of the fully connected one all its layers.
    """
    xavier_initialize(network, generator)
    uniform = network if isinstance(network, MLPAutoencoder) else network.encoder
    for layer in uniform.modules():
        if isinstance(layer, nn.Conv2d) or (isinstance(layer, nn.Linear) and uniform is network):
            nn.init.uniform_(layer.weight, -0.05, 0.05, generator=generator)


INITIALIZE = {"xavier": xavier_initialize, "released": released_initialize}
