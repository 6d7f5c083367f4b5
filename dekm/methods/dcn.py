"""Deep Clustering Network: an autoencoder and K-means on its embedding, learned in turns."""

from itertools import islice
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from dekm.clustering.kmeans import kmeans, nearest_center
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Iteration, OnIteration
from dekm.methods.deep import DeepClusterer, share_changed
from dekm.nn.training import Step, batches, encode, squared_error, steps_per_epoch, train

FIRST_COUNT = 100


def move_centers(
    U: Float[Tensor, "k e"], counts: Int[Tensor, " k"], H: Float[Tensor, "b e"], labels: Int[Tensor, " b"]
) -> None:
    r"""Draw each center to the samples of a batch that it was assigned, in place.

    One sample after the other, :math:`n \leftarrow n + 1` and :math:`c \leftarrow (1 - 1/n) c + h/n` (Yang,
    Fu, Sidiropoulos and Hong, 2017, Equation 8). So :math:`n c` grows by h with every sample, and m samples
    bring a center of count n to

    .. math:: \frac{n c + \sum h}{n + m} = c + \frac{\sum h - m c}{n + m}

    in whatever order they come. The sums are in float64, also where float32 products would be TF32.
    """
    members = one_hot(labels, len(U)).double()
    sizes = members.sum(0)
    counts += sizes.long()
    U += ((members.T @ H.double() - sizes[:, None] * U) / counts[:, None]).to(U.dtype)


class DCN(DeepClusterer):
    """Deep Clustering Network (Yang, Fu, Sidiropoulos and Hong, 2017).

    Minimizes, summed over the values of a sample and as a mean over the batch, the squared reconstruction
    error plus lambda / 2 times the squared distance of the embedding to its center, Equation (4) there. Every
    batch is a step of the network with assignment and centers fixed, then an assignment of the batch, then a
    move of the centers. K-means from the current centers refreshes all three between iterations.

    Parameters
    ----------
    n_clusters : k
    autoencoder : see `DeepClusterer`; by default fully connected, d-500-500-2000-10
    lam : lambda, weight of the K-means term
    epochs_per_iter : passes over the samples between two refreshes
    max_iter : number of refreshes; there is no other stop
    batch_size, lr : of Adam
    n_init : k-means++ starts of the K-means that gives the first centers
    device : "auto", "cpu", "cuda" or "cuda:N"
    random_state : int, RandomState or None
    on_iteration : called with an `Iteration` at each refresh
    progress : show a bar over the refreshes

    Warns
    -----
    ConvergenceWarning
        If a cluster is empty at the end.
    """

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
        device: str = "auto",
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
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, generator = self._start()
        samples = self._load(X, reset=True)
        network = self._pretrained(samples, random_state)
        self.encoder_ = encoder = network.encoder
        H = encode(encoder, samples)
        partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        self._report(Iteration(0, H, *partition[:3]))

        U, labels = partition.centers.clone(), partition.labels.clone()
        counts = torch.full((self.n_clusters,), FIRST_COUNT, device=samples.device)

        def loss_of(index: Tensor) -> Tensor:
            x = samples[index]
            h = encoder(x)
            return squared_error(network.decoder(h), x) + self.lam / 2 * squared_error(h, U[labels[index]])

        def assign_and_move(index: Tensor) -> None:
            h = encode(encoder, samples[index])
            labels[index] = nearest_center(h, U)
            move_centers(U, counts, h, labels[index])

        step = Step(loss_of, network.parameters(), lr=self.lr, after=assign_and_move)
        stream = batches(
            len(samples), self.batch_size, generator=generator, reshuffle=True, device=samples.device
        )
        n_steps = self.epochs_per_iter * steps_per_epoch(len(samples), self.batch_size)
        for n_iter in range(1, self.max_iter + 1):
            previous = partition.labels
            loss = train(step, islice(stream, n_steps))
            H = encode(encoder, samples)
            partition = kmeans(H, self.n_clusters, n_init=1, random_state=random_state, init=U)
            U.copy_(partition.centers)
            labels.copy_(partition.labels)
            changed = share_changed(previous, labels)
            self._report(Iteration(n_iter, H, *partition[:3], changed, loss))
        return self._finish(H, partition, self.max_iter)

    def _published_autoencoder(self, samples: Float[Tensor, "n ..."]) -> Autoencoder:
        return Autoencoder(architecture="mlp", device=self.device, progress=self.progress)
