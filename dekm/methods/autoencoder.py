"""Pretraining by Equation (1), and the autoencoder as a scikit-learn transformer."""

from collections.abc import Sequence
from itertools import islice
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

from dekm.errors import InputError
from dekm.methods.persistence import Facts, Tensors, read_model, write_model
from dekm.methods.validation import check_choice, check_integer, check_parameters, check_samples
from dekm.nn.device import resolve_device
from dekm.nn.layerwise import pretrain_layers
from dekm.nn.networks import INITIALIZE, KERNELS, ConvAutoencoder, MLPAutoencoder, Network
from dekm.nn.training import Step, batches, encode, squared_error, steps_per_epoch, train


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
        (DEC's, see `dekm.nn.layerwise`; fully connected networks only)
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
        write_model(path, "Autoencoder", *self._state())

    @classmethod
    def load(cls, path: str | Path, *, device: str = "auto") -> Self:
        """Read a file that `save` wrote."""
        return cls._from_state(*read_model(path, "Autoencoder"), device)

    def _state(self) -> tuple[Tensors, Facts]:
        settings = self.get_params() | {"random_state": None}
        facts = {"settings": settings, "shape": self.sample_shape_, "loss_curve": self.loss_curve_}
        if hasattr(self, "feature_names_in_"):
            facts["feature_names"] = list(self.feature_names_in_)
        return self.module_.state_dict(), facts

    @classmethod
    def _from_state(cls, weights: Tensors, facts: Facts, device: str) -> Self:
        loaded = cls(**facts["settings"] | {"device": device})
        loaded.sample_shape_ = tuple(facts["shape"])
        loaded.n_features_in_ = loaded.sample_shape_[0]
        loaded.loss_curve_ = facts["loss_curve"]
        if "feature_names" in facts:
            loaded.feature_names_in_ = np.array(facts["feature_names"], dtype=object)
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
        for name, widths in (("channels", self.channels), ("hidden", self.hidden)):
            if not isinstance(widths, Sequence | np.ndarray):
                raise InputError(f"{name}={widths!r} should be a list of integers >= 1.")
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
