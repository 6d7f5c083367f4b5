"""The baselines that run K-means once (Section IV-B): on the data, components of them, or an embedding."""

from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.decomposition import PCA
from torch import Tensor

from dekm.clustering.kmeans import kmeans
from dekm.errors import InputError
from dekm.methods.base import Clusterer, Iteration, OnIteration
from dekm.methods.deep import DeepClusterer
from dekm.methods.persistence import Facts, Tensors, below, learned, set_learned, with_prefix
from dekm.methods.validation import is_number
from dekm.nn.training import encode


class KMeans(Clusterer):
    """K-means on the data as they are, images as vectors of their pixels.

    Parameters
    ----------
    n_clusters : k
    n_init : number of k-means++ starts; the best counts
    device, random_state, on_iteration : as in all methods
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 20,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, _ = self._start()
        samples = self._load(X, reset=True)
        self._learn_embedding(samples)
        H = self._embed(samples)
        partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        self._report(Iteration(0, H, *partition[:3]))
        return self._finish(H, partition, n_iter=0)

    def _learn_embedding(self, samples: Float[Tensor, "n ..."]) -> None:
        """Nothing to learn: the embedding is the data."""

    def _embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n d"]:
        return samples.flatten(1).clone()


class PCAKMeans(KMeans):
    """K-means on the leading principal components that keep a share of the variance.

    Parameters
    ----------
    n_clusters : k
    variance : share of the variance to keep; the paper's is 0.9
    n_init : number of k-means++ starts; the best counts
    device, random_state, on_iteration : as in all methods

    Attributes
    ----------
    pca_ : the fitted scikit-learn transformer
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        variance: float = 0.9,
        n_init: int = 20,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        super().__init__(
            n_clusters, n_init=n_init, device=device, random_state=random_state, on_iteration=on_iteration
        )
        self.variance = variance

    def _learn_embedding(self, samples: Float[Tensor, "n ..."]) -> None:
        if not (is_number(self.variance) and 0 < self.variance < 1):
            raise InputError(f"variance={self.variance!r} should be a number between 0 and 1.")
        if len(samples) < 2:
            raise InputError(f"n_samples={len(samples)} should be >= 2: one sample has no components.")
        self.pca_ = PCA(self.variance, svd_solver="covariance_eigh").fit(samples.flatten(1).cpu().numpy())
        # In the order in which a file holds them: the order decides the last bits of a product.
        self.pca_.components_ = np.ascontiguousarray(self.pca_.components_)

    def _embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        components = self.pca_.transform(samples.flatten(1).cpu().numpy())
        return torch.from_numpy(components.astype(np.float32)).to(samples.device)

    def _state(self) -> tuple[Tensors, Facts]:
        tensors, facts = super()._state()
        arrays, facts["pca"] = learned(self.pca_)
        return tensors | with_prefix("pca_.", arrays), facts

    def _restore(self, tensors: Tensors, facts: Facts) -> None:
        self.pca_ = PCA(self.variance, svd_solver="covariance_eigh")
        set_learned(self.pca_, below("pca_.", tensors), facts.pop("pca"))
        super()._restore({name: value for name, value in tensors.items() if "." not in name}, facts)


class AEKMeans(DeepClusterer):
    """K-means on the embedding of the pretrained autoencoder: the starting point of DEKM.

    Parameters
    ----------
    n_clusters : k
    autoencoder : see `DeepClusterer`
    n_init : number of k-means++ starts; the best counts
    device, random_state, on_iteration : as in all methods
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        n_init: int = 100,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.n_init = n_init
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, _ = self._start()
        samples = self._load(X, reset=True)
        self.encoder_ = self._pretrained(samples, random_state).encoder
        H = encode(self.encoder_, samples)
        partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        self._report(Iteration(0, H, *partition[:3]))
        return self._finish(H, partition, n_iter=0)
