"""Deep Embedded Clustering: DEC, and with a reconstruction term IDEC and DCEC."""

from itertools import islice
from typing import Any, Literal, Self

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from dekm.clustering.kmeans import center_distances, kmeans, partition_by
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Iteration, OnIteration
from dekm.methods.deep import DeepClusterer, share_changed
from dekm.methods.validation import check_choice
from dekm.nn.training import EMBEDDING_BATCH, Step, batches, encode, train


def soft_assignment(H: Float[Tensor, "b e"], U: Float[Tensor, "k e"]) -> Float[Tensor, "b k"]:
    r"""Similarity of embedded points to centroids, Student's t with one degree of freedom.

    .. math:: q_{ij} = \frac{(1 + \|h_i - \mu_j\|^2)^{-1}}{\sum_{j'} (1 + \|h_i - \mu_{j'}\|^2)^{-1}}

    Equation (1) of Xie, Girshick and Farhadi (2016), alpha = 1. Every row sums to one.
    """
    similarity = 1 / (1 + center_distances(H, U))
    return similarity / similarity.sum(1, keepdim=True)


def target_distribution(Q: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
    r"""The target P, sharper than Q; it depends on all n samples through the cluster frequencies f.

    .. math:: p_{ij} = \frac{q_{ij}^2 / f_j}{\sum_{j'} q_{ij'}^2 / f_{j'}}, \quad f_j = \sum_i q_{ij}

    Equation (3) of Xie, Girshick and Farhadi (2016). Every row sums to one.
    """
    weight = Q**2 / Q.sum(0)
    return weight / weight.sum(1, keepdim=True)


def kl_divergence(P: Float[Tensor, "b k"], Q: Float[Tensor, "b k"]) -> Float[Tensor, ""]:
    r"""KL(P || Q) = sum over clusters of p ln(p / q), mean over the batch.

    Equation (2) of Xie, Girshick and Farhadi (2016).
    """
    return (torch.xlogy(P, P) - P * Q.log()).sum(1).mean()


class DEC(DeepClusterer):
    """Deep Embedded Clustering (Xie, Girshick and Farhadi, 2016) and the variants that keep the decoder.

    Minimizes KL(P || Q) over the encoder and the centroids; with a reconstruction term, the mean squared
    error over the values of the samples plus `gamma` times KL(P || Q), over the decoder too. IDEC (Guo, Gao,
    Liu and Yin, 2017) is that on the fully connected autoencoder, DCEC (Guo, Liu, Zhu and Yin, 2017) on the
    convolutional one.

    Parameters
    ----------
    n_clusters : k
    autoencoder : see `DeepClusterer`; DEC's is fully connected, d-500-500-2000-10
    reconstruction : whether the loss has a reconstruction term; "images" where the samples are images:
        DCEC, which is DEC on anything else (Section IV-B of the paper)
    gamma : weight of KL(P || Q) beside the reconstruction term; without one it has no effect
    update_interval : steps between two refreshes of the target P
    batch_size, lr : of Adam
    max_iter : at most so many refreshes after the first
    tol : stop when a smaller share of the samples changes its cluster between two refreshes
    n_init : k-means++ starts of the K-means that gives the first centroids
    device : "auto", "cpu", "cuda" or "cuda:N"
    random_state : int, RandomState or None
    on_iteration : called with an `Iteration` at each refresh
    progress : show a bar over the refreshes

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ends the fit, or a cluster is empty at its end.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        reconstruction: bool | Literal["images"] = False,
        gamma: float = 0.1,
        update_interval: int = 140,
        batch_size: int = 256,
        lr: float = 1e-3,
        max_iter: int = 142,
        tol: float = 1e-3,
        n_init: int = 20,
        device: str = "auto",
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
        self.lr = lr
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.device = device
        self.random_state = random_state
        self.on_iteration = on_iteration
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, generator = self._start()
        check_choice("reconstruction", self.reconstruction, (True, False, "images"))
        samples = self._load(X, reset=True)
        network = self._pretrained(samples, random_state)
        self.encoder_ = encoder = network.encoder
        reconstruct = samples.ndim == 4 if self.reconstruction == "images" else self.reconstruction

        partition = kmeans(
            encode(encoder, samples), self.n_clusters, n_init=self.n_init, random_state=random_state
        )
        U = nn.Parameter(partition.centers.clone())
        P = torch.empty(len(samples), self.n_clusters, device=samples.device)

        def loss_of(index: Tensor) -> Tensor:
            x = samples[index]
            h = encoder(x)
            divergence = kl_divergence(P[index], soft_assignment(h, U))
            return mse_loss(network.decoder(h), x) + self.gamma * divergence if reconstruct else divergence

        trained = network if reconstruct else encoder
        step = Step(loss_of, [*trained.parameters(), U], lr=self.lr)
        stream = batches(
            len(samples), self.batch_size, generator=generator, reshuffle=False, device=samples.device
        )
        labels, loss, changed = None, float("nan"), float("nan")
        for n_iter in range(self.max_iter + 1):
            H = encode(encoder, samples)
            partition = partition_by(H, U.detach())  # the nearest centroid has the largest q
            if labels is not None:
                changed = share_changed(labels, partition.labels)
            labels = partition.labels
            self._report(Iteration(n_iter, H, *partition[:3], changed, loss))
            if changed < self.tol or n_iter == self.max_iter:
                break
            Q = torch.cat([soft_assignment(h, U.detach()) for h in H.split(EMBEDDING_BATCH)])
            P.copy_(target_distribution(Q))
            loss = train(step, islice(stream, self.update_interval))
        self._warn_unless_converged(changed, self.tol, self.max_iter)
        return self._finish(H, partition, n_iter)

    def _published_autoencoder(self, samples: Float[Tensor, "n ..."]) -> Autoencoder:
        return Autoencoder(architecture="mlp", device=self.device, progress=self.progress)
