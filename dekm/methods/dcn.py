"""Deep Clustering Network (DCN): alternating updates of an autoencoder and of K-means on its embedding."""

from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from dekm.clustering.kmeans import kmeans, nearest_center
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import fitting
from dekm.methods.continuation import Continuation
from dekm.methods.deep import DeepClusterer
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.soft_reset import RESET_CONSTRAINTS, SoftResets
from dekm.methods.validation import Constraints, Integer, Number
from dekm.metrics import label_change
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint, copy_values
from dekm.nn.training import Step, batches, encode, squared_error, steps_per_epoch, train

FIRST_COUNT = 100  # of every cluster, as in the authors' code


def move_centers(
    U: Float[Tensor, "k e"], counts: Int[Tensor, " k"], H: Float[Tensor, "b e"], labels: Int[Tensor, " b"]
) -> None:
    r"""Update the centers by the samples of a batch, in place: Equation (8) of Yang et al. (2017).

    Every sample h of a cluster increases the count n of the cluster by one and then moves its center c to
    :math:`(1 - 1/n) c + h/n`, so it adds h to the product :math:`n c`. The m samples of a batch together,
    in any order, move the center to

    .. math:: \frac{n c + \sum h}{n + m} = c + \frac{\sum h - m c}{n + m}

    which is computed in float64, because float32 products are TF32 in the steps on a GPU. `U` has the centers
    c and `counts` their counts n; both are changed.
    """
    members = one_hot(labels, len(U)).double()
    sizes = members.sum(0)
    counts += sizes.long()
    U += ((members.T @ H.double() - sizes[:, None] * U) / counts[:, None]).to(U.dtype)


class DCN(DeepClusterer):
    r"""Deep Clustering Network (DCN) [1]_.

    It minimizes over the autoencoder, the centers and the labels, Equation (4) of [1]_:

    .. math:: \frac{1}{b} \sum_{i=1}^b \Big( \|x_i - g(f(x_i))\|^2
        + \frac{\lambda}{2} \|f(x_i) - \mu_{a_i}\|^2 \Big)

    where f is the encoder, g the decoder, :math:`\mu_j` a row of ``cluster_centers_``, :math:`a_i` the label
    of the sample :math:`x_i`, and :math:`\lambda` is `lam`. Both terms are sums over the values of a sample
    and means over the b samples of a batch. Every batch updates first the autoencoder, then the labels of
    the batch, then the centers; after every iteration K-means updates all labels and centers. The learned
    attributes are documented in `DeepClusterer` and `Clusterer`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    autoencoder : Autoencoder, FrozenEstimator or None, default=None
        The autoencoder to start from, see `DeepClusterer`; None is fully connected, d-500-500-2000-10.
    lam : float, default=1.0
        Weight lambda of the K-means term.
    epochs_per_iter : int, default=10
        Passes over the samples per iteration.
    max_iter : int, default=5
        Number of iterations; there is no other stopping criterion.
    batch_size : int, default=256
        Samples per step.
    lr : float, default=1e-4
        Learning rate of Adam.
    n_init : int, default=10
        Number of k-means++ initializations of the first K-means; the later ones start from the current
        centers.
    reset_interval : int, default=0
        Passes over the samples between two soft resets of the encoder with a new K-means, as in BRB, see
        `dekm.methods.soft_reset`; 0 resets never. A reset waits for the end of an iteration.
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
        If a cluster is empty at the end.

    References
    ----------
    .. [1] Yang, Fu, Sidiropoulos and Hong (2017). Towards K-means-friendly Spaces: Simultaneous Deep Learning
       and Clustering. ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import DCN, Autoencoder
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> autoencoder = Autoencoder(embedding_dim=2, hidden=(8,), n_epochs=3)
    >>> dcn = DCN(3, autoencoder=autoencoder, epochs_per_iter=1, max_iter=2, n_init=2, random_state=0).fit(X)
    >>> dcn.labels_.shape, dcn.cluster_centers_.shape
    ((60,), (3, 2))
    """

    parameter_constraints: ClassVar[Constraints] = {
        **DeepClusterer.parameter_constraints,
        **RESET_CONSTRAINTS,
        "lam": Number(0, inclusive=True),
        "epochs_per_iter": Integer(1),
        "max_iter": Integer(0),
        "batch_size": Integer(1),
        "lr": Number(0, inclusive=True),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        lam: float = 1.0,
        epochs_per_iter: int = 10,
        max_iter: int = 5,
        batch_size: int = 256,
        lr: float = 1e-4,
        n_init: int = 10,
        reset_interval: int = 0,
        reset_factor: float = 0.8,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.lam = lam
        self.epochs_per_iter = epochs_per_iter
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.lr = lr
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
        H = encode(encoder, samples)
        partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        self.report(Iteration(0, H, *partition[:3]))

        # A CUDA graph reads the addresses that were captured, so U, labels and counts are changed in place.
        U, labels = partition.centers.clone(), partition.labels.clone()
        counts = torch.full((self.n_clusters,), FIRST_COUNT, device=samples.device)

        def loss_of(index: Tensor) -> Tensor:  # Equation (5): labels and centers are fixed
            x = samples[index]
            h = encoder(x)
            return squared_error(network.decoder(h), x) + self.lam / 2 * squared_error(h, U[labels[index]])

        def assign_and_move(index: Tensor) -> None:
            h = encode(encoder, samples[index])
            labels[index] = nearest_center(h, U)  # Equation (7)
            move_centers(U, counts, h, labels[index])  # Equation (8)

        moved: dict[str, Any] = {"after": assign_and_move, "changed": (U, labels, counts)}
        step = Step(loss_of, network.parameters(), lr=self.lr, network=network, **moved)
        stream = batches(
            len(samples), self.batch_size, generator=generator, reshuffle=True, device=samples.device
        )
        n_steps = self.epochs_per_iter * steps_per_epoch(len(samples), self.batch_size)
        live = {"U": U, "labels": labels, "counts": counts}
        continuation = Continuation(self, checkpoint, step, live, random_state)
        finished = continuation.resume(stream, n_steps)["n_iter"]
        resets = SoftResets(self, samples, n_steps)
        for n_iter in range(finished + 1, self.max_iter + 1):
            if resets.due(n_iter - 1):
                _, partition = resets.recluster(random_state)
                copy_values({"U": U, "labels": labels}, {"U": partition.centers, "labels": partition.labels})
            previous = labels.clone()
            loss = train(step, islice(stream, n_steps))  # Equation (6), by Adam
            H = encode(encoder, samples)
            # As in the authors' code: K-means on all samples replaces the labels and centers of the batches.
            partition = kmeans(H, self.n_clusters, n_init=1, random_state=random_state, init=U)
            U.copy_(partition.centers)
            labels.copy_(partition.labels)
            changed = label_change(previous, labels, match=False)
            self.report(Iteration(n_iter, H, *partition[:3], changed, loss))
            if n_iter < self.max_iter:
                continuation.keep(n_iter=n_iter)
        return self.finish_fit(H, partition, self.max_iter)

    def published_autoencoder(self, samples: Float[Tensor, "n ..."]) -> Autoencoder:
        """Fully connected with e = 10."""
        return Autoencoder(architecture="mlp", device=self.device, progress=self.progress)
