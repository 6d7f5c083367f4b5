"""K-means on the samples and on their principal components (Section IV-B)."""

from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.decomposition import PCA
from torch import Tensor

from dekm.clustering.kmeans import kmeans
from dekm.errors import InputError
from dekm.methods.base import Clusterer, fitting
from dekm.methods.coordinates import fit_pca, pca_solver
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.persistence import Facts, Tensors, learned, set_learned, with_prefix, without_prefix
from dekm.methods.validation import Constraints, Number


class KMeans(Clusterer):
    r"""K-means on the samples themselves; images are vectors of their pixels.

    It minimizes the sum over the samples, not the mean (Equation (2)):

    .. math:: L_2 = \sum_{i=1}^k \sum_{x \in C_i} \|x - \mu_i\|^2

    where :math:`\mu_i` is a row of ``cluster_centers_`` and :math:`C_i` the set of the samples x whose
    ``labels_`` are i. The learned attributes are documented in `Clusterer`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    n_init : int, default=20
        Number of runs from k-means++ initializations, of which the best is kept.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` when K-means has ended.

    References
    ----------
    .. [1] Lloyd (1982). Least Squares Quantization in PCM. IEEE Transactions on Information Theory.
    .. [2] Arthur and Vassilvitskii (2007). k-means++: The Advantages of Careful Seeding. SODA.

    Examples
    --------
    >>> from dekm import KMeans
    >>> X = [[0, 0], [0, 1], [9, 9], [9, 8]]
    >>> k_means = KMeans(2, random_state=0).fit(X)
    >>> k_means.inertia_
    1.0
    >>> len(set(k_means.predict([[1, 0], [8, 9]])))
    2
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 20,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration

    @fitting
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, _ = self.start_fit()
        samples = self.load_samples(X, reset=True)
        self._learn_embedding(samples)
        H = self.embed(samples)
        partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)  # Equation (2)
        self.report(Iteration(0, H, *partition[:3]))
        return self.finish_fit(H, partition, n_iter=0)

    def _learn_embedding(self, samples: Float[Tensor, "n ..."]) -> None:
        """Fit the map from samples to embeddings; the samples are their own embedding here."""

    def embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n d"]:
        """The samples themselves as vectors."""
        # A copy: otherwise `embedding_` would be a view of the user's array.
        return samples.flatten(1).clone()


class PCAKMeans(KMeans):
    """K-means on the leading principal components.

    The embedding is the smallest number of principal components, not whitened, that explain a given fraction
    of the variance. K-means minimizes Equation (2), see `KMeans`, on it. The other learned attributes are
    documented in `Clusterer`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    variance : float, default=0.9
        Fraction of the variance to explain, between 0 and 1; the default is the paper's.
    n_init : int, default=20
        Number of runs from k-means++ initializations, of which the best is kept.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` when K-means has ended.

    Attributes
    ----------
    pca_ : sklearn.decomposition.PCA
        The fitted transformer.

    References
    ----------
    .. [1] Guo, Lin and Ye (2021). Deep Embedded K-Means Clustering. arXiv:2109.15149. Section IV-B.

    Examples
    --------
    >>> from dekm import PCAKMeans
    >>> X = [[0, 0, 1], [0, 1, 0], [9, 9, 1], [9, 8, 0]]
    >>> PCAKMeans(2, random_state=0).fit(X).embedding_.shape
    (4, 1)
    """

    parameter_constraints: ClassVar[Constraints] = {
        **KMeans.parameter_constraints,
        "variance": Number(0, maximum=1),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        variance: float = 0.9,
        n_init: int = 20,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
    ) -> None:
        super().__init__(
            n_clusters, n_init=n_init, device=device, random_state=random_state, on_iteration=on_iteration
        )
        self.variance = variance

    def _learn_embedding(self, samples: Float[Tensor, "n ..."]) -> None:
        if len(samples) < 2:
            raise InputError(f"n_samples={len(samples)} should be >= 2: PCA of one sample is not defined.")
        self.pca_ = fit_pca(samples.flatten(1).cpu().numpy(), self.variance)

    def embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        """The principal components of samples."""
        components = self.pca_.transform(samples.flatten(1).cpu().numpy())
        return torch.from_numpy(components.astype(np.float32)).to(samples.device)

    def _state(self) -> tuple[Tensors, Facts]:
        tensors, facts = super()._state()
        arrays, facts["pca"] = learned(self.pca_)
        return tensors | with_prefix("pca_.", arrays), facts

    def _restore(self, tensors: Tensors, facts: Facts) -> None:
        learned_pca = facts.pop("pca")
        self.pca_ = PCA(
            self.variance, svd_solver=pca_solver(learned_pca["n_samples_"], learned_pca["n_features_in_"])
        )
        set_learned(self.pca_, without_prefix("pca_.", tensors), learned_pca)
        # The arrays of a part have its name and a point before their own.
        super()._restore({name: value for name, value in tensors.items() if "." not in name}, facts)
