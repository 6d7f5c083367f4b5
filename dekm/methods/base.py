"""Base class of all methods: an embedding, cluster centers in it, and the nearest center as the label."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from tqdm import tqdm

from dekm.clustering.kmeans import Partition, nearest_center
from dekm.errors import InputError
from dekm.methods.persistence import Facts, Tensors, learned, read_model, set_learned, write_model
from dekm.methods.validation import Constraints, Integer, check_parameters, check_samples
from dekm.nn.device import resolve_device


@dataclass(frozen=True)
class Iteration:
    """The state of a method after `n_iter` updates of the representation.

    Attributes
    ----------
    n_iter : int
        Number of updates so far; 0 is the state before the first one.
    H : float32 tensor of shape (n, e)
        Embedding of the samples.
    labels : int64 tensor of shape (n,)
        Cluster of every sample.
    centers : float32 tensor of shape (k, e)
        Cluster centers.
    inertia : float
        Sum of the squared distances of the rows of H to their centers.
    changed : float
        Fraction of samples whose cluster changed since the previous iteration; NaN in iteration 0.
    loss : float
        Mean loss of the batches of the last update; NaN in iteration 0.
    V : float32 tensor of shape (e, e) or None
        Rows are the eigenvectors of the within-class scatter matrix; None if the method does not use them.
    """

    n_iter: int
    H: Float[Tensor, "n e"]
    labels: Int[Tensor, " n"]
    centers: Float[Tensor, "k e"]
    inertia: float
    changed: float = float("nan")
    loss: float = float("nan")
    V: Float[Tensor, "e e"] | None = None


OnIteration = Callable[[Iteration], None]


class Clusterer(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator):
    """Base class of the methods. A subclass defines `fit` and `embed`, the embedding of samples.

    Its `fit` calls `start_fit`, `load_samples`, `report` after every iteration, and at the end
    `finish_fit`. The class attribute `parameter_constraints` has the valid values of the parameters, which
    `start_fit` checks.

    Attributes
    ----------
    labels_ : int64 array of shape (n,)
        Cluster of every training sample.
    cluster_centers_ : float32 array of shape (k, e)
        Cluster centers in the embedding.
    embedding_ : float32 array of shape (n, e)
        Embedding of the training samples.
    inertia_ : float
        Sum of the squared distances of the embedded samples to their centers.
    n_iter_ : int
        Number of updates of the representation.
    n_clusters_found_ : int
        Number of clusters that are not empty.
    history_ : list of dict
        One dict per iteration with the keys n_iter, loss, changed, inertia (see `Iteration`) and seconds, the
        time since the start of the fit without that of `on_iteration`.
    sample_shape_ : tuple of int
        Shape of a sample.
    """

    n_clusters: int
    device: str
    random_state: int | np.random.RandomState | None
    on_iteration: OnIteration | None
    progress = False

    parameter_constraints: ClassVar[Constraints] = {"n_clusters": Integer(1), "n_init": Integer(1)}
    _ADVICE = "Try a smaller n_clusters."  # in the warning about empty clusters

    def transform(self, X: Any) -> np.ndarray:
        """Embed samples; float32 of shape (n, e)."""
        check_is_fitted(self)
        return self.embed(self.load_samples(X, reset=False)).cpu().numpy()

    def predict(self, X: Any) -> np.ndarray:
        """Assign every sample to the nearest center in the embedding; int64 of shape (n,)."""
        check_is_fitted(self)
        H, U = self._embed_beside_centers(X)
        return nearest_center(H, U).cpu().numpy()

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of the squared distances of the embedded samples to their nearest centers."""
        check_is_fitted(self)
        H, U = self._embed_beside_centers(X)
        return -float(((H - U[nearest_center(H, U)]) ** 2).sum(dtype=torch.float64))

    def save(self, path: str | Path) -> None:
        """Write the parameters and the learned attributes to a safetensors file, which holds no code."""
        check_is_fitted(self)
        write_model(path, type(self).__name__, *self._state())

    @classmethod
    def load(cls, path: str | Path, *, device: str = "auto") -> Self:
        """Read a file that `save` wrote; it holds neither `on_iteration` nor a RandomState instance."""
        tensors, facts = read_model(path, cls.__name__)
        loaded = cls(**facts.pop("params") | {"device": device})
        loaded._restore(tensors, facts)
        return loaded

    def _state(self) -> tuple[Tensors, Facts]:
        params = self.get_params(deep=False) | {"on_iteration": None}
        if isinstance(self.random_state, np.random.RandomState):
            params["random_state"] = None
        tensors, facts = learned(self)
        return tensors, facts | {"params": params}

    def _restore(self, tensors: Tensors, facts: Facts) -> None:
        set_learned(self, tensors, facts)

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _embed_beside_centers(self, X: Any) -> tuple[Float[Tensor, "n e"], Float[Tensor, "k e"]]:
        H = self.embed(self.load_samples(X, reset=False))
        return H, torch.from_numpy(self.cluster_centers_).to(H.device)

    def load_samples(self, X: Any, *, reset: bool) -> Float[Tensor, "n ..."]:
        """Validate samples and move them to the device.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Vectors (n, d), grey images (n, h, w) or images (n, h, w, c).
        reset : bool
            Whether `X` is the data of a fit, which sets ``sample_shape_``; otherwise its samples must have
            that shape.

        Raises
        ------
        InputError
            If `X` is not valid, or a fit has fewer samples than `n_clusters`.
        """
        samples = check_samples(self, X, reset=reset)
        if reset and len(samples) < self.n_clusters:
            raise InputError(f"n_samples={len(samples)} should be >= n_clusters={self.n_clusters}.")
        return samples.to(resolve_device(self.device))

    def embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        """Embedding of samples by the fitted method, which `transform` and `predict` use."""
        raise NotImplementedError

    def start_fit(self) -> tuple[np.random.RandomState, torch.Generator]:
        """Check the parameters, clear the history and return the random generators of the fit.

        Returns
        -------
        random_state : RandomState
            Made from the parameter `random_state`.
        generator : torch.Generator
            A generator on the CPU with a seed drawn from `random_state`.

        Raises
        ------
        InputError
            If a parameter is not valid.
        """
        check_parameters(self)
        random_state = check_random_state(self.random_state)
        self.history_: list[dict[str, float]] = []
        self._bar = tqdm(desc=type(self).__name__, unit=" iterations", disable=not self.progress)
        self._started = time.perf_counter()
        return random_state, torch.Generator().manual_seed(int(random_state.randint(2**31 - 1)))

    def report(self, iteration: Iteration) -> None:
        """Append an iteration to `history_` and call `on_iteration`, whose time does not count."""
        seconds = time.perf_counter() - self._started
        self.history_.append(
            {
                "n_iter": iteration.n_iter,
                "loss": iteration.loss,
                "changed": iteration.changed,
                "inertia": iteration.inertia,
                "seconds": seconds,
            }
        )
        self._bar.update(min(iteration.n_iter, 1))
        self._bar.set_postfix(loss=iteration.loss, changed=iteration.changed)
        if self.on_iteration is not None:
            self.on_iteration(iteration)
        self._started = time.perf_counter() - seconds

    def finish_fit(self, H: Float[Tensor, "n e"], partition: Partition, n_iter: int) -> Self:
        """Set the learned attributes and return the estimator; warn if a cluster is empty.

        Parameters
        ----------
        H : float32 tensor of shape (n, e)
            Embedding of the samples.
        partition : Partition
            Labels, centers and inertia in this embedding.
        n_iter : int
            Number of updates of the representation.
        """
        self._bar.close()
        del self._bar
        self.embedding_ = H.cpu().numpy()
        self.labels_ = partition.labels.cpu().numpy()
        self.cluster_centers_ = partition.centers.cpu().numpy()
        self.inertia_ = partition.inertia
        self.n_iter_ = n_iter
        self.n_clusters_found_ = len(np.unique(self.labels_))
        if self.n_clusters_found_ < self.n_clusters:
            n_distinct = len(np.unique(self.embedding_, axis=0))
            warnings.warn(
                f"Only {self.n_clusters_found_} of n_clusters={self.n_clusters} clusters hold samples; the "
                f"embedding has {n_distinct} distinct points for {len(H)} samples. {self._ADVICE}",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self
