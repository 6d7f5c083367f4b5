"""Deep K-Means: K-means with assignments soft enough to be learned by gradients."""

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from jaxtyping import Float
from sklearn.frozen import FrozenEstimator
from torch import Tensor, nn

from dekm.clustering.kmeans import center_distances, kmeans, partition_by
from dekm.errors import InputError
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Iteration, OnIteration
from dekm.methods.deep import DeepClusterer, share_changed
from dekm.methods.validation import check_choice
from dekm.nn.training import Step, batches, encode, squared_error, steps_per_epoch, train

FIRST_ALPHA = 0.1
N_ANNEALED = 40
N_CONSTANT = 20


def annealed_alphas(n_values: int) -> list[float]:
    r"""The inverse temperatures 0.1, 0.423, 0.752 ... of Fard, Thonet and Gaussier (2020), Section 3.2.

    .. math:: \alpha_1 = 0.1, \quad \alpha_{i+1} = 2^{1 / \ln(i + 1)^2} \alpha_i
    """
    alphas = [FIRST_ALPHA]
    for i in range(1, n_values):
        alphas.append(2 ** (1 / math.log(i + 1) ** 2) * alphas[-1])
    return alphas[:n_values]


def soft_kmeans_loss(
    H: Float[Tensor, "b e"], U: Float[Tensor, "k e"], alpha: Float[Tensor, ""]
) -> Float[Tensor, ""]:
    r"""Distances to the centers, weighted by a softmax of them: K-means in the limit of large alpha.

    .. math:: \sum_j s_j d_j, \quad d_j = \|h - \mu_j\|^2, \quad
        s_j = \frac{e^{-\alpha (d_j - \min d)}}{\sum_{j'} e^{-\alpha (d_{j'} - \min d)}}

    Mean over the batch. The shift by the smallest distance is PyTorch's own in its softmax.
    """
    distances = center_distances(H, U)
    return (torch.softmax(-alpha * distances, dim=1) * distances).sum(1).mean()


class DKM(DeepClusterer):
    """Deep K-Means (Fard, Thonet and Gaussier, 2020), after pretraining or with annealing instead of it.

    Minimizes over the autoencoder and the centers, as a mean over the batch, the squared reconstruction error
    summed over the values of a sample, plus lambda times the soft K-means loss.

    Parameters
    ----------
    n_clusters : k
    autoencoder : see `DeepClusterer`; by default fully connected, d-500-500-2000-k
    annealed : whether alpha grows from 0.1 as in `annealed_alphas`, with one value per iteration, from an
        autoencoder that is not pretrained (DKM^a); else it is constant (DKM^p)
    alpha : the constant inverse temperature
    lam : lambda, weight of the K-means term
    epochs_per_iter : passes over the samples between two reports, with one value of alpha
    max_iter : number of such blocks, there is no other stop; "auto" takes the authors' 40 with annealing and
        20 without
    batch_size, lr : of Adam
    n_init : k-means++ starts of the K-means that gives the first centers; those of annealing are uniform in
        [-1, 1]
    device : "auto", "cpu", "cuda" or "cuda:N"
    random_state : int, RandomState or None
    on_iteration : called with an `Iteration` after each block
    progress : show a bar over the blocks

    Warns
    -----
    ConvergenceWarning
        If a cluster is empty at the end.
    """

    _WORDS: ClassVar = {"max_iter": ("auto",)}

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
        device: str = "auto",
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster `X`; `y` is ignored."""
        random_state, generator = self._start()
        check_choice("annealed", self.annealed, (True, False))
        if self.annealed and isinstance(self.autoencoder, FrozenEstimator):
            raise InputError("autoencoder is fitted; with annealed=True it should be unfitted, or None.")
        alphas = self._alphas()
        samples = self._load(X, reset=True)
        network = self._pretrained(samples, random_state, n_epochs=0 if self.annealed else None)
        self.encoder_ = encoder = network.encoder
        H = encode(encoder, samples)
        if self.annealed:
            uniform = 2 * torch.rand(self.n_clusters, H.shape[1], generator=generator) - 1
            partition = partition_by(H, uniform.to(H.device))
        else:
            partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        self._report(Iteration(0, H, *partition[:3]))

        U = nn.Parameter(partition.centers.clone())
        alpha = torch.empty((), device=samples.device)

        def loss_of(index: Tensor) -> Tensor:
            x = samples[index]
            h = encoder(x)
            return squared_error(network.decoder(h), x) + self.lam * soft_kmeans_loss(h, U, alpha)

        step = Step(loss_of, [*network.parameters(), U], lr=self.lr)
        stream = batches(
            len(samples), self.batch_size, generator=generator, reshuffle=True, device=samples.device
        )
        n_steps = self.epochs_per_iter * steps_per_epoch(len(samples), self.batch_size)
        for n_iter, value in enumerate(alphas, start=1):
            previous = partition.labels
            alpha.fill_(value)
            loss = train(step, islice(stream, n_steps))
            H = encode(encoder, samples)
            partition = partition_by(H, U.detach())
            changed = share_changed(previous, partition.labels)
            self._report(Iteration(n_iter, H, *partition[:3], changed, loss))
        return self._finish(H, partition, len(alphas))

    def _alphas(self) -> Sequence[float]:
        """The inverse temperature of every block."""
        if self.annealed:
            return annealed_alphas(N_ANNEALED if self.max_iter == "auto" else int(self.max_iter))
        return [self.alpha] * (N_CONSTANT if self.max_iter == "auto" else int(self.max_iter))

    def _published_autoencoder(self, samples: Float[Tensor, "n ..."]) -> Autoencoder:
        return Autoencoder(
            architecture="mlp",
            embedding_dim=self.n_clusters,
            device=self.device,
            progress=self.progress,
        )
