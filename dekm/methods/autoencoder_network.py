"""The network of an autoencoder: which one its parameters make, and its file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dekm.errors import InputError, shown
from dekm.methods.persistence import Facts, Tensors, opened_model, write_model
from dekm.nn.device import resolve_device
from dekm.nn.networks import Network, empty_network
from dekm.nn.own_network import BuildNetwork, build_network, seeded
from dekm.scaling import InputScaling


class AutoencoderNetwork(BaseEstimator):
    """Base class of `Autoencoder`, which documents the parameters and the attributes."""

    architecture: str
    network: BuildNetwork | str | None
    embedding_dim: int
    channels: Sequence[int]
    hidden: Sequence[int]
    init: str
    layerwise: bool
    scaling: str
    module_: Network
    loss_curve_: list[float]
    sample_shape_: tuple[int, ...]
    input_scaling_: InputScaling

    def save(self, path: str | Path) -> None:
        """Write the weights, the parameters and the loss curve to a safetensors file, which holds no code.

        Raises
        ------
        UnreadableError
            If `load` could not read it back.
        InputError
            If the file cannot be written.
        """
        check_is_fitted(self)
        write_model(path, "Autoencoder", *self._state(), self._read_back)

    def _read_back(self, weights: Tensors, facts: Facts) -> None:
        self._from_state(weights, facts, "cpu", self.network)

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
        cls, weights: Tensors, facts: Facts, device: str | torch.device, network: BuildNetwork | str | None
    ) -> Self:
        if facts.get("has_network", False) != (network is not None):
            given = "a network of its own: pass it again" if network is None else "none: leave it out"
            raise InputError(f"network={shown(network)}: the saved autoencoder has {given}.")
        settings = facts["settings"] | {"device": device, "network": network}
        if "pretraining" in settings:  # files of earlier versions: "end_to_end" or "layerwise"
            settings["layerwise"] = settings.pop("pretraining") == "layerwise"
        loaded = cls(**settings)
        loaded.sample_shape_ = tuple(facts["shape"])
        loaded.n_features_in_ = loaded.sample_shape_[0]
        loaded.loss_curve_ = facts["loss_curve"]
        loaded.input_scaling_ = InputScaling.from_facts(facts.get("input_scaling"))
        if "feature_names" in facts:
            loaded.feature_names_in_ = np.array(facts["feature_names"], dtype=object)
        with seeded(0, torch.device("cpu")):  # the weights are replaced: draw none from the global generator
            loaded.module_ = loaded._network()
        try:
            loaded.module_.load_state_dict(weights)
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise InputError(f"network={shown(network)} does not fit the saved weights: {reason}") from error
        loaded.module_.to(resolve_device(device))
        return loaded

    def _check_network(self) -> None:
        """Raise `InputError` if the parameters of the network contradict each other or the samples."""
        shape = self.sample_shape_
        if self.network is not None and (self.architecture != "auto" or self.layerwise):
            raise InputError(f"network={shown(self.network)} needs architecture='auto' and layerwise=False.")
        if self.init == ("module" if self.network is None else "released"):
            raise InputError(f"init={shown(self.init)} is not for network={shown(self.network)}.")
        if self.architecture == "conv" and len(shape) != 3:
            raise InputError(
                f"architecture='conv' needs images of shape (h, w, c); a sample here is {shape}."
            )
        if self._is_convolutional() and self.layerwise:
            raise InputError(
                "layerwise=True is for fully connected networks: set architecture='mlp', or layerwise=False."
            )

    def _is_convolutional(self) -> bool:
        return self.architecture == "conv" or (self.architecture == "auto" and len(self.sample_shape_) == 3)

    def _network(self) -> Network:
        """The network for samples of `sample_shape_`; the weights of the paper's networks are not yet set."""
        self._check_network()
        shape = self.sample_shape_
        if self.network is not None:
            return build_network(self.network, shape, self.embedding_dim)
        architecture = "conv" if self._is_convolutional() else "mlp"
        return empty_network(shape, architecture, self.embedding_dim, self.channels, self.hidden)
