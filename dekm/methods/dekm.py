"""Deep Embedded K-Means (DEKM): Algorithm 1, the variant DEKM_F and the strategies of Section IV-F."""

from itertools import islice
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from dekm.clustering.kmeans import kmeans
from dekm.clustering.scatter import sorted_eigenvectors, within_class_scatter
from dekm.methods.base import Iteration, OnIteration
from dekm.methods.deep import DeepClusterer
from dekm.methods.validation import Choice, Constraints, Integer, Number
from dekm.metrics import label_change
from dekm.nn.device import precision_of_steps
from dekm.nn.training import Step, batches, encode, steps_per_epoch, train

# Steps between two runs of K-means in the authors' code; the paper says "some mini-batches".
STEPS_CONV = 40
STEPS_DENSE = 10


def representation_loss(
    H: Float[Tensor, "b e"], V: Float[Tensor, "e e"], Y_target: Float[Tensor, "b e"]
) -> Float[Tensor, ""]:
    r"""Equation (6) as a mean over a batch.

    .. math:: \frac{1}{b} \sum_{i=1}^b \|y_i - y_i'\|^2, \quad y_i = V h_i

    where :math:`h_i` is a row of `H`, `V` the transformation matrix and :math:`y_i'` a row of `Y_target`.
    """
    return ((H @ V.T - Y_target) ** 2).sum(1).mean()


def move_to_centroids(
    Y: Float[Tensor, "n e"], M: Float[Tensor, "k e"], labels: Int[Tensor, " n"], columns: list[int]
) -> Float[Tensor, "n e"]:
    """Target Y' of Equation (6): Y with some columns replaced by those of each sample's centroid in M."""
    Y_target = Y.clone()
    Y_target[:, columns] = M[labels][:, columns]
    return Y_target


class DEKM(DeepClusterer):
    r"""Deep Embedded K-Means (DEKM) [1]_, Algorithm 1.

    Every iteration runs K-means on the embedding H, computes the eigenvectors of the within-class scatter
    matrix :math:`S_w` (Equation (4)) and then minimizes Equation (6) over the encoder f:

    .. math:: L_4 = \sum_{i=1}^k \sum_{y \in C_i} \|y - y'\|^2, \quad y = V f(x)

    where x is a sample, :math:`C_i` is cluster i, and the rows of V are the eigenvectors by ascending
    eigenvalue. The target y' is the y before the update with its last element replaced by that of
    :math:`m_i = V \mu_i`, where :math:`\mu_i`, a row of ``cluster_centers_``, is the centroid. Equation (6)
    is a sum over the samples; a step minimizes its mean over a batch. The decoder is only used in the
    pretraining, line 1 of Algorithm 1. The learned attributes are documented in `DeepClusterer` and
    `Clusterer`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    autoencoder : Autoencoder, FrozenEstimator or None, default=None
        The autoencoder to start from, see `DeepClusterer`; None is convolutional with
        e = k for images, and fully connected with e = 10 for vectors.
    n_batches : int, "auto" or "pass", default="auto"
        Steps per iteration. "auto" is the authors' 40 for images and 10 for vectors; "pass" is one pass over
        all samples, the full-batch variant DEKM_F.
    batch_size : int, default=256
        Samples per step.
    lr : float, default=1e-3
        Learning rate of Adam.
    max_iter : int, default=350
        Maximum number of updates of the representation.
    tol : float, default=1e-3
        Stop when the fraction of samples whose cluster changed in an iteration is smaller.
    n_init : int, default=100
        Number of k-means++ initializations of the first K-means.
    n_init_update : int or "2n_iter", default=20
        The same of every later K-means; "2n_iter" is twice the number of Lloyd iterations of the previous
        K-means, as in the authors' code.
    space : {"Y", "H"}, default="Y"
        Space in which elements are replaced: Y = V H, or the embedding H itself (V is the identity).
    dims : {"last", "random", "all"}, default="last"
        Elements of y' that are replaced: the last, a random one per iteration, or all (Section IV-F).
    device : str, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` after every K-means.
    progress : bool, default=False
        Whether to show a progress bar over the iterations.

    Warns
    -----
    ConvergenceWarning
        If the fit ends at `max_iter`, or if a cluster is empty at the end.

    References
    ----------
    .. [1] Guo, Lin and Ye (2021). Deep Embedded K-Means Clustering. arXiv:2109.15149.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import DEKM, Autoencoder
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> autoencoder = Autoencoder(embedding_dim=2, hidden=(8,), n_epochs=3)
    >>> dekm = DEKM(3, autoencoder=autoencoder, tol=0.5, n_init=2, random_state=0).fit(X)
    >>> dekm.labels_.shape, dekm.cluster_centers_.shape
    ((60,), (3, 2))
    """

    parameter_constraints: ClassVar[Constraints] = {
        **DeepClusterer.parameter_constraints,
        "n_batches": Integer(1, words=("auto", "pass")),
        "batch_size": Integer(1),
        "lr": Number(0, inclusive=True),
        "max_iter": Integer(0),
        "tol": Number(0, inclusive=True),
        "n_init_update": Integer(1, words=("2n_iter",)),
        "space": Choice(("Y", "H")),
        "dims": Choice(("last", "random", "all")),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        n_batches: int | Literal["auto", "pass"] = "auto",
        batch_size: int = 256,
        lr: float = 1e-3,
        max_iter: int = 350,
        tol: float = 1e-3,
        n_init: int = 100,
        n_init_update: int | Literal["2n_iter"] = 20,
        space: Literal["Y", "H"] = "Y",
        dims: Literal["last", "random", "all"] = "last",
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.n_batches = n_batches
        self.batch_size = batch_size
        self.lr = lr
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.n_init_update = n_init_update
        self.space = space
        self.dims = dims
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, generator = self.start_fit()
        samples = self.load_samples(X, reset=True)
        n_batches = self._n_batches(samples)
        self.encoder_ = encoder = self.pretrained_network(samples, random_state).encoder  # line 1
        n, e = len(samples), self.autoencoder_.embedding_dim
        # A CUDA graph reads the addresses that were captured, so V and Y_target are changed in place below.
        V = torch.eye(e, device=samples.device)
        Y_target = torch.empty(n, e, device=samples.device)
        step = Step(
            lambda index: representation_loss(encoder(samples[index]), V, Y_target[index]),
            encoder.parameters(),
            lr=self.lr,
        )
        stream = batches(n, self.batch_size, generator=generator, reshuffle=False, device=samples.device)
        labels, loss, changed, n_init = None, float("nan"), float("nan"), self.n_init
        for n_iter in range(self.max_iter + 1):  # line 2
            H = encode(encoder, samples)  # line 3
            partition = kmeans(H, self.n_clusters, n_init=n_init, random_state=random_state)  # line 4
            if labels is not None:
                changed = label_change(labels, partition.labels, match=True)
            labels, U, inertia, _ = partition
            if self.space == "Y":
                V.copy_(sorted_eigenvectors(within_class_scatter(H, labels, U)))  # lines 5 and 6
            # V is overwritten in the next iteration, so the hook gets a copy that it may keep.
            self.report(Iteration(n_iter, H, labels, U, inertia, changed, loss, V.clone()))
            if changed < self.tol or n_iter == self.max_iter:
                break
            with precision_of_steps(H):  # as in the loss, so that only the replaced columns differ
                Y, M = H @ V.T, U @ V.T
            Y_target.copy_(move_to_centroids(Y, M, labels, self._columns(e, random_state)))
            loss = train(step, islice(stream, n_batches))  # line 7, Equation (6)
            n_init = self._n_init_update(partition.n_iter)
        self.warn_unless_converged(changed, self.tol, self.max_iter)
        return self.finish_fit(H, partition, n_iter)

    def _n_batches(self, samples: Float[Tensor, "n ..."]) -> int:
        if self.n_batches == "auto":
            return STEPS_CONV if samples.ndim == 4 else STEPS_DENSE
        if self.n_batches == "pass":
            return steps_per_epoch(len(samples), self.batch_size)
        return int(self.n_batches)

    def _n_init_update(self, n_iter: int) -> int:
        return max(1, 2 * n_iter) if self.n_init_update == "2n_iter" else int(self.n_init_update)

    def _columns(self, e: int, random_state: np.random.RandomState) -> list[int]:
        """The columns of the target that are replaced; "random" draws one at every call."""
        if self.dims == "random":
            return [int(random_state.randint(e))]
        return [e - 1] if self.dims == "last" else list(range(e))
