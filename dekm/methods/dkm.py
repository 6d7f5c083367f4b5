"""Deep K-Means (DKM): a differentiable K-means loss, trained together with the autoencoder."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from dekm.clustering.kmeans import assign, kmeans
from dekm.errors import InputError
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import fitting
from dekm.methods.continuation import Continuation
from dekm.methods.deep import DeepClusterer
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.soft_kmeans import annealed_alphas, soft_kmeans, soft_kmeans_loss
from dekm.methods.validation import Choice, Constraints, Integer, Number
from dekm.metrics import label_change
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint
from dekm.nn.device import default_modes
from dekm.nn.training import Step, batches, encode, squared_error, steps_per_epoch, train

N_ANNEALED = 40
N_CONSTANT = 20


class DKM(DeepClusterer):
    r"""Deep K-Means (DKM) [1]_, with a pretrained autoencoder (DKM^p) or with annealing (DKM^a).

    It minimizes over the encoder f, the decoder g and the centers :math:`\mu_j`

    .. math:: \frac{1}{b} \sum_{i=1}^b \Big( \|x_i - g(f(x_i))\|^2
        + \lambda \sum_{j=1}^k s_{ij} \|f(x_i) - \mu_j\|^2 \Big)

    where :math:`s_{ij}` is the softmax over j of :math:`-\alpha \|f(x_i) - \mu_j\|^2` (`soft_kmeans_loss`),
    :math:`\mu_j` a row of ``cluster_centers_``, :math:`\lambda` is `lam` and :math:`\alpha` is `alpha`. Both
    terms are sums over the values of a sample and means over the b samples of a batch. The learned attributes
    are documented in `DeepClusterer` and `Clusterer`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    autoencoder : Autoencoder, FrozenEstimator or None, default=None
        The autoencoder to start from, see `DeepClusterer`; None is fully connected, d-500-500-2000-k.
    annealed : bool, default=False
        Whether alpha grows with every iteration (`annealed_alphas`) and the autoencoder is not pretrained;
        otherwise alpha is constant.
    alpha : float, default=1000.0
        The constant inverse temperature.
    lam : float, default=1.0
        Weight lambda of the K-means term.
    epochs_per_iter : int, default=5
        Passes over the samples per iteration, all with the same alpha.
    max_iter : int or "auto", default="auto"
        Number of iterations, there is no other stopping criterion; "auto" is the authors' 40 with annealing
        and 20 without.
    batch_size : int, default=256
        Samples per step.
    lr : float, default=1e-3
        Learning rate of Adam.
    n_init : int, default=10
        Number of k-means++ initializations of the first centers; those of annealing are uniform in [-1, 1].
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` after every iteration.
    progress : bool, default=False
        Whether to show a progress bar over the iterations.

    Warns
    -----
    ConvergenceWarning
        If a cluster is empty at the end.

    References
    ----------
    .. [1] Fard, Thonet and Gaussier (2020). Deep k-Means: Jointly clustering with k-Means and learning
       representations. Pattern Recognition Letters.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import DKM, Autoencoder
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> autoencoder = Autoencoder(embedding_dim=2, hidden=(8,), n_epochs=3)
    >>> dkm = DKM(3, autoencoder=autoencoder, lam=0.1, max_iter=2, n_init=2, random_state=0).fit(X)
    >>> dkm.labels_.shape, dkm.cluster_centers_.shape
    ((60,), (3, 2))
    """

    parameter_constraints: ClassVar[Constraints] = {
        **DeepClusterer.parameter_constraints,
        "annealed": Choice((True, False)),
        "alpha": Number(0),
        "lam": Number(0, inclusive=True),
        "epochs_per_iter": Integer(1),
        "max_iter": Integer(0, words=("auto",)),
        "batch_size": Integer(1),
        "lr": Number(0, inclusive=True),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        annealed: bool = False,
        alpha: float = 1000.0,
        lam: float = 1.0,
        epochs_per_iter: int = 5,
        max_iter: int | Literal["auto"] = "auto",
        batch_size: int = 256,
        lr: float = 1e-3,
        n_init: int = 10,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.annealed = annealed
        self.alpha = alpha
        self.lam = lam
        self.epochs_per_iter = epochs_per_iter
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.lr = lr
        self.n_init = n_init
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration
        self.progress = progress

    @fitting
    def fit(self, X: Any, y: Any = None, *, checkpoint: Checkpoint = NO_CHECKPOINT) -> Self:
        """Cluster `X`; `y` is ignored. An interrupted fit continues from its `checkpoint`."""
        random_state, generator = self.start_fit()
        if self.annealed and isinstance(self.autoencoder, FrozenEstimator):
            raise InputError("autoencoder is fitted; with annealed=True it should be unfitted, or None.")
        alphas = self._alphas()
        samples = self.load_samples(X, reset=True)
        network = self.pretrained_network(samples, random_state, n_epochs=0 if self.annealed else None)
        self.encoder_ = encoder = network.encoder
        H = encode(encoder, samples)
        if self.annealed:
            # Drawn on the CPU, so that all devices have the same centers; uniform in [-1, 1].
            draws = torch.rand(H[: self.n_clusters].shape, generator=generator, dtype=H.dtype, device="cpu")
            partition = assign(H, (2 * draws - 1).to(H.device))
        else:
            partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        self.report(Iteration(0, H, *partition[:3]))

        U = nn.Parameter(partition.centers.clone())
        # A CUDA graph reads the addresses that were captured, so alpha is a tensor that is filled in place.
        alpha = samples.new_empty(())

        def loss_of(index: Tensor) -> Tensor:
            x = samples[index]
            h = encoder(x)
            return squared_error(network.decoder(h), x) + self.lam * soft_kmeans_loss(h, U, alpha)

        step = Step(loss_of, [*network.parameters(), U], lr=self.lr, network=network)
        stream = batches(
            len(samples), self.batch_size, generator=generator, reshuffle=True, device=samples.device
        )
        n_steps = self.epochs_per_iter * steps_per_epoch(len(samples), self.batch_size)
        labels = partition.labels.clone()
        continuation = Continuation(self, checkpoint, step, {"labels": labels}, random_state)
        finished = continuation.resume(stream, n_steps)["n_iter"]
        for n_iter, value in enumerate(alphas[finished:], start=finished + 1):
            alpha.fill_(value)  # Section 3.2
            loss = train(step, islice(stream, n_steps))
            H = encode(encoder, samples)
            partition = assign(H, U.detach())
            changed = label_change(labels, partition.labels, match=False)
            labels.copy_(partition.labels)
            self.report(Iteration(n_iter, H, *partition[:3], changed, loss))
            if n_iter < len(alphas):
                continuation.keep(n_iter=n_iter)
        return self.finish_fit(H, partition, len(alphas))

    @default_modes()
    def predict_proba(self, X: Any) -> np.ndarray:
        """Soft assignments of samples to clusters under the last alpha; float32 of shape (n, k)."""
        check_is_fitted(self)
        alpha = [self.alpha, *self._alphas()][-1]
        return soft_kmeans(*self.embed_beside_centers(X), alpha).cpu().numpy()

    @property
    def planned_iterations(self) -> int:
        """Number of iterations of a fit."""
        return len(self._alphas())

    def _alphas(self) -> Sequence[float]:
        """The inverse temperature of every iteration."""
        if self.annealed:
            return annealed_alphas(N_ANNEALED if self.max_iter == "auto" else int(self.max_iter))
        return [self.alpha] * (N_CONSTANT if self.max_iter == "auto" else int(self.max_iter))

    def published_autoencoder(self, samples: Float[Tensor, "n ..."]) -> Autoencoder:
        """Fully connected with e = k."""
        return Autoencoder(
            architecture="mlp", embedding_dim=self.n_clusters, device=self.device, progress=self.progress
        )
