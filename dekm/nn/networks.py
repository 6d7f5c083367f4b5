"""The encoder f and the decoder g of the paper (Section IV-C), and their initial weights.

Samples have the shapes of Table II: images are (h, w, c), vectors are (d,).
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dekm.nn.convolution import ChannelsFirst, ChannelsLast, Convolution, TransposedConvolution
from dekm.nn.dense import Dense

KERNELS = (5, 5, 3)
STRIDE = 2


def convolution_sides(side: int) -> tuple[list[int], list[int]]:
    """Height (or width) of an image and after each convolution, and the paddings.

    The third convolution has no padding if `side` is not a multiple of 8: 28 becomes 14, 7 and 3.
    """
    sides, paddings = [side], []
    for layer, kernel in enumerate(KERNELS):
        unpadded = layer == 2 and side % 8 and sides[-1] >= kernel
        paddings.append(0 if unpadded else kernel // 2)
        sides.append((sides[-1] + 2 * paddings[-1] - kernel) // STRIDE + 1)
    return sides, paddings


class Network(nn.Module):
    """An encoder f and a decoder g; `capture` is whether steps on a GPU are captured as a CUDA graph."""

    encoder: nn.Module
    decoder: nn.Module
    capture = True

    def forward(self, x: Float[Tensor, "b ..."]) -> Float[Tensor, "b ..."]:
        """The reconstruction g(f(x))."""
        return self.decoder(self.encoder(x))


class ConvAutoencoder(Network):
    """Convolutional autoencoder for images (h, w, c).

    The encoder is three convolutions of stride 2 with ReLU and a linear embedding; the decoder mirrors it
    with transposed convolutions, whose output padding makes the reconstruction as large as the image for any
    h and w.

    Parameters
    ----------
    shape : sequence of 3 ints
        (h, w, c) of a sample.
    embedding_dim : int
        Dimension e of the embedding.
    channels : sequence of 3 ints
        Output channels of the convolutions.
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
            encoder += [Convolution(*down), nn.ReLU(inplace=True)]
            # The output of a transposed convolution may be a view, which cannot be changed in place.
            decoder = [nn.ReLU(), TransposedConvolution((rows[i], columns[i]), *up), *decoder]
        n_code = math.prod(code)
        self.encoder = nn.Sequential(*encoder, nn.Flatten(), Dense(n_code, embedding_dim))
        self.decoder = nn.Sequential(Dense(embedding_dim, n_code), nn.Unflatten(1, code), *decoder)


class MLPAutoencoder(Network):
    """Fully connected autoencoder for samples of any shape; the paper's is d-500-500-2000-e, mirrored.

    Parameters
    ----------
    shape : sequence of int
        Shape of a sample; d is the product.
    embedding_dim : int
        Dimension e of the embedding.
    hidden : sequence of int
        Widths of the hidden layers of the encoder.
    """

    def __init__(self, shape: Sequence[int], embedding_dim: int, hidden: Sequence[int]) -> None:
        super().__init__()
        widths = [math.prod(shape), *hidden, embedding_dim]
        self.encoder = nn.Sequential(nn.Flatten(), *dense_layers(widths))
        self.decoder = nn.Sequential(*dense_layers(widths[::-1]), nn.Unflatten(1, tuple(shape)))


class BesideInput(nn.Module):
    """The input of some layers and, beside it, their output: a linear layer after it sees both.

    Parameters
    ----------
    layers : sequence of torch.nn.Module
        The layers; their input and output have two axes.
    """

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Float[Tensor, "b p"]) -> Float[Tensor, "b q"]:
        """Both, one after the other."""
        return torch.cat([x, self.layers(x)], dim=1)


class ResidualAutoencoder(Network):
    """Fully connected autoencoder whose last layers, of the encoder and of the decoder, see the input too.

    Each half is thus a linear map of its input plus a network with hidden layers.

    Parameters
    ----------
    shape : sequence of int
        Shape of a sample; d is the product.
    embedding_dim : int
        Dimension e of the embedding.
    hidden : sequence of int
        Widths of the hidden layers of the encoder; the decoder mirrors them.
    """

    def __init__(self, shape: Sequence[int], embedding_dim: int, hidden: Sequence[int]) -> None:
        super().__init__()
        d = math.prod(shape)
        self.encoder = nn.Sequential(nn.Flatten(), *residual_layers([d, *hidden], embedding_dim))
        decoder = residual_layers([embedding_dim, *reversed(hidden)], d)
        self.decoder = nn.Sequential(*decoder, nn.Unflatten(1, tuple(shape)))


def residual_layers(widths: Sequence[int], n_out: int) -> list[nn.Module]:
    """Hidden layers and a linear layer that sees the input too; the first of the widths is the input."""
    hidden = dense_layers([*widths, n_out])[:-1]
    if not hidden:
        return [Dense(widths[0], n_out)]
    return [BesideInput(hidden), Dense(widths[0] + widths[-1], n_out)]


def empty_network(
    shape: Sequence[int],
    architecture: str,
    embedding_dim: int,
    channels: Sequence[int],
    hidden: Sequence[int],
) -> Network:
    """A network on the CPU with uninitialized weights.

    PyTorch's own initialization would draw from the global generator, so the layers are created without
    memory first.
    """
    with torch.device("meta"):
        if architecture == "conv":
            network: Network = ConvAutoencoder(shape, embedding_dim, channels)
        else:
            dense = ResidualAutoencoder if architecture == "residual" else MLPAutoencoder
            network = dense(shape, embedding_dim, hidden)
    # Module.to_empty would do, but it imports SymPy, which takes half a second of every process.
    weights = {
        name: torch.empty(value.shape, dtype=torch.float32, device="cpu")
        for name, value in network.state_dict().items()
    }
    network.load_state_dict(weights, assign=True)
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def dense_layers(widths: Sequence[int]) -> list[nn.Module]:
    """Linear layers of these widths with ReLU between them, and none after the last."""
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise(widths):
        layers += [Dense(n_in, n_out), nn.ReLU(inplace=True)]
    return layers[:-1]


def xavier_initialize(module: nn.Module, generator: torch.Generator) -> None:
    """Set Xavier uniform weights and zero biases in place (Section IV-C).

    Layers that have no matrix, such as batch normalization, keep their own parameters.
    """
    for layer in module.modules():
        parameters = list(layer.parameters(recurse=False))
        for parameter in parameters if any(value.ndim > 1 for value in parameters) else ():
            if parameter.ndim > 1:
                nn.init.xavier_uniform_(parameter, generator=generator)
            else:
                nn.init.zeros_(parameter)


def released_initialize(network: Network, generator: torch.Generator) -> None:
    """Set the initial weights of the authors' released code in place.

    Weights are uniform in [-0.05, 0.05] in the three convolutions of a convolutional encoder and in all
    layers of a fully connected network, and Xavier uniform in the other layers. Biases are zero.
    """
    xavier_initialize(network, generator)
    uniform = network if isinstance(network, MLPAutoencoder) else network.encoder
    for layer in uniform.modules():
        if isinstance(layer, nn.Conv2d) or (isinstance(layer, nn.Linear) and uniform is network):
            nn.init.uniform_(layer.weight, -0.05, 0.05, generator=generator)


@torch.no_grad()
def linear_initialize(
    network: ResidualAutoencoder,
    components: Float[Tensor, "e d"],
    mean: Float[Tensor, " d"],
    generator: torch.Generator,
) -> None:
    """Set weights in place with which the encoder is (x - mean) @ components.T and the decoder its transpose.

    The hidden layers are Xavier uniform, and the last layers do not use them until they are trained.
    """
    xavier_initialize(network, generator)
    e, d = components.shape
    down, up = network.encoder[-1], network.decoder[-2]  # type: ignore[index]
    for last in (down, up):
        nn.init.zeros_(last.weight)
    down.weight[:, :d] = components
    down.bias.copy_(-components @ mean)
    up.weight[:, :e] = components.T
    up.bias.copy_(mean)


INITIALIZE = {"xavier": xavier_initialize, "released": released_initialize}
