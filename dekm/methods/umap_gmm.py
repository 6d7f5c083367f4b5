"""A Gaussian mixture on a UMAP embedding of the samples, which the paper does not have."""

from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from dekm.clustering.kmeans import Partition, inertia_of
from dekm.methods.base import fitting
from dekm.methods.coordinates import load_umap, umap_coordinates
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.mixture import fit_mixture
from dekm.methods.nearest import NearestSample
from dekm.methods.validation import Constraints, Integer, Number


class UMAPGMM(NearestSample):
    """A mixture of k Gaussians on a UMAP embedding of the samples in k dimensions.

    UMAP [1]_ learns the embedding from the graph of nearest samples, and the mixture, whose Gaussians have
    covariance matrices of their own, is fitted by expectation maximization; the label of a sample is its most
    probable Gaussian. The defaults are those of N2D [2]_, whose embedding has as many dimensions as clusters.
    Distances are Euclidean; for texts, whose rows have length 1, the nearest samples are those of the largest
    cosine. All of it is computed on the CPU by one thread, which makes it deterministic. It needs the package
    umap-learn. The learned attributes are documented in `Clusterer`; ``cluster_centers_`` are the means of
    the Gaussians, and what happens to new samples is in `NearestSample`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k, and of dimensions of the embedding.
    n_neighbors : int, default=20
        Number of nearest samples of each, itself included; all of them if there are fewer.
    min_dist : float, default=0.0
        Distance of embedded samples below which UMAP does not attract them, less than 1.
    n_epochs : int or "auto", default="auto"
        Passes of UMAP over the edges of its graph; "auto" is 500 for at most 10,000 samples, otherwise 200.
    n_init : int, default=1
        Number of runs of expectation maximization from K-means, of which the best is kept.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N"; it changes nothing here.
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` when the mixture is fitted.

    References
    ----------
    .. [1] McInnes, Healy and Melville (2018). UMAP: Uniform Manifold Approximation and Projection for
       Dimension Reduction. arXiv:1802.03426.
    .. [2] McConville, Santos-Rodriguez, Piechocki and Craddock (2021). N2D: (Not Too) Deep Clustering via
       Clustering the Local Manifold of an Autoencoded Embedding. ICPR 2020. arXiv:1908.05968.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import UMAPGMM
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> UMAPGMM(3, n_epochs=20, random_state=0).fit(X).embedding_.shape
    (60, 3)
    """

    parameter_constraints: ClassVar[Constraints] = {
        **NearestSample.parameter_constraints,
        "n_neighbors": Integer(2),
        "min_dist": Number(0, maximum=1, inclusive=True),
        "n_epochs": Integer(1, words=("auto",)),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 20,
        min_dist: float = 0.0,
        n_epochs: int | str = "auto",
        n_init: int = 1,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist
        self.n_epochs = n_epochs
        self.n_init = n_init
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        load_umap()  # before the pretraining of N2D
        random_state, _ = self.start_fit()
        samples = self.load_samples(X, reset=True)
        self._start(samples, random_state)
        coordinates = umap_coordinates(
            self.keep_points(samples),
            self.n_clusters,
            int(random_state.randint(2**31 - 1)),
            n_neighbors=self.n_neighbors,
            min_dist=self.min_dist,
            n_epochs=None if self.n_epochs == "auto" else int(self.n_epochs),
        )
        H = torch.from_numpy(coordinates).to(samples.device)
        partition = gaussian_mixture(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        self.report(Iteration(0, H, *partition[:3]))
        return self.finish_fit(H, partition, n_iter=0)

    def _start(self, samples: Float[Tensor, "n ..."], random_state: np.random.RandomState) -> None:
        """Learn what `points` needs; the samples themselves need nothing."""


def gaussian_mixture(
    H: Float[Tensor, "n e"], n_clusters: int, *, n_init: int, random_state: np.random.RandomState
) -> Partition:
    """The most probable of k Gaussians with full covariance matrices; the centers are their means.

    `InputError` if the points do not determine so many Gaussians.
    """
    settings: dict[str, Any] = {"covariance_type": "full", "n_init": n_init}
    mixture, points = fit_mixture(H, n_clusters, **settings, random_state=random_state)
    labels = mixture.predict(points)
    centers = torch.from_numpy(mixture.means_.astype(np.float32)).to(H.device)
    members = torch.from_numpy(labels.astype(np.int64)).to(H.device)
    return Partition(members, centers, inertia_of(H, centers, members), mixture.n_iter_)
