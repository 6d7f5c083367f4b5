"""Base class of the methods that start from a pretrained autoencoder."""

import copy
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from jaxtyping import Float, Int
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from torch import Tensor

from dekm.errors import InputError
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Clusterer
from dekm.methods.persistence import Facts, Tensors, opened_model, with_prefix, without_prefix
from dekm.methods.scaling import SCALINGS
from dekm.nn.checkpoint import Checkpoint, State, continue_training
from dekm.nn.networks import Network
from dekm.nn.own_network import BuildNetwork
from dekm.nn.training import Step, encode


class DeepClusterer(Clusterer):
    """Base class of the methods that start from a pretrained autoencoder.

    The `fit` of a subclass calls `pretrained_network` and sets ``encoder_``.

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
    autoencoder_ : Autoencoder or FrozenEstimator
        The pretrained autoencoder, whose weights the method does not change.
    """

    autoencoder: Any

    _ADVICE = "Try a smaller n_clusters or lr, or more epochs of pretraining."

    def load_samples(self, X: Any, *, reset: bool) -> Float[Tensor, "n ..."]:
        """Validate samples, move them to the device, and scale them as the autoencoder does."""
        samples = super().load_samples(X, reset=reset)
        autoencoder = self.autoencoder if reset else self.autoencoder_
        inner = autoencoder.estimator if isinstance(autoencoder, FrozenEstimator) else autoencoder
        return SCALINGS[inner.scaling](samples) if isinstance(inner, Autoencoder) else samples

    def embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        """Embedding of samples by the trained encoder."""
        device = next(self.encoder_.parameters()).device
        return encode(self.encoder_, samples.to(device))

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
                f"autoencoder={autoencoder!r} should be None, an Autoencoder or a FrozenEstimator around one."
            )
        autoencoder = clone(autoencoder)
        if n_epochs is not None:
            autoencoder.set_params(n_epochs=n_epochs)
        if self.progress and isinstance(autoencoder, Autoencoder):
            autoencoder.set_params(progress=True)
        if "random_state" in autoencoder.get_params() and autoencoder.random_state is None:
            autoencoder.set_params(random_state=random_state.randint(2**31 - 1))
        self.autoencoder_ = autoencoder.fit(self._samples.cpu().numpy(), None)  # it scales them itself
        if self.autoencoder_.sample_shape_ != self.sample_shape_:
            raise InputError(
                f"X has samples of shape {self.sample_shape_}, but the autoencoder was fitted on samples "
                f"of shape {self.autoencoder_.sample_shape_}."
            )
        self._until_finished.enter_context(inner.random_layers(self._seed, samples.device))
        return copy.deepcopy(self.autoencoder_.module_).to(samples.device)

    def continue_fit(
        self,
        checkpoint: Checkpoint,
        step: Step,
        live: Tensors,
        random_state: np.random.RandomState,
        stream: Iterator[Int[Tensor, " b"]],
        n_batches: int,
        n_iter: int,
        *rest: float,
    ) -> Sequence[Any]:
        """Bring a fit to the state that `keep_state` has kept of an interrupted one.

        Parameters
        ----------
        checkpoint : Checkpoint
            Where the state is kept.
        step : Step
            The step of the fit, not called before.
        live : dict of str to tensor
            The tensors of the fit, without those of `step`; they are changed in place.
        random_state : RandomState
            The generator of the fit.
        stream : iterator of int64 tensors of shape (b,)
            The batches of the fit from its beginning on.
        n_batches : int
            Steps of an iteration.
        n_iter, *rest : int, float
            The numbers of a fit that starts from the beginning: that of its finished iterations, and others.

        Returns
        -------
        sequence of int or float
            Those numbers, or the ones that `keep_state` was given.
        """
        state = checkpoint.load()
        if state is None:
            return n_iter, *rest
        values = state.values
        n_steps = values["numbers"][0] * n_batches
        continue_training(step, stream, n_steps, step.tensors() | live, state.tensors)
        random_state.set_state(values["random_state"])
        self._first_labels = state.tensors["first_labels"].to(step.parameters[0].device)
        self.history_ = values["history"]
        self._started = time.perf_counter() - values["seconds"]
        return values["numbers"]

    def keep_state(
        self,
        checkpoint: Checkpoint,
        step: Step,
        live: Tensors,
        random_state: np.random.RandomState,
        *numbers: float,
    ) -> None:
        """Keep the state of the fit after an iteration, if a checkpoint is due; see `continue_fit`."""

        def state() -> State:
            algorithm, keys, *rest = random_state.get_state()
            values = {
                "numbers": numbers,
                "random_state": [algorithm, np.asarray(keys).tolist(), *rest],
                "history": self.history_,
                "seconds": time.perf_counter() - self._started,
            }
            first = {} if self._first_labels is None else {"first_labels": self._first_labels}
            return State(step.tensors() | live | first, values)

        checkpoint.save(state)

    def warn_unless_converged(self, changed: float, tol: float, max_iter: int) -> None:
        """Warn if the fit ended at `max_iter` and not because fewer than `tol` of the labels changed."""
        if max_iter > 0 and not changed < tol:
            warnings.warn(
                f"{changed:.2%} of the labels still changed at max_iter={max_iter}, not less than "
                f"tol={tol:.2%}. Increase max_iter, or tol if the data have no clearer clusters.",
                ConvergenceWarning,
                stacklevel=4,
            )

    @classmethod
    def load(
        cls, path: str | Path, *, device: str = "auto", network: BuildNetwork | str | None = None
    ) -> Self:
        """Read a file that `save` wrote; the `network` of the autoencoder, if it had one, is passed again."""
        with opened_model(path, cls.__name__) as (tensors, facts):
            return cls._from_state(tensors, facts | {"network": network}, device)

    def _state(self) -> tuple[Tensors, Facts]:
        tensors, facts = super()._state()
        weights, facts["autoencoder"] = self.autoencoder_._state()
        facts["params"].pop("autoencoder")
        trained = with_prefix("encoder_.", self.encoder_.state_dict())
        return tensors | trained | with_prefix("autoencoder_.", weights), facts

    def _restore(self, tensors: Tensors, facts: Facts) -> None:
        weights = without_prefix("autoencoder_.", tensors)
        start = (facts.pop("autoencoder"), self.device, facts.pop("network"))
        self.autoencoder_ = Autoencoder._from_state(weights, *start)
        self.autoencoder = FrozenEstimator(self.autoencoder_)
        self.encoder_ = copy.deepcopy(self.autoencoder_.module_.encoder)
        self.encoder_.load_state_dict(without_prefix("encoder_.", tensors))
        super()._restore({name: value for name, value in tensors.items() if "." not in name}, facts)
