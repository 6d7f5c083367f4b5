"""The autoencoder of Section III-A as a scikit-learn transformer."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.errors import InputError, shown
from dekm.methods.coordinates import COORDINATES, check_coordinates, fit_pca
from dekm.methods.persistence import Facts, Saved, Tensors, opened_model
from dekm.methods.samples import check_samples
from dekm.methods.scaling import SCALINGS, check_range, decode
from dekm.methods.validation import (
    WIDEST,
    Choice,
    Constraints,
    Integer,
    Integers,
    Number,
    check_parameters,
)
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint
from dekm.nn.device import default_modes, resolve_device
from dekm.nn.networks import (
    INITIALIZE,
    KERNELS,
    Network,
    ResidualAutoencoder,
    empty_network,
    linear_initialize,
    xavier_initialize,
)
from dekm.nn.own_network import BuildNetwork, build_network, seeded
from dekm.nn.pretraining import pretrain
from dekm.nn.stages import OnEpoch
from dekm.nn.training import encode
from dekm.scaling import InputScaling


class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Saved):
    r"""Autoencoder of the paper (Section III-A), a transformer from samples to embeddings.

    It minimizes the reconstruction loss of Equation (1) by Adam:

    .. math:: L_1 = \sum_{i=1}^n \|x_i - g(f(x_i))\|^2

    where :math:`x_i` is a sample, f is the encoder (``module_.encoder``) and g the decoder
    (``module_.decoder``). The loss of a batch is the sum over the values of a sample and the mean over the
    batch.

    Parameters
    ----------
    architecture : {"auto", "conv", "mlp"}, default="auto"
        Convolutional or fully connected; "auto" is convolutional for images and fully connected otherwise.
    network : callable, str or None, default=None
        A network other than these two: a function of the shape of a sample and `embedding_dim` that returns a
        ``torch.nn.Module`` with the submodules ``encoder`` and ``decoder``, or its import path
        "module:attribute". The parameters of the two networks, `channels` and `hidden`, then have no
        effect.
    embedding_dim : int, default=10
        Dimension e of the embedding. The paper takes the number of clusters for images and 10 for texts.
    channels : sequence of 3 ints, default=(32, 64, 128)
        Output channels of the convolutions.
    hidden : sequence of int, default=(500, 500, 2000)
        Widths of the hidden layers of the fully connected encoder; the decoder mirrors them.
    init : {"auto", "xavier", "released", "module", "pca", "umap", "spectral"}, default="auto"
        Initial weights, or coordinates of the samples at which the embedding starts. Weights: "xavier", those
        of the paper; "released", those of the authors' released code
        (`dekm.nn.networks.released_initialize`); or "module", those that `network` comes with, drawn under
        the seed or given. "auto" is "module" with a `network` and "xavier" without. Coordinates: "pca", the
        principal components, which a fully connected network has exactly and without any epochs, by a linear
        shortcut around its hidden layers, whose last layer is zero (``n_epochs=0`` keeps them, more minimize
        Equation (1)); "umap", by the package umap-learn, or "spectral", the eigenvectors of
        `SpectralClustering` with a mean square of 1, to which the encoder is fitted in `n_epochs`, see `fit`.
    scaling : {"none", "symmetric", "mean_square"}, default="none"
        What is done to the samples before the network sees them: "symmetric" maps [0, 1] to [-1, 1], the
        range of USPS in DKM's code, and "mean_square" divides every sample by the root of the mean square of
        its values, as DEC and IDEC do with texts.
    layerwise : bool, default=False
        Whether to pretrain every layer as a denoising autoencoder for `n_epochs` first, as DEC does [2]_.
        Only for fully connected networks.
    noise : float, default=0.2
        Fraction of the values that the layer-wise pretraining drops; 0 as DCN does, which has no noise.
    n_epochs : int, default=200
        Passes over the samples.
    batch_size : int, default=256
        Samples per step.
    lr : float, default=1e-3
        Learning rate of Adam.
    capture : {"auto", True, False}, default="auto"
        Whether the training steps on a GPU, also those of the method that starts from this autoencoder, are
        captured as a CUDA graph (`dekm.nn.capture`); "auto" captures the paper's networks and no `network`.
    progress : bool, default=False
        Whether to show a progress bar over the epochs.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Determines the initial weights, the order of the samples and the denoising.

    Attributes
    ----------
    module_ : torch.nn.Module
        The trained network with the submodules ``encoder`` and ``decoder``.
    loss_curve_ : list of float
        Mean loss of the batches of every epoch.
    sample_shape_ : tuple of int
        Shape of a sample.
    input_scaling_ : InputScaling
        How samples are scaled; `transform` applies it to new ones.

    References
    ----------
    .. [1] Guo, Lin and Ye (2021). Deep Embedded K-Means Clustering. arXiv:2109.15149.
    .. [2] Xie, Girshick and Farhadi (2016). Unsupervised Deep Embedding for Clustering Analysis. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from dekm import Autoencoder
    >>> X = np.random.default_rng(0).random((50, 6))
    >>> autoencoder = Autoencoder(embedding_dim=2, hidden=(8,), n_epochs=3, random_state=0)
    >>> autoencoder.fit_transform(X).shape
    (50, 2)
    """

    sample_shape_: tuple[int, ...]
    n_features_in_: int
    feature_names_in_: np.ndarray

    parameter_constraints: ClassVar[Constraints] = {
        "architecture": Choice(("auto", "conv", "mlp")),
        "embedding_dim": Integer(1, maximum=WIDEST),
        "channels": Integers(1, length=len(KERNELS), maximum=WIDEST),
        "hidden": Integers(1, maximum=WIDEST),
        "init": Choice(("auto", *INITIALIZE, "module", "pca", *COORDINATES)),
        "scaling": Choice(tuple(SCALINGS)),
        "layerwise": Choice((True, False)),
        "noise": Number(0, 1, inclusive=True),
        "n_epochs": Integer(0),
        "batch_size": Integer(1),
        "lr": Number(0, inclusive=True),
        "capture": Choice(("auto", True, False)),
    }

    def __init__(
        self,
        *,
        architecture: str = "auto",
        network: BuildNetwork | str | None = None,
        embedding_dim: int = 10,
        channels: Sequence[int] = (32, 64, 128),
        hidden: Sequence[int] = (500, 500, 2000),
        init: str = "auto",
        scaling: str = "none",
        layerwise: bool = False,
        noise: float = 0.2,
        n_epochs: int = 200,
        batch_size: int = 256,
        lr: float = 1e-3,
        capture: bool | str = "auto",
        progress: bool = False,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.architecture = architecture
        self.network = network
        self.embedding_dim = embedding_dim
        self.channels = channels
        self.hidden = hidden
        self.init = init
        self.scaling = scaling
        self.layerwise = layerwise
        self.noise = noise
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.capture = capture
        self.progress = progress
        self.device = device
        self.random_state = random_state

    @default_modes()
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        coordinates: Any = None,
        checkpoint: Checkpoint = NO_CHECKPOINT,
        on_epoch: OnEpoch | None = None,
    ) -> Self:
        """Pretrain on vectors (n, d) or images (n, h, w, c); `y` is ignored.

        With `coordinates` (n, e), those of the samples in another embedding, the encoder minimizes the
        squared error of f(x) and the coordinates, and Equation (1) trains the decoder alone.

        After every epoch, `on_epoch` is called with an `Epoch` and the state is kept in `checkpoint`, from
        which an interrupted fit continues; by default nothing is kept.
        """
        check_parameters(self)
        samples = check_samples(self, X, reset=True).to(resolve_device(self.device))
        check_range(samples, self.scaling)
        samples = SCALINGS[self.scaling](samples)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        generator = torch.Generator().manual_seed(seed)
        with seeded(seed, torch.device("cpu")):  # from which the layers of a given network draw their weights
            self.module_ = self._network()
        if isinstance(self.module_, ResidualAutoencoder):
            self._start_at_components(self.module_, samples, generator, seed)
        elif self.init in INITIALIZE or self.network is None:
            INITIALIZE.get(self.init, xavier_initialize)(self.module_, generator)
        self.module_.to(samples.device)
        names = ("n_epochs", "batch_size", "lr", "layerwise", "noise", "progress")
        settings: dict[str, Any] = {name: getattr(self, name) for name in names}
        Z = self._coordinates(samples, coordinates, seed)
        training: dict[str, Any] = {"generator": generator, "checkpoint": checkpoint, "on_epoch": on_epoch}
        with self.random_layers(seed, samples.device):
            self.loss_curve_ = pretrain(self.module_, samples, coordinates=Z, **settings, **training)
        return self

    def _start_at_components(
        self,
        network: ResidualAutoencoder,
        samples: Float[Tensor, "n ..."],
        generator: torch.Generator,
        seed: int,
    ) -> None:
        """Set the weights with which a network computes the principal components of the samples."""
        rows = samples.flatten(1).cpu()
        if self.embedding_dim > min(rows.shape):
            raise InputError(
                f"embedding_dim={self.embedding_dim} should be <= {min(rows.shape)} with init='pca': X has "
                f"{rows.shape[0]} samples of {rows.shape[1]} values, which have no more principal components."
            )
        pca = fit_pca(rows.numpy(), self.embedding_dim, seed=seed)
        components, mean = (torch.from_numpy(array) for array in (pca.components_, pca.mean_))
        linear_initialize(network, components, mean, generator)

    def _coordinates(
        self, samples: Float[Tensor, "n ..."], given: Any, seed: int
    ) -> Float[Tensor, "n e"] | None:
        """The coordinates to which the encoder is fitted, on the device of the samples; None for none."""
        if given is None and self.init not in COORDINATES:
            return None
        if given is None:
            given = COORDINATES[self.init](samples.flatten(1).cpu().numpy(), self.embedding_dim, seed)
        elif self.init in COORDINATES or self.layerwise or self.n_epochs == 0:
            raise InputError(
                f"coordinates= needs n_epochs >= 1, layerwise=False and an init other than "
                f"{' or '.join(map(repr, COORDINATES))}; they are n_epochs={self.n_epochs}, "
                f"layerwise={self.layerwise} and init={self.init!r}."
            )
        Z = check_coordinates(given, (len(samples), self.embedding_dim))
        return torch.from_numpy(Z).to(samples.device)

    def random_layers(self, seed: int, device: torch.device) -> contextlib.AbstractContextManager[None]:
        """Seed the random layers of `network`, such as dropout, within a block; the paper's have none."""
        return contextlib.nullcontext() if self.network is None else seeded(seed, device)

    @default_modes()
    def transform(self, X: Any) -> np.ndarray:
        """Embed samples: H = f(X), float32 of shape (n, e)."""
        check_is_fitted(self)
        samples = check_samples(self, X, reset=False)
        device = next(self.module_.parameters()).device
        return encode(self.module_.encoder, SCALINGS[self.scaling](samples.to(device))).cpu().numpy()

    @default_modes()
    def inverse_transform(self, H: Any) -> np.ndarray:
        """Decode embeddings (n, e), see `DeepClusterer.inverse_transform`; float32 of shape (n, ...)."""
        check_is_fitted(self)
        return self.input_scaling_.inverse(decode(self.module_.decoder, H, self.embedding_dim, self.scaling))

    @property
    def _n_features_out(self) -> int:
        return self.embedding_dim

    def _read_back(self, tensors: Tensors, facts: Facts) -> None:
        self._from_state(tensors, facts, "cpu", self.network)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        device: str | torch.device = "auto",
        network: BuildNetwork | str | None = None,
    ) -> Self:
        """Read a file that `save` wrote; it does not hold the parameter `network`, which is passed again."""
        with opened_model(path, "Autoencoder") as (weights, facts):
            return cls._from_state(weights, facts, device, network)

    def _state(self) -> tuple[Tensors, Facts]:
        settings = self.get_params() | {"random_state": None, "network": None}
        facts = {"settings": settings, "shape": self.sample_shape_, "loss_curve": self.loss_curve_}
        facts |= {"has_network": self.network is not None, "input_scaling": self.input_scaling_.facts()}
        if hasattr(self, "feature_names_in_"):
            facts["feature_names"] = list(self.feature_names_in_)
        weights = self.module_.state_dict()
        if others := [name for name, value in weights.items() if not isinstance(value, torch.Tensor)]:
            raise InputError(f"network={shown(self.network)} has the state {others[0]}, which is no tensor.")
        return {name: value.clone() for name, value in weights.items()}, facts

    @classmethod
    def _from_state(
        cls,
        tensors: Tensors,
        facts: Facts,
        device: str | torch.device,
        network: BuildNetwork | str | None = None,
    ) -> Self:
        if facts.get("has_network", False) != (network is not None):
            given = "a network of its own: pass it again" if network is None else "none: leave it out"
            raise InputError(f"network={shown(network)}: the saved autoencoder has {given}.")
        loaded = cls(**facts["settings"] | {"device": device, "network": network})
        loaded.sample_shape_ = tuple(facts["shape"])
        loaded.n_features_in_ = loaded.sample_shape_[0]
        loaded.loss_curve_ = facts["loss_curve"]
        loaded.input_scaling_ = InputScaling.from_facts(facts.get("input_scaling"))
        if "feature_names" in facts:
            loaded.feature_names_in_ = np.array(facts["feature_names"], dtype=object)
        with seeded(0, torch.device("cpu")):  # the weights are replaced: draw none from the global generator
            loaded.module_ = loaded._network()
        try:
            loaded.module_.load_state_dict(tensors)
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise InputError(f"network={shown(network)} does not fit the saved weights: {reason}") from error
        loaded.module_.to(resolve_device(device))
        return loaded

    def check_network(self, shape: Sequence[int]) -> None:
        """Raise `InputError` if the parameters contradict each other or samples of a shape."""
        if self.network is not None and (self.architecture != "auto" or self.layerwise):
            raise InputError(f"network={shown(self.network)} needs architecture='auto' and layerwise=False.")
        if self.init in (("module",) if self.network is None else ("released", "pca")):
            raise InputError(f"init={shown(self.init)} is not for network={shown(self.network)}.")
        if self.architecture == "conv" and len(shape) != 3:
            raise InputError(
                f"architecture='conv' needs images of shape (h, w, c); a sample here is {tuple(shape)}."
            )
        if self.layerwise and self.init in ("pca", *COORDINATES):
            raise InputError(f"init={self.init!r} needs layerwise=False.")
        if self.n_epochs == 0 and self.init in COORDINATES:
            raise InputError(
                f"init={self.init!r} needs n_epochs >= 1: the encoder is fitted to the coordinates."
            )
        kind = self.kind_of_network(shape)
        for name, value, other in (("layerwise", True, False), ("init", "pca", "auto")):
            if kind == "conv" and getattr(self, name) == value:
                raise InputError(
                    f"{name}={value!r} is for fully connected networks: set architecture='mlp', or "
                    f"{name}={other!r}."
                )

    def kind_of_network(self, shape: Sequence[int]) -> str:
        """Which of our networks is that for samples of a shape: "conv", "mlp", or "residual"."""
        if self.architecture == "conv" or (self.architecture == "auto" and len(shape) == 3):
            return "conv"
        return "residual" if self.init == "pca" else "mlp"

    def _network(self) -> Network:
        """The network for samples of `sample_shape_`; the weights of the paper's networks are not yet set."""
        shape = self.sample_shape_
        self.check_network(shape)
        if self.network is not None:
            network = build_network(self.network, shape, self.embedding_dim)
        else:
            kind = self.kind_of_network(shape)
            network = empty_network(shape, kind, self.embedding_dim, self.channels, self.hidden)
        network.capture = self.network is None if self.capture == "auto" else bool(self.capture)
        return network

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
