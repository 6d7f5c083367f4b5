"""Spectral clustering of the samples, which the paper does not have."""

from typing import Any, ClassVar, Self

import numpy as np
import torch

from dekm.clustering.kmeans import kmeans
from dekm.methods.base import fitting
from dekm.methods.coordinates import spectral_coordinates
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.nearest import NearestSample
from dekm.methods.validation import Constraints, Integer


class SpectralClustering(NearestSample):
    r"""K-means on eigenvectors of a graph that connects each sample with its nearest ones.

    The graph has the adjacency matrix :math:`A = (N + N^\top) / 2`, where :math:`N_{ij}` is 1 if sample j is
    among the nearest ones of sample i and otherwise 0. The embedding has the eigenvectors of
    :math:`D^{-1} A` with the k largest eigenvalues [1]_, where D is diagonal and has the row sums of A, and
    K-means minimizes Equation (2), see `KMeans`, on it. Distances are Euclidean; for texts, whose rows have
    length 1, the nearest ones are those of the largest cosine. All of it is computed on the CPU but K-means.
    The learned attributes are documented in `Clusterer`, and what happens to new samples in `NearestSample`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_neighbors : int, default=10
        Number of nearest samples of each, itself included; all of them if there are fewer.
    n_init : int, default=10
        Number of runs from k-means++ initializations, of which the best is kept.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` when K-means has ended.

    Attributes
    ----------
    n_components_ : int
        Number of connected components of the graph.

    References
    ----------
    .. [1] Shi and Malik (2000). Normalized Cuts and Image Segmentation. IEEE TPAMI 22. Section 2.
    .. [2] von Luxburg (2007). A Tutorial on Spectral Clustering. Statistics and Computing 17.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from dekm import SpectralClustering
    >>> X, y = make_circles(100, factor=0.3, random_state=0)
    >>> labels = SpectralClustering(2, n_neighbors=5, random_state=0).fit_predict(X)
    >>> len(set(zip(labels, y)))
    2
    """

    parameter_constraints: ClassVar[Constraints] = {
        **NearestSample.parameter_constraints,
        "n_neighbors": Integer(1),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 10,
        n_init: int = 10,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, _ = self.start_fit()
        samples = self.load_samples(X, reset=True)
        P = self.keep_points(samples)
        eigenvectors, self.n_components_ = spectral_coordinates(
            P, self.n_clusters, random_state, n_neighbors=self.n_neighbors
        )
        H = torch.from_numpy(eigenvectors).to(samples.device)
        partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)  # Equation (2)
        self.report(Iteration(0, H, *partition[:3]))
        return self.finish_fit(H, partition, n_iter=0)

    def _doubts(self) -> list[str]:
        if self.n_clusters == 1 or self.n_components_ <= self.n_clusters:
            return super()._doubts()
        return [
            *super()._doubts(),
            f"The graph of {self.n_neighbors} nearest samples has {self.n_components_} connected components, "
            f"more than n_clusters={self.n_clusters}: which of them are a cluster is arbitrary. Try a larger "
            "n_neighbors.",
        ]
