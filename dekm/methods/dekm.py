"""Deep Embedded K-Means (DEKM): Algorithm 1, the variant DEKM_F and the strategies of Section IV-F."""

from collections.abc import Iterator
from itertools import count, islice
from math import nan
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from dekm.clustering.kmeans import Partition, kmeans, kmeans_update
from dekm.clustering.scatter import sorted_eigenvectors, within_class_scatter
from dekm.errors import InputError
from dekm.methods.base import fitting
from dekm.methods.continuation import Continuation
from dekm.methods.deep import DeepClusterer
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.representation import move_to_centroids, representation_loss
from dekm.methods.soft_reset import RESET_CONSTRAINTS, SoftResets
from dekm.methods.validation import MOST_RESTARTS, Choice, Constraints, Integer, Number
from dekm.metrics import label_change
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint, copy_values
from dekm.nn.device import precision_of_steps
from dekm.nn.networks import Network
from dekm.nn.training import Loss, Step, batches, encode, squared_error, steps_per_epoch, train

MARGIN = 1e-4  # relative difference of inertia up to which two partitions count as equally good


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
    n_batches : int or "pass", default=40
        Steps per iteration; 40 for images and 10 for text in the authors' code. "pass" is the full-batch
        variant DEKM_F: `n_passes` passes over all samples.
    n_passes : int, default=1
        Passes per iteration of DEKM_F.
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
    init_update : {"previous", "fresh"}, default="previous"
        How every later K-means starts: "previous" from the means of the previous clusters and from k-means++
        initializations, which win only if their inertia is smaller by more than 0.01 %, so that the labels
        settle; "fresh" from k-means++ initializations alone, as in the authors' code.
    n_init_update : int or "2n_iter", default=5
        Number of these k-means++ initializations, at least 1 with "fresh"; "2n_iter" is twice the number of
        Lloyd iterations of the previous K-means, as in the authors' code.
    reconstruction : bool, default=False
        Whether the reconstruction error is added to the loss, as in the authors' code of June 2021: the mean
        over the e elements of y plus the mean over the d values of x. As Equation (6) stays a sum over the
        elements, Equation (1) is added with the weight e/d.
    shuffle : bool, default=True
        Whether the batches take the samples in an order that is drawn once; False keeps their order.
    space : {"Y", "H"}, default="Y"
        Space in which elements are replaced: Y = V H, or the embedding H itself (V is the identity).
    dims : {"last", "random", "all"}, default="last"
        Elements of y' that are replaced: the last, a random one per iteration, or all (Section IV-F).
    reset_interval : int, default=0
        Passes over the samples between two soft resets of the encoder with a new K-means, as in BRB, see
        `dekm.methods.soft_reset`; 0 resets never. `tol` then ends a fit after the last reset only.
    reset_factor : float, default=0.8
        Weight of the encoder's own weights in a soft reset; the rest is that of new initial weights.
    device : str or torch.device, default="auto"
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
        **RESET_CONSTRAINTS,
        "n_batches": Integer(1, words=("pass",)),
        "n_passes": Integer(1),
        "batch_size": Integer(1),
        "lr": Number(0, inclusive=True),
        "max_iter": Integer(0),
        "tol": Number(0, 1, inclusive=True, closed=True),
        "init_update": Choice(("previous", "fresh")),
        "n_init_update": Integer(0, words=("2n_iter",), maximum=MOST_RESTARTS),
        "reconstruction": Choice((True, False)),
        "shuffle": Choice((True, False)),
        "space": Choice(("Y", "H")),
        "dims": Choice(("last", "random", "all")),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        n_batches: int | Literal["pass"] = 40,
        n_passes: int = 1,
        batch_size: int = 256,
        lr: float = 1e-3,
        max_iter: int = 350,
        tol: float = 1e-3,
        n_init: int = 100,
        init_update: Literal["previous", "fresh"] = "previous",
        n_init_update: int | Literal["2n_iter"] = 5,
        reconstruction: bool = False,
        shuffle: bool = True,
        space: Literal["Y", "H"] = "Y",
        dims: Literal["last", "random", "all"] = "last",
        reset_interval: int = 0,
        reset_factor: float = 0.8,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.n_batches = n_batches
        self.n_passes = n_passes
        self.batch_size = batch_size
        self.lr = lr
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.init_update = init_update
        self.n_init_update = n_init_update
        self.reconstruction = reconstruction
        self.shuffle = shuffle
        self.space = space
        self.dims = dims
        self.reset_interval = reset_interval
        self.reset_factor = reset_factor
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration
        self.progress = progress

    @fitting
    def fit(self, X: Any, y: Any = None, *, checkpoint: Checkpoint = NO_CHECKPOINT) -> Self:
        """Cluster `X`; `y` is ignored. An interrupted fit continues from its `checkpoint`."""
        if self.init_update == "fresh" and self.n_init_update == 0:
            raise InputError("n_init_update=0 should be >= 1 with init_update='fresh'.")
        random_state, generator = self.start_fit()
        samples = self.load_samples(X, reset=True)
        network = self.pretrained_network(samples, random_state)  # line 1
        self.encoder_ = encoder = network.encoder
        n, e = len(samples), self.autoencoder_.embedding_dim
        # A CUDA graph reads the addresses that were captured, so V and Y_target are changed in place below.
        V = torch.eye(e, dtype=samples.dtype, device=samples.device)
        Y_target = samples.new_empty(n, e)

        loss_of = self._loss(network, samples, V, Y_target)
        trained = network if self.reconstruction else encoder
        step = Step(loss_of, trained.parameters(), lr=self.lr, network=network)
        stream = self._batches(n, generator, samples.device)
        live = {
            "labels": torch.empty(n, dtype=torch.int64, device=samples.device),
            "centers": torch.empty(self.n_clusters, e, device=samples.device),
        }
        continuation = Continuation(self, checkpoint, step, live, random_state)
        n_steps = self.steps_of_iteration(n)
        start = continuation.resume(stream, n_steps, n_iter=0, loss=nan, inertia=nan, n_lloyd=0)
        resets = SoftResets(self, samples, n_steps)
        previous, changed, loss = None, nan, start["loss"]
        if start["n_iter"] > 0:
            previous = Partition(live["labels"], live["centers"], start["inertia"], start["n_lloyd"])
        for n_iter in range(start["n_iter"], self.max_iter + 1):  # line 2
            H = encode(encoder, samples)  # line 3
            partition = self._partition(H, previous, random_state)  # line 4
            if previous is not None:
                changed = label_change(previous.labels, partition.labels, match=True)
            self._rotate(V, H, partition)  # lines 5 and 6
            # V is overwritten in the next iteration, so the hook gets a copy that it may keep.
            self.report(Iteration(n_iter, H, *partition[:3], changed, loss, V.clone()))
            if (changed < self.tol and not resets.follow(n_iter)) or n_iter == self.max_iter:
                break
            previous = partition
            if resets.due(n_iter):
                H, previous = resets.recluster(random_state)
                self._rotate(V, H, previous)
            labels, U, inertia, n_lloyd = previous
            with precision_of_steps(H):  # as in the loss, so that only the replaced columns differ
                Y_target.copy_(move_to_centroids(H @ V.T, U @ V.T, labels, self._columns(e, random_state)))
            del H  # its memory is free for the next embedding
            loss = train(step, islice(stream, n_steps))  # line 7
            copy_values(live, {"labels": labels, "centers": U})
            continuation.keep(n_iter=n_iter + 1, loss=loss, inertia=inertia, n_lloyd=n_lloyd)
        self.warn_unless_converged(changed, self.tol, self.max_iter)
        return self.finish_fit(H, partition, n_iter)

    def _loss(
        self,
        network: Network,
        samples: Float[Tensor, "n ..."],
        V: Float[Tensor, "e e"],
        Y_target: Float[Tensor, "n e"],
    ) -> Loss:
        """Equation (6), and Equation (1) with the weight e/d if the parameter `reconstruction` says so."""
        weight = V.shape[0] / samples[0].numel()

        def loss_of(index: Tensor) -> Tensor:
            x = samples[index]
            h = network.encoder(x)
            loss = representation_loss(h, V, Y_target[index])
            return loss + weight * squared_error(network.decoder(h), x) if self.reconstruction else loss

        return loss_of

    def steps_of_iteration(self, n_samples: int) -> int:
        """Number of steps between two runs of K-means."""
        in_a_pass = steps_per_epoch(n_samples, self.batch_size)
        return self.n_passes * in_a_pass if self.n_batches == "pass" else int(self.n_batches)

    def _batches(
        self, n: int, generator: torch.Generator, device: torch.device
    ) -> Iterator[Int[Tensor, " b"]]:
        if self.shuffle:
            return batches(n, self.batch_size, generator=generator, reshuffle=False, device=device)
        size = min(self.batch_size, n)
        return (torch.arange(start, start + size, device=device) % n for start in count(step=size))

    def _partition(
        self, H: Float[Tensor, "n e"], previous: Partition | None, random_state: np.random.RandomState
    ) -> Partition:
        if previous is None:
            return kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        n_init = max(1, 2 * previous.n_iter) if self.n_init_update == "2n_iter" else int(self.n_init_update)
        if self.init_update == "fresh":
            return kmeans(H, self.n_clusters, n_init=n_init, random_state=random_state)
        return kmeans_update(H, previous, n_init=n_init, margin=MARGIN, random_state=random_state)

    def _rotate(self, V: Float[Tensor, "e e"], H: Float[Tensor, "n e"], partition: Partition) -> None:
        """Set V in place to the eigenvectors of S_w; in the space H it stays the identity."""
        if self.space == "Y":
            V.copy_(sorted_eigenvectors(within_class_scatter(H, partition.labels, partition.centers)))

    def _columns(self, e: int, random_state: np.random.RandomState) -> list[int]:
        """The columns of the target that are replaced; "random" draws one at every call."""
        if self.dims == "random":
            return [int(random_state.randint(e))]
        return [e - 1] if self.dims == "last" else list(range(e))
