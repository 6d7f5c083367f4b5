"""The encoder f and decoder g of the paper (Section IV-C), and their pretraining by Equation (1).

Samples keep the shape of Table II: images are (h, w, c), vectors are (d,).
"""

import math
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn
from tqdm import trange

from dekm import persistence
from dekm.errors import InputError
from dekm.layerwise import pretrain_layers
from dekm.parameters import check_choice, check_integer, check_parameters
from dekm.samples import check_samples
from dekm.training import Step, batches, encode, resolve_device, squared_error, steps_per_epoch, train

KERNELS = (5, 5, 3)
STRIDE = 2


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
            encoder += [nn.Conv2d(depths[i], depths[i + 1], kernel, STRIDE, padding), nn.ReLU()]
            mirrored = nn.ConvTranspose2d(depths[i + 1], depths[i], kernel, STRIDE, padding, output_padding)
            decoder = [nn.ReLU(), mirrored, *decoder]
        n_code = math.prod(code)
        self.encoder = nn.Sequential(*encoder, nn.Flatten(), nn.Linear(n_code, embedding_dim))
        self.decoder = nn.Sequential(nn.Linear(embedding_dim, n_code), nn.Unflatten(1, code), *decoder)

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
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
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


def pretrain(
    autoencoder: nn.Module,
    X: Float[Tensor, "n ..."],
    *,
    n_epochs: int,
    batch_size: int,
    lr: float,
    generator: torch.Generator,
    progress: bool = False,
) -> list[float]:
    """Minimize Equation (1) in place: line 1 of Algorithm 1. Returns the mean loss of every epoch."""

    def loss(index: Tensor) -> Tensor:
        x = X[index]
        return squared_error(autoencoder(x), x)

    step = Step(loss, autoencoder.parameters(), lr=lr)
    stream = batches(len(X), batch_size, generator=generator, reshuffle=True, device=X.device)
    n_steps = steps_per_epoch(len(X), batch_size)
    epochs = trange(n_epochs, desc="Pretraining", disable=not progress)
    return [train(step, islice(stream, n_steps)) for _ in epochs]


class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The paper's autoencoder as a scikit-learn transformer from samples to embeddings.

    Parameters
    ----------
    architecture : "auto" (convolutional for images, else fully connected), "conv" or "mlp"
    embedding_dim : e; the paper takes the number of clusters for images and 10 for text
    channels : channels of the three convolutions
    hidden : widths of the hidden dense layers
    init : "xavier" (the paper's) or "released" (the authors' code, see `released_initialize`)
    pretraining : "end_to_end", or "layerwise" for `n_epochs` of denoising for every layer before
        (DEC's, see `dekm.layerwise`; fully connected networks only)
    n_epochs, batch_size, lr : of the pretraining by Adam, Equation (1)
    progress : show a bar over the epochs
    device : "auto", "cpu", "cuda" or "cuda:N"
    random_state : int, RandomState or None

    Attributes
    ----------
    module_ : the trained network, with submodules ``encoder`` and ``decoder``
    loss_curve_ : mean squared reconstruction error per sample, of every epoch
    sample_shape_ : shape of one sample
    """

    def __init__(
        self,
        *,
        architecture: str = "auto",
        embedding_dim: int = 10,
        channels: Sequence[int] = (32, 64, 128),
        hidden: Sequence[int] = (500, 500, 2000),
        init: str = "xavier",
        pretraining: str = "end_to_end",
        n_epochs: int = 200,
        batch_size: int = 256,
        lr: float = 1e-3,
        progress: bool = False,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.architecture = architecture
        self.embedding_dim = embedding_dim
        self.channels = channels
        self.hidden = hidden
        self.init = init
        self.pretraining = pretraining
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.progress = progress
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Pretrain on samples of shape (n, d) or images of shape (n, h, w, c); `y` is ignored."""
        self._check()
        samples = check_samples(self, X, reset=True).to(resolve_device(self.device))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        generator = torch.Generator().manual_seed(seed)
        self.module_ = self._build(tuple(samples.shape[1:]))
        INITIALIZE[self.init](self.module_, generator)
        self.module_.to(samples.device)
        schedule: dict[str, Any] = {"n_epochs": self.n_epochs, "batch_size": self.batch_size, "lr": self.lr}
        if self.pretraining == "layerwise":
            pretrain_layers(
                self.module_.encoder, self.module_.decoder, samples, **schedule, generator=generator
            )
        self.loss_curve_ = pretrain(
            self.module_, samples, **schedule, generator=generator, progress=self.progress
        )
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Embeddings H = f(X), float32 of shape (n, e)."""
        check_is_fitted(self)
        samples = check_samples(self, X, reset=False)
        device = next(self.module_.parameters()).device
        return encode(self.module_.encoder, samples.to(device)).cpu().numpy()

    def save(self, path: str | Path) -> None:
        """Write weights, settings and loss curve to one safetensors file, which holds no code."""
        check_is_fitted(self)
        persistence.write(path, "Autoencoder", *self._state())

    @classmethod
    def load(cls, path: str | Path, *, device: str = "auto") -> Self:
        """Read a file that `save` wrote."""
        return cls._from_state(*persistence.read(path, "Autoencoder"), device)

    def _state(self) -> tuple[persistence.Tensors, persistence.Facts]:
        settings = self.get_params() | {"random_state": None}
        facts = {"settings": settings, "shape": self.sample_shape_, "loss_curve": self.loss_curve_}
        return self.module_.state_dict(), facts

    @classmethod
    def _from_state(cls, weights: persistence.Tensors, facts: persistence.Facts, device: str) -> Self:
        loaded = cls(**facts["settings"] | {"device": device})
        loaded.sample_shape_ = tuple(facts["shape"])
        loaded.n_features_in_ = loaded.sample_shape_[0]
        loaded.loss_curve_ = facts["loss_curve"]
        loaded.module_ = loaded._build(loaded.sample_shape_)
        loaded.module_.load_state_dict(weights)
        loaded.module_.to(resolve_device(device))
        return loaded

    @property
    def _n_features_out(self) -> int:
        return self.embedding_dim

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _check(self) -> None:
        check_parameters(self)
        check_choice("architecture", self.architecture, ("auto", "conv", "mlp"))
        check_choice("init", self.init, tuple(INITIALIZE))
        check_choice("pretraining", self.pretraining, ("end_to_end", "layerwise"))
        if len(self.channels) != len(KERNELS):
            raise InputError(f"channels={self.channels!r} should be {len(KERNELS)} integers >= 1.")
        for name, widths in (("channels", self.channels), ("hidden", self.hidden)):
            for i, width in enumerate(widths):
                check_integer(f"{name}[{i}]", width, minimum=1)

    def _build(self, shape: tuple[int, ...]) -> Network:
        """The network with weights not yet set: the default ones would be drawn from the global generator."""
        architecture = self.architecture
        if architecture == "auto":
            architecture = "conv" if len(shape) == 3 else "mlp"
        if architecture == "conv" and len(shape) != 3:
            raise InputError(
                f"architecture='conv' needs images of shape (h, w, c); a sample here is {shape}."
            )
        if architecture == "conv" and self.pretraining == "layerwise":
            raise InputError(
                "pretraining='layerwise' is for fully connected networks: set architecture='mlp', or "
                "pretraining='end_to_end'."
            )
        with torch.device("meta"):
            if architecture == "conv":
                module: Network = ConvAutoencoder(shape, self.embedding_dim, self.channels)
            else:
                module = MLPAutoencoder(shape, self.embedding_dim, self.hidden)
        module.to_empty(device="cpu")
        return module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
