"""What all methods share: an embedding of the data, centers in it, and the nearest center as the label."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.autoencoders import Autoencoder, Network
from dekm.errors import InputError
from dekm.kmeans import Partition, nearest_center
from dekm.samples import check_samples
from dekm.training import encode, resolve_device


@dataclass(frozen=True)
class Iteration:
    """The state of a method after `n_iter` updates of its representation; 0 is the starting point.

    Attributes
    ----------
    n_iter : number of updates so far
    H : embedding
    labels, centers, inertia : the partition of H
    changed : share of samples that changed their cluster since the previous iteration; NaN at first
    loss : mean loss of the batches of the last update; NaN at first
    V : rows are the eigenvectors of the scatter matrix, for methods that compute them
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


class Clusterer(ClusterMixin, TransformerMixin, BaseEstimator):
    """Base of the methods: fitted centers in an embedding that `_embed` computes.

    Attributes
    ----------
    labels_ : int64 array (n,), the cluster of every training sample
    cluster_centers_ : float32 array (k, e)
    embedding_ : float32 array (n, e), the embedding of the training samples
    inertia_ : sum of squared distances of the embedded samples to their centers
    n_iter_ : number of updates of the representation
    history_ : one dict per iteration: n_iter, loss, changed, inertia, seconds
    sample_shape_ : shape of one sample
    """

    n_clusters: int
    device: str
    random_state: int | np.random.RandomState | None
    on_iteration: OnIteration | None

    def transform(self, X: Any) -> np.ndarray:
        """Embeddings of new samples, float32 of shape (n, e)."""
        check_is_fitted(self)
        return self._embed(self._load(X, reset=False)).cpu().numpy()

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each sample: the nearest center in the embedding; int64 of shape (n,)."""
        H = torch.from_numpy(self.transform(X))
        return nearest_center(H, torch.from_numpy(self.cluster_centers_)).numpy()

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of squared distances of the embedded samples to their nearest centers."""
        H = self.transform(X)
        return -float(((H - self.cluster_centers_[self.predict(X)]) ** 2).sum(dtype=np.float64))

    def _load(self, X: Any, *, reset: bool) -> Float[Tensor, "n ..."]:
        samples = check_samples(self, X, reset=reset)
        if reset and len(samples) < self.n_clusters:
            raise InputError(f"n_samples={len(samples)} should be >= n_clusters={self.n_clusters}.")
        return samples.to(resolve_device(self.device))

    def _embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        raise AssertionError("each method defines its embedding")

    def _start(self) -> tuple[np.random.RandomState, torch.Generator]:
        """Begin a fit: an empty history, and the two generators that everything random draws from."""
        if not (isinstance(self.n_clusters, int | np.integer) and self.n_clusters >= 1):
            raise InputError(f"n_clusters={self.n_clusters!r} should be an integer >= 1.")
        random_state = check_random_state(self.random_state)
        self.history_: list[dict[str, float]] = []
        self._started = time.perf_counter()
        return random_state, torch.Generator().manual_seed(int(random_state.randint(2**31 - 1)))

    def _report(self, iteration: Iteration) -> None:
        """Append to the history and call the hook; the seconds are those of the fit without the hook."""
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
        if self.on_iteration is not None:
            self.on_iteration(iteration)
            self._started = time.perf_counter() - seconds

    def _finish(self, H: Float[Tensor, "n e"], partition: Partition, n_iter: int) -> Self:
        self.embedding_ = H.cpu().numpy()
        self.labels_ = partition.labels.cpu().numpy()
        self.cluster_centers_ = partition.centers.cpu().numpy()
        self.inertia_ = partition.inertia
        self.n_iter_ = n_iter
        return self


class DeepClusterer(Clusterer):
    """Base of the methods that start from a pretrained autoencoder.

    `autoencoder` is an unfitted `Autoencoder`, which `fit` clones and pretrains, or a
    ``sklearn.frozen.FrozenEstimator`` around a fitted one, whose weights are the start as they are. None
    stands for the paper's: convolutional with e = n_clusters for images, fully connected with e = 10 else.

    Attributes
    ----------
    encoder_ : the trained encoder f
    autoencoder_ : the pretrained autoencoder, unchanged
    """

    autoencoder: Any

    def _embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        device = next(self.encoder_.parameters()).device
        return encode(self.encoder_, samples.to(device))

    def _pretrained(self, samples: Float[Tensor, "n ..."], random_state: np.random.RandomState) -> Network:
        """A copy of the pretrained network on the device of the samples: line 1 of Algorithm 1."""
        autoencoder = self.autoencoder
        if autoencoder is None:
            embedding_dim = self.n_clusters if samples.ndim == 4 else 10
            autoencoder = Autoencoder(embedding_dim=embedding_dim, device=self.device)
        autoencoder = clone(autoencoder)
        if "random_state" in autoencoder.get_params() and autoencoder.random_state is None:
            autoencoder.set_params(random_state=random_state.randint(2**31 - 1))
        self.autoencoder_ = autoencoder.fit(samples.cpu().numpy(), None)
        if self.autoencoder_.sample_shape_ != self.sample_shape_:
            raise InputError(
                f"X has samples of shape {self.sample_shape_}, but the autoencoder was fitted on samples "
                f"of shape {self.autoencoder_.sample_shape_}."
            )
        return copy.deepcopy(self.autoencoder_.module_).to(samples.device)
