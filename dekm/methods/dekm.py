"""Deep Embedded K-Means: Algorithm 1, its full-batch variant DEKM_F, the strategies of Section IV-F."""

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
from dekm.methods.validation import check_choice
from dekm.metrics import label_change
from dekm.nn.device import precision_of_steps
from dekm.nn.training import Step, batches, encode, steps_per_epoch, train

# Optimization steps between two K-means in the authors' code; the paper says "some mini-batches".
STEPS_CONV = 40
STEPS_DENSE = 10


def representation_loss(
    H: Float[Tensor, "b e"], V: Float[Tensor, "e e"], Y_target: Float[Tensor, "b e"]
) -> Float[Tensor, ""]:
    """Equation (6), L_4: squared distance of y = V h to its target y', mean over the batch."""
    return ((H @ V.T - Y_target) ** 2).sum(1).mean()


def move_to_centroids(
    Y: Float[Tensor, "n e"], M: Float[Tensor, "k e"], labels: Int[Tensor, " n"], columns: list[int]
) -> Float[Tensor, "n e"]:
    """The target Y' of Equation (6): Y with `columns` replaced by those of each sample's centroid."""
    Y_target = Y.clone()
    Y_target[:, columns] = M[labels][:, columns]
    return Y_target


class DEKM(DeepClusterer):
    """Deep Embedded K-Means (Guo, Lin and Ye, 2021), Algorithm 1.

    Parameters
    ----------
    n_clusters : k
    autoencoder : see `DeepClusterer`
    n_batches : optimization steps between two K-means; "auto" takes the authors' 40 for images and 10
        for vectors, "pass" takes one pass over all samples: the full-batch strategy, DEKM_F
    batch_size, lr : of Adam
    max_iter : at most so many updates of the representation
    tol : stop when a smaller share of the samples changes its cluster between two iterations
    n_init : k-means++ starts of the first K-means
    n_init_update : k-means++ starts of each later one; "2n_iter" takes twice the Lloyd iterations of the one
        before, as the authors' code
    space : "Y" (basis of the scatter matrix's eigenvectors) or "H" (the embedding itself)
    dims : which coordinates move to the centroid: "last", one "random" one per iteration, or "all"
    device : "auto", "cpu", "cuda" or "cuda:N"
    random_state : int, RandomState or None
    on_iteration : called with an `Iteration` after each K-means
    progress : show a bar over the iterations

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ends the fit.
    """

    _WORDS: ClassVar = {"n_batches": ("auto", "pass"), "n_init_update": ("2n_iter",)}

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
        random_state, generator = self._start()
        samples = self._load(X, reset=True)
        n_batches = self._n_batches(samples)
        self.encoder_ = encoder = self._pretrained(samples, random_state).encoder  # line 1
        n, e = len(samples), self.autoencoder_.embedding_dim
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
                changed = label_change(labels.cpu(), partition.labels.cpu())
            labels, U, inertia, _ = partition
            if self.space == "Y":
                V.copy_(sorted_eigenvectors(within_class_scatter(H, labels, U)))  # lines 5 and 6
            self._report(Iteration(n_iter, H, labels, U, inertia, changed, loss, V.clone()))
            if changed < self.tol or n_iter == self.max_iter:
                break
            with precision_of_steps(H):
                Y, M = H @ V.T, U @ V.T
            Y_target.copy_(move_to_centroids(Y, M, labels, self._columns(e, random_state)))
            loss = train(step, islice(stream, n_batches))  # line 7
            n_init = self._n_init_update(partition.n_iter)
        self._warn_unless_converged(changed, self.tol, self.max_iter)
        return self._finish(H, partition, n_iter)

    def _n_batches(self, samples: Float[Tensor, "n ..."]) -> int:
        check_choice("space", self.space, ("Y", "H"))
        check_choice("dims", self.dims, ("last", "random", "all"))
        if self.n_batches == "auto":
            return STEPS_CONV if samples.ndim == 4 else STEPS_DENSE
        if self.n_batches == "pass":
            return steps_per_epoch(len(samples), self.batch_size)
        return int(self.n_batches)

    def _n_init_update(self, n_iter: int) -> int:
        return max(1, 2 * n_iter) if self.n_init_update == "2n_iter" else int(self.n_init_update)

    def _columns(self, e: int, random_state: np.random.RandomState) -> list[int]:
        """The coordinates that move; a random one is drawn once per iteration."""
        if self.dims == "random":
            return [int(random_state.randint(e))]
        return [e - 1] if self.dims == "last" else list(range(e))
