"""Base class of the methods that start from a pretrained autoencoder."""

import copy
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.errors import InputError, shown
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Clusterer
from dekm.methods.persistence import Facts, Tensors, opened_model, with_prefix, without_prefix
from dekm.methods.scaling import SCALINGS, decode
from dekm.nn.device import default_modes
from dekm.nn.networks import Network
from dekm.nn.own_network import BuildNetwork
from dekm.nn.training import encode
from dekm.scaling import InputScaling


class DeepClusterer(Clusterer):
    """Base class of the methods that start from a pretrained autoencoder.

    The `fit` of a subclass calls `pretrained_network`, which sets ``decoder_``, and sets ``encoder_``.

    Parameters
    ----------
    autoencoder : Autoencoder, FrozenEstimator or None
        An unfitted `Autoencoder` is cloned and pretrained by `fit`. A fitted one in a
        ``sklearn.frozen.FrozenEstimator`` is not trained again: its weights are the initial weights. None is
        the autoencoder that the method was published with.

    Attributes
    ----------
    encoder_ : torch.nn.Module
        The trained encoder f.
    decoder_ : torch.nn.Module
        The decoder g: trained along with the encoder where the loss has a reconstruction term, as in IDEC,
        DCEC, DCN and DKM, otherwise the pretrained one.
    autoencoder_ : Autoencoder or FrozenEstimator
        The pretrained autoencoder, whose weights the method does not change.
    """

    autoencoder: Any

    _ADVICE = "Try a smaller n_clusters or lr, or more epochs of pretraining."

    def load_samples(self, X: Any, *, reset: bool) -> Float[Tensor, "n ..."]:
        """Validate samples, move them to the device, and scale them as the autoencoder does."""
        samples = super().load_samples(X, reset=reset)
        return SCALINGS[self._scaling(self.autoencoder if reset else self.autoencoder_)](samples)

    @staticmethod
    def _scaling(autoencoder: Any) -> str:
        inner = autoencoder.estimator if isinstance(autoencoder, FrozenEstimator) else autoencoder
        return inner.scaling if isinstance(inner, Autoencoder) else "none"

    def embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        """Embedding of samples by the trained encoder."""
        device = next(self.encoder_.parameters()).device
        return encode(self.encoder_, samples.to(device))

    @default_modes()
    def inverse_transform(self, H: Any) -> np.ndarray:
        """Decode embeddings (n, e) into samples by ``decoder_``; float32 of shape (n, ...).

        The values are in the units of `X`, but images of bytes are in [0, 1], and samples under
        ``scaling="mean_square"`` keep their mean square of 1. A decoder that was not trained along with the
        encoder, as in DEC and DEKM, knows the embedding of the pretraining only.

        Raises
        ------
        InputError
            If `H` is not a finite array of shape (n, e).
        """
        check_is_fitted(self)
        X = decode(self.decoder_, H, self.cluster_centers_.shape[1], self._scaling(self.autoencoder_))
        return self.input_scaling_.inverse(X)

    def _given_scaling(self) -> InputScaling | None:
        """That of a fitted autoencoder."""
        inner = getattr(self.autoencoder, "estimator", None)
        return getattr(inner, "input_scaling_", None)

    def published_autoencoder(self, samples: Float[Tensor, "n ..."]) -> Autoencoder:
        """Convolutional with e = k for images, fully connected with e = 10 for vectors (Section IV-C)."""
        embedding_dim = self.n_clusters if samples.ndim == 4 else 10
        return Autoencoder(embedding_dim=embedding_dim, device=self.device, progress=self.progress)

    def pretrained_network(
        self,
        samples: Float[Tensor, "n ..."],
        random_state: np.random.RandomState,
        *,
        n_epochs: int | None = None,
    ) -> Network:
        """Set `autoencoder_` and return a copy of its network: line 1 of Algorithm 1.

        Parameters
        ----------
        samples : float32 tensor of shape (n, ...)
            The training samples; the copy is on their device.
        random_state : RandomState
            Seeds an autoencoder whose own `random_state` is None.
        n_epochs : int or None
            Overrides the parameter of the autoencoder; None keeps it.

        Raises
        ------
        InputError
            If `autoencoder` is not one, or was fitted on samples of another shape.
        """
        autoencoder = self.autoencoder
        if autoencoder is None:
            autoencoder = self.published_autoencoder(samples)
        inner = autoencoder.estimator if isinstance(autoencoder, FrozenEstimator) else autoencoder
        if not isinstance(inner, Autoencoder):
            raise InputError(
                f"autoencoder={shown(autoencoder)} should be None, an Autoencoder or a FrozenEstimator "
                "around one."
            )
        autoencoder = clone(autoencoder)
        if n_epochs is not None:
            autoencoder.set_params(n_epochs=n_epochs)
        if self.progress and isinstance(autoencoder, Autoencoder):
            autoencoder.set_params(progress=True)
        if "random_state" in autoencoder.get_params() and autoencoder.random_state is None:
            autoencoder.set_params(random_state=random_state.randint(2**31 - 1))
        self.autoencoder_ = autoencoder.fit(self._samples.cpu().numpy(), None)  # it scales them itself
        if self.autoencoder_ is not self.autoencoder:
            self.autoencoder_.input_scaling_ = self.input_scaling_
        if self.autoencoder_.sample_shape_ != self.sample_shape_:
            raise InputError(
                f"X has samples of shape {self.sample_shape_}, but the autoencoder was fitted on samples "
                f"of shape {self.autoencoder_.sample_shape_}."
            )
        self._until_finished.enter_context(inner.random_layers(self._seed, samples.device))
        network: Network = copy.deepcopy(self.autoencoder_.module_).to(samples.device)
        self.decoder_ = network.decoder
        return network

    def warn_unless_converged(self, changed: float, tol: float, max_iter: int) -> None:
        """Warn if the fit ended at `max_iter` and not because fewer than `tol` of the labels changed.

        With ``tol=0`` a fit always ends at `max_iter`, and converges if no label changed.
        """
        if max_iter == 0 or changed < tol or changed == tol == 0:
            return
        advice = (
            f"not less than tol={tol:.2%}. Increase max_iter, or tol if the data have no clearer clusters."
        )
        if tol == 0:
            advice = "where tol=0 ends the fit. Increase max_iter if the labels should settle."
        self._warn(f"{changed:.2%} of the labels still changed at max_iter={max_iter}, {advice}")

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        device: str | torch.device = "auto",
        network: BuildNetwork | str | None = None,
    ) -> Self:
        """Read a file that `save` wrote; the `network` of the autoencoder, if it had one, is passed again."""
        with opened_model(path, cls.__name__) as (tensors, facts):
            return cls._from_state(tensors, facts | {"network": network}, device)

    def set_input_scaling(self, scaling: InputScaling) -> None:
        """Set the rule of the method and of its autoencoder, see `Saved`."""
        super().set_input_scaling(scaling)
        getattr(self.autoencoder_, "estimator", self.autoencoder_).input_scaling_ = scaling

    def _read_back(self, tensors: Tensors, facts: Facts) -> None:
        super()._read_back(tensors, facts | {"network": self.autoencoder_.network})

    def _state(self) -> tuple[Tensors, Facts]:
        tensors, facts = super()._state()
        weights, facts["autoencoder"] = self.autoencoder_._state()
        facts["params"].pop("autoencoder")
        trained = with_prefix("encoder_.", self.encoder_.state_dict())
        decoder, pretrained = self.decoder_.state_dict(), self.autoencoder_.module_.decoder.state_dict()
        if any(not torch.equal(value.cpu(), pretrained[name].cpu()) for name, value in decoder.items()):
            trained |= with_prefix("decoder_.", decoder)
        return tensors | trained | with_prefix("autoencoder_.", weights), facts

    def _restore(self, tensors: Tensors, facts: Facts) -> None:
        weights = without_prefix("autoencoder_.", tensors)
        start = (facts.pop("autoencoder"), self.device, facts.pop("network"))
        self.autoencoder_ = Autoencoder._from_state(weights, *start)
        self.autoencoder = FrozenEstimator(self.autoencoder_)
        self.encoder_ = copy.deepcopy(self.autoencoder_.module_.encoder)
        self.encoder_.load_state_dict(without_prefix("encoder_.", tensors))
        self.decoder_ = copy.deepcopy(self.autoencoder_.module_.decoder)
        if decoder := without_prefix("decoder_.", tensors):  # one that was trained along
            self.decoder_.load_state_dict(decoder)
        # The arrays of a part have its name and a point before their own.
        super()._restore({name: value for name, value in tensors.items() if "." not in name}, facts)
