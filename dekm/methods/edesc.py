"""Efficient Deep Embedded Subspace Clustering (EDESC): each cluster has a subspace of the embedding."""

from itertools import islice
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from dekm.clustering.kmeans import kmeans
from dekm.clustering.scatter import sorted_eigenvectors, within_class_scatter
from dekm.errors import InputError
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import fitting
from dekm.methods.continuation import Continuation
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.soft_assignment import kl_divergence, target_distribution
from dekm.methods.soft_labels import SoftlyLabelled, partition_of
from dekm.methods.validation import Constraints, Integer, Number
from dekm.metrics import label_change
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint
from dekm.nn.training import EMBEDDING_BATCH, Step, batches, encode, steps_per_epoch, train

PUBLISHED_DIM = 5  # of a subspace


def subspace_affinity(H: Float[Tensor, "b e"], D: Float[Tensor, "k e r"], eta: float) -> Float[Tensor, "b k"]:
    r"""Affinities S of embedded points to subspaces, from the lengths of their projections.

    .. math:: s_{ij} = \frac{\|D_j^\top h_i\|^2 + \eta r}{\sum_{j'} (\|D_{j'}^\top h_i\|^2 + \eta r)}

    where :math:`h_i` is a row of `H` and :math:`D_j` the basis of subspace j, of r columns. The published
    denominator :math:`(\eta + 1) r` of both is left out, as it cancels. The sum of every row is one.
    """
    lengths = (H @ side_by_side(D)).unflatten(1, (len(D), -1)).square().sum(2)
    affinity = lengths + eta * D.shape[2]
    return affinity / affinity.sum(1, keepdim=True)


def side_by_side(D: Float[Tensor, "k e r"]) -> Float[Tensor, "e m"]:
    """The columns of all bases in one matrix, m = k r."""
    return D.permute(1, 0, 2).flatten(1)


def basis_penalty(D: Float[Tensor, "k e r"]) -> Float[Tensor, ""]:
    r"""Deviation of the bases from unit columns, and of different subspaces from orthogonality.

    With all bases side by side in the matrix D of m = k r columns,

    .. math:: \|D^\top D \circ I - I\|_F + \|D^\top D \circ O\|_F

    where O is zero in the diagonal blocks of r columns and one elsewhere. The norms are not squared. They
    are computed in float64, since the first one is a rounding error where the training starts.
    """
    columns = side_by_side(D.double())
    products = columns.T @ columns
    block = torch.arange(len(products), device=D.device) // D.shape[2]
    others = products * (block[:, None] != block)
    penalty = torch.linalg.vector_norm(products.diagonal() - 1) + torch.linalg.matrix_norm(others)
    return penalty.to(D.dtype)


class EDESC(SoftlyLabelled):
    r"""Efficient Deep Embedded Subspace Clustering (EDESC) [1]_.

    Each cluster j has a linear subspace of the embedding with the basis :math:`D_j`, and a sample belongs to
    the subspace on which its embedding has the longest projection. The method minimizes over the encoder f,
    the decoder g and the bases

    .. math:: \frac{1}{b d} \sum_{i=1}^b \|x_i - g(f(x_i))\|^2
        + \frac{\beta}{b k} \sum_{i=1}^b \sum_{j=1}^k p_{ij} \ln \frac{p_{ij}}{s_{ij}} + \alpha R(D)

    where :math:`s_{ij}` is the affinity (`subspace_affinity`) of the embedding :math:`f(x_i)` and
    :math:`p_{ij}` its target (`target_distribution`), computed from all samples before every iteration. The
    first two terms are means over the b samples of a batch and over the d values or the k clusters; R is
    `basis_penalty`, :math:`\beta` is `beta` and :math:`\alpha` is `alpha`. The learned attributes are
    documented in `DeepClusterer` and `Clusterer`; ``cluster_centers_`` are the means of the clusters, which
    decide no label.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    autoencoder : Autoencoder, FrozenEstimator or None, default=None
        The autoencoder to start from, see `DeepClusterer`; None is fully connected, d-500-500-1000-5k.
    subspace_dim : int or "auto", default="auto"
        Dimension r of a subspace; "auto" is e / k, rounded down but at least 1, which is 5 with the published
        autoencoder.
    eta : float, default=5.0
        Smoothing of the affinities.
    beta : float, default=0.1
        Weight of the divergence.
    alpha : float, default=1e-3
        Weight of the penalty of the bases.
    epochs_per_iter : int, default=1
        Passes over the samples between two updates of the target.
    max_iter : int, default=100
        Number of iterations; there is no other stopping criterion.
    batch_size : int, default=256
        Samples per step; with all of them there is one step in each pass.
    lr : float, default=1e-3
        Learning rate of Adam.
    n_init : int, default=10
        Number of k-means++ initializations of the K-means whose clusters give the first bases.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` at every update of the target.
    progress : bool, default=False
        Whether to show a progress bar over the iterations.

    Attributes
    ----------
    subspaces_ : float32 array of shape (k, e, r)
        Basis of the subspace of every cluster, in its columns.

    Warns
    -----
    ConvergenceWarning
        If a cluster is empty at the end.

    References
    ----------
    .. [1] Cai, Fan, Guo, Wang, Zhang and Zhang (2022). Efficient Deep Embedded Subspace Clustering. CVPR.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import EDESC, Autoencoder
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> autoencoder = Autoencoder(embedding_dim=6, hidden=(8,), n_epochs=3)
    >>> edesc = EDESC(3, autoencoder=autoencoder, max_iter=2, random_state=0).fit(X)
    >>> edesc.labels_.shape, edesc.subspaces_.shape
    ((60,), (3, 6, 2))
    """

    parameter_constraints: ClassVar[Constraints] = {
        **SoftlyLabelled.parameter_constraints,
        "subspace_dim": Integer(1, words=("auto",)),
        "eta": Number(0),
        "beta": Number(0, inclusive=True),
        "alpha": Number(0, inclusive=True),
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
        subspace_dim: int | Literal["auto"] = "auto",
        eta: float = 5.0,
        beta: float = 0.1,
        alpha: float = 1e-3,
        epochs_per_iter: int = 1,
        max_iter: int = 100,
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
        self.subspace_dim = subspace_dim
        self.eta = eta
        self.beta = beta
        self.alpha = alpha
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
        samples = self.load_samples(X, reset=True)
        network = self.pretrained_network(samples, random_state)
        self.encoder_ = encoder = network.encoder
        H = encode(encoder, samples)
        partition = kmeans(H, self.n_clusters, n_init=self.n_init, random_state=random_state)
        D = nn.Parameter(self._bases(H, partition.labels))
        # A CUDA graph reads the addresses that were captured, so P is changed in place below.
        P = samples.new_empty(len(samples), self.n_clusters)

        def loss_of(index: Tensor) -> Tensor:
            x = samples[index]
            h = encoder(x)
            divergence = kl_divergence(P[index], subspace_affinity(h, D, self.eta))
            weighted = self.beta / self.n_clusters * divergence + self.alpha * basis_penalty(D)
            return mse_loss(network.decoder(h), x) + weighted

        step = Step(loss_of, [*network.parameters(), D], lr=self.lr, network=network)
        stream = batches(
            len(samples), self.batch_size, generator=generator, reshuffle=False, device=samples.device
        )
        n_steps = self.epochs_per_iter * steps_per_epoch(len(samples), self.batch_size)
        labels = partition.labels.clone()
        continuation = Continuation(self, checkpoint, step, {"labels": labels}, random_state)
        start = continuation.resume(stream, n_steps, n_iter=0, loss=float("nan"))
        changed, loss = float("nan"), start["loss"]
        for n_iter in range(start["n_iter"], self.max_iter + 1):
            H = encode(encoder, samples)
            S = self._affinities(H, D.detach())
            partition = partition_of(H, S)
            if n_iter > 0:
                changed = label_change(labels, partition.labels, match=False)
            labels.copy_(partition.labels)
            self.report(Iteration(n_iter, H, *partition[:3], changed, loss))
            if n_iter == self.max_iter:
                break
            P.copy_(target_distribution(S))
            loss = train(step, islice(stream, n_steps))
            continuation.keep(n_iter=n_iter + 1, loss=loss)
        self.subspaces_ = D.detach().cpu().numpy()
        return self.finish_fit(H, partition, n_iter)

    def probabilities(self, H: Float[Tensor, "n e"]) -> Float[Tensor, "n k"]:
        """Affinities to the learned subspaces."""
        return self._affinities(H, torch.from_numpy(self.subspaces_).to(H.device))

    def _affinities(self, H: Float[Tensor, "n e"], D: Float[Tensor, "k e r"]) -> Float[Tensor, "n k"]:
        return torch.cat([subspace_affinity(h, D, self.eta) for h in H.split(EMBEDDING_BATCH)])

    def _bases(self, H: Float[Tensor, "n e"], labels: Int[Tensor, " n"]) -> Float[Tensor, "k e r"]:
        """The r left singular vectors of the members of each cluster with the largest singular values."""
        e = H.shape[1]
        r = max(1, e // self.n_clusters) if self.subspace_dim == "auto" else int(self.subspace_dim)
        if r > e:
            raise InputError(f"subspace_dim={r} should be <= {e}, the dimension of the embedding.")
        origin = torch.zeros_like(H[:1])
        bases = []
        for j in range(self.n_clusters):
            members = H[labels == j]
            scatter = within_class_scatter(members, torch.zeros_like(labels[labels == j]), origin)
            bases.append(sorted_eigenvectors(scatter)[-r:].flip(0).T)
        return torch.stack(bases).contiguous()

    def published_autoencoder(self, samples: Float[Tensor, "n ..."]) -> Autoencoder:
        """Fully connected, d-500-500-1000-5k, with 50 epochs in batches of 512."""
        return Autoencoder(
            architecture="mlp",
            embedding_dim=PUBLISHED_DIM * self.n_clusters,
            hidden=(500, 500, 1000),
            n_epochs=50,
            batch_size=512,
            device=self.device,
            progress=self.progress,
        )
