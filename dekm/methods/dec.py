"""Deep Embedded Clustering (DEC), and IDEC and DCEC, which add a reconstruction term to its loss."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from math import nan
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from dekm.clustering.kmeans import assign, kmeans
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import fitting
from dekm.methods.continuation import Continuation
from dekm.methods.deep import DeepClusterer
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.soft_assignment import kl_divergence, soft_assignment, target_distribution
from dekm.methods.soft_reset import RESET_CONSTRAINTS, SoftResets, forget_momentum
from dekm.methods.validation import Choice, Constraints, Integer, Number
from dekm.metrics import label_change
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint, copy_values
from dekm.nn.device import default_modes
from dekm.nn.networks import Network
from dekm.nn.optimizers import SGD, Adam
from dekm.nn.training import EMBEDDING_BATCH, Loss, Step, batches, encode, train

LR = {"sgd": 0.01, "adam": 0.001}  # of DEC, and of IDEC and DCEC


class DEC(DeepClusterer):
    r"""Deep Embedded Clustering (DEC) [1]_, and IDEC [2]_ and DCEC [3]_, which keep the decoder.

    DEC minimizes over the encoder f and the centroids the divergence of Equation (2) of [1]_:

    .. math:: KL(P \| Q) = \frac{1}{b} \sum_{i=1}^b \sum_{j=1}^k p_{ij} \ln \frac{p_{ij}}{q_{ij}}

    where :math:`q_{ij}` is the soft assignment (`soft_assignment`) of the embedding :math:`f(x_i)` to the
    centroid :math:`\mu_j`, a row of ``cluster_centers_``, and :math:`p_{ij}` is the target computed from it
    (`target_distribution`), which is constant for `update_interval` steps. It is a sum over the clusters and
    a mean over the b samples of a batch. With a reconstruction term the loss is

    .. math:: \frac{1}{b d} \sum_{i=1}^b \|x_i - g(f(x_i))\|^2 + \gamma \, KL(P \| Q)

    over the decoder g as well, where :math:`\gamma` is `gamma` and the first term is a mean over the d values
    of a sample and over the batch: IDEC if the autoencoder is fully connected, DCEC if it is convolutional.
    The learned attributes are documented in `DeepClusterer` and `Clusterer`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    autoencoder : Autoencoder, FrozenEstimator or None, default=None
        The autoencoder to start from, see `DeepClusterer`; None is fully connected, d-500-500-2000-10.
    reconstruction : bool or "images", default=False
        Whether the loss has a reconstruction term; "images" adds it for images only, as DCEC does, which is
        DEC for other samples (Section IV-B of the DEKM paper).
    gamma : float, default=0.1
        Weight of the divergence; has no effect without the reconstruction term.
    update_interval : int, default=140
        Number of steps between two updates of the target P.
    batch_size : int, default=256
        Samples per step.
    optimizer : {"auto", "sgd", "adam"}, default="auto"
        "auto" is stochastic gradient descent for DEC and Adam with a reconstruction term.
    lr : float or "auto", default="auto"
        Learning rate; "auto" is 0.01 with "sgd" and 0.001 with "adam".
    momentum : float, default=0.9
        Momentum of "sgd".
    max_iter : int, default=142
        Maximum number of iterations of `update_interval` steps.
    tol : float, default=1e-3
        Stop when the fraction of samples whose cluster changed in an iteration is smaller.
    n_init : int, default=20
        Number of k-means++ initializations of the K-means that gives the first centroids.
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
        Called with an `Iteration` at every update of the target.
    progress : bool, default=False
        Whether to show a progress bar over the iterations.

    Warns
    -----
    ConvergenceWarning
        If the fit ends at `max_iter`, or if a cluster is empty at the end.

    References
    ----------
    .. [1] Xie, Girshick and Farhadi (2016). Unsupervised Deep Embedding for Clustering Analysis. ICML.
    .. [2] Guo, Gao, Liu and Yin (2017). Improved Deep Embedded Clustering with Local Structure Preservation.
       IJCAI.
    .. [3] Guo, Liu, Zhu and Yin (2017). Deep Clustering with Convolutional Autoencoders. ICONIP.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import DEC, Autoencoder
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> autoencoder = Autoencoder(embedding_dim=2, hidden=(8,), n_epochs=3)
    >>> dec = DEC(3, autoencoder=autoencoder, update_interval=2, tol=0.5, n_init=2, random_state=0).fit(X)
    >>> dec.labels_.shape, dec.cluster_centers_.shape
    ((60,), (3, 2))
    """

    parameter_constraints: ClassVar[Constraints] = {
        **DeepClusterer.parameter_constraints,
        **RESET_CONSTRAINTS,
        "reconstruction": Choice((True, False, "images")),
        "gamma": Number(0, inclusive=True),
        "update_interval": Integer(1),
        "batch_size": Integer(1),
        "optimizer": Choice(("auto", "sgd", "adam")),
        "lr": Number(0, inclusive=True, words=("auto",)),
        "momentum": Number(0, 1, inclusive=True),
        "max_iter": Integer(0),
        "tol": Number(0, 1, inclusive=True, closed=True),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        reconstruction: bool | Literal["images"] = False,
        gamma: float = 0.1,
        update_interval: int = 140,
        batch_size: int = 256,
        optimizer: Literal["auto", "sgd", "adam"] = "auto",
        lr: float | Literal["auto"] = "auto",
        momentum: float = 0.9,
        max_iter: int = 142,
        tol: float = 1e-3,
        n_init: int = 20,
        reset_interval: int = 0,
        reset_factor: float = 0.8,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.reconstruction = reconstruction
        self.gamma = gamma
        self.update_interval = update_interval
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.lr = lr
        self.momentum = momentum
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.reset_interval = reset_interval
        self.reset_factor = reset_factor
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration
        self.progress = progress

    @fitting
    def fit(self, X: Any, y: Any = None, *, checkpoint: Checkpoint = NO_CHECKPOINT) -> Self:
        """Cluster `X`; `y` is ignored. An interrupted fit continues from its `checkpoint`."""
        random_state, generator = self.start_fit()
        samples = self.load_samples(X, reset=True)
        network = self.pretrained_network(samples, random_state)
        self.encoder_ = encoder = network.encoder
        reconstruct = samples.ndim == 4 if self.reconstruction == "images" else self.reconstruction

        # Section 3.2: the initial centroids are those of K-means on the pretrained embedding.
        partition = kmeans(
            encode(encoder, samples), self.n_clusters, n_init=self.n_init, random_state=random_state
        )
        U = nn.Parameter(partition.centers.clone())
        # A CUDA graph reads the addresses that were captured, so P is changed in place below.
        P = samples.new_empty(len(samples), self.n_clusters)

        def loss_of(index: Tensor) -> Tensor:
            x = samples[index]
            h = encoder(x)
            divergence = kl_divergence(P[index], soft_assignment(h, U))  # Equations (1) and (2)
            return mse_loss(network.decoder(h), x) + self.gamma * divergence if reconstruct else divergence

        trained = network if reconstruct else encoder
        step = self._step(loss_of, [*trained.parameters(), U], network, reconstruct)
        stream = batches(
            len(samples), self.batch_size, generator=generator, reshuffle=False, device=samples.device
        )
        labels = partition.labels.clone()
        continuation = Continuation(self, checkpoint, step, {"labels": labels}, random_state)
        start = continuation.resume(stream, self.update_interval, n_iter=0, loss=nan)
        resets = SoftResets(self, samples, self.update_interval)
        changed, loss = nan, start["loss"]
        for n_iter in range(start["n_iter"], self.max_iter + 1):
            H = encode(encoder, samples)
            partition = assign(H, U.detach())  # the nearest centroid has the largest q
            if n_iter > 0:
                changed = label_change(labels, partition.labels, match=False)
            labels.copy_(partition.labels)
            self.report(Iteration(n_iter, H, *partition[:3], changed, loss))
            if (changed < self.tol and not resets.follow(n_iter)) or n_iter == self.max_iter:
                break
            if resets.due(n_iter):
                H, fresh = resets.recluster(random_state)
                copy_values({"labels": labels, "U": U}, {"labels": fresh.labels, "U": fresh.centers})
                forget_momentum(step, U)
            Q = torch.cat([soft_assignment(h, U.detach()) for h in H.split(EMBEDDING_BATCH)])
            P.copy_(target_distribution(Q))  # Equation (3)
            loss = train(step, islice(stream, self.update_interval))  # Equations (4) and (5)
            continuation.keep(n_iter=n_iter + 1, loss=loss)
        self.warn_unless_converged(changed, self.tol, self.max_iter)
        return self.finish_fit(H, partition, n_iter)

    @default_modes()
    def predict_proba(self, X: Any) -> np.ndarray:
        """Soft assignments Q of samples to clusters, Equation (1) of DEC's paper; float32 of shape (n, k)."""
        check_is_fitted(self)
        return soft_assignment(*self.embed_beside_centers(X)).cpu().numpy()

    def _step(
        self, loss: Loss, parameters: Sequence[nn.Parameter], network: Network, reconstruct: bool
    ) -> Step:
        name = self.optimizer
        if name == "auto":
            name = "adam" if reconstruct else "sgd"
        lr = LR[name] if self.lr == "auto" else float(self.lr)
        optimizer = Adam if name == "adam" else partial(SGD, momentum=self.momentum)
        return Step(loss, parameters, lr=lr, optimizer=optimizer, network=network)

    def published_autoencoder(self, samples: Float[Tensor, "n ..."]) -> Autoencoder:
        """Fully connected with e = 10."""
        return Autoencoder(architecture="mlp", device=self.device, progress=self.progress)
