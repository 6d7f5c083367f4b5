"""K-means on the embedding of a pretrained autoencoder (Section IV-B)."""

from typing import Any, Self

import numpy as np
import torch

from dekm.clustering.kmeans import kmeans
from dekm.methods.base import fitting
from dekm.methods.deep import DeepClusterer
from dekm.methods.iteration import Iteration, OnIteration
from dekm.nn.training import encode


class AEKMeans(DeepClusterer):
    """K-means on the embedding of a pretrained autoencoder: iteration 0 of DEKM.

    The autoencoder minimizes Equation (1), see `Autoencoder`, and then K-means minimizes Equation (2), see
    `KMeans`, on its embedding. The learned attributes are documented in `DeepClusterer` and `Clusterer`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    autoencoder : Autoencoder, FrozenEstimator or None, default=None
        The autoencoder to start from, see `DeepClusterer`; None is convolutional with
        e = k for images, and fully connected with e = 10 for vectors.
    n_init : int, default=100
        Number of runs from k-means++ initializations, of which the best is kept.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` when K-means has ended.

    References
    ----------
    .. [1] Guo, Lin and Ye (2021). Deep Embedded K-Means Clustering. arXiv:2109.15149. Section IV-B.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import AEKMeans, Autoencoder
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> autoencoder = Autoencoder(embedding_dim=2, hidden=(8,), n_epochs=3)
    >>> ae_k_means = AEKMeans(3, autoencoder=autoencoder, n_init=2, random_state=0).fit(X)
    >>> ae_k_means.cluster_centers_.shape
    (3, 2)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        n_init: int = 100,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.n_init = n_init
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, _ = self.start_fit()
        samples = self.load_samples(X, reset=True)
        self.encoder_ = self.pretrained_network(samples, random_state).encoder  # Equation (1)
        H = encode(self.encoder_, samples)
        partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)  # Equation (2)
        self.report(Iteration(0, H, *partition[:3]))
        return self.finish_fit(H, partition, n_iter=0)
