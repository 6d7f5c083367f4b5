"""N2D: UMAP and a Gaussian mixture on the embedding of an autoencoder, which the paper does not have."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.errors import InputError, first_line
from dekm.methods.deep import DeepClusterer
from dekm.methods.iteration import OnIteration
from dekm.methods.scaling import decode
from dekm.methods.umap_gmm import UMAPGMM
from dekm.nn.device import default_modes
from dekm.nn.training import encode


class N2D(UMAPGMM, DeepClusterer):
    """UMAP and a Gaussian mixture on the embedding of a pretrained autoencoder.

    The autoencoder minimizes Equation (1), see `Autoencoder`; UMAP and the mixture, see `UMAPGMM`, cluster
    its embedding. Nothing is trained for the clusters. The learned attributes are documented in
    `DeepClusterer` and `Clusterer`; ``embedding_`` is that of UMAP, and ``points_`` that of the autoencoder.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k, and of dimensions of UMAP's embedding.
    autoencoder : Autoencoder, FrozenEstimator or None, default=None
        The autoencoder to start from, see `DeepClusterer`; None is convolutional with
        e = k for images, and fully connected with e = 10 for vectors.
    n_neighbors : int, default=20
        Number of nearest samples of each in UMAP's graph, itself included; all of them if there are fewer.
    min_dist : float, default=0.0
        Distance of embedded samples below which UMAP does not attract them, less than 1.
    n_epochs : int or "auto", default="auto"
        Passes of UMAP over the edges of its graph; "auto" is 500 for at most 10,000 samples, otherwise 200.
    n_init : int, default=1
        Number of runs of expectation maximization from K-means, of which the best is kept.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N", of the autoencoder.
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` when the mixture is fitted.

    References
    ----------
    .. [1] McConville, Santos-Rodriguez, Piechocki and Craddock (2021). N2D: (Not Too) Deep Clustering via
       Clustering the Local Manifold of an Autoencoded Embedding. ICPR 2020. arXiv:1908.05968.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import N2D, Autoencoder
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> autoencoder = Autoencoder(embedding_dim=2, hidden=(8,), n_epochs=3)
    >>> n2d = N2D(3, autoencoder=autoencoder, n_epochs=20, random_state=0).fit(X)
    >>> n2d.points_.shape, n2d.embedding_.shape
    ((60, 2), (60, 3))
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        n_neighbors: int = 20,
        min_dist: float = 0.0,
        n_epochs: int | str = "auto",
        n_init: int = 1,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            n_neighbors=n_neighbors,
            min_dist=min_dist,
            n_epochs=n_epochs,
            n_init=n_init,
            device=device,
            random_state=random_state,
            on_iteration=on_iteration,
        )
        self.autoencoder = autoencoder

    def _start(self, samples: Float[Tensor, "n ..."], random_state: np.random.RandomState) -> None:
        """Pretrain the autoencoder, Equation (1)."""
        self.encoder_ = self.pretrained_network(samples, random_state).encoder

    def points(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n d"]:
        """Embedding of samples by the pretrained encoder."""
        device = next(self.encoder_.parameters()).device
        return encode(self.encoder_, samples.to(device))

    @default_modes()
    def inverse_transform(self, H: Any) -> np.ndarray:
        """Decode embeddings (n, k), each as the sample of the fit whose embedding is nearest.

        UMAP has no inverse, so ``decoder_`` is given the autoencoder's embedding of that sample; see
        `DeepClusterer` for the units.

        Raises
        ------
        InputError
            If `H` is not a finite array of shape (n, k).
        """
        check_is_fitted(self)
        try:
            nearest = pairwise_distances_argmin(H, self.embedding_)
        except ValueError as error:
            raise InputError(
                f"H should be a finite array (n, {self.n_clusters}): {first_line(error)}."
            ) from error
        scaling = self._scaling(self.autoencoder_)
        X = decode(self.decoder_, self.points_[nearest], self.points_.shape[1], scaling)
        return self.input_scaling_.inverse(X)
