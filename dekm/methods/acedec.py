"""Autoencoder Centroid-based Deep Clustering (ACe/DeC): clusters in one subspace, details in the other."""

from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from dekm.clustering.kmeans import assign, kmeans
from dekm.methods.base import fitting
from dekm.methods.continuation import Continuation
from dekm.methods.deep import DeepClusterer
from dekm.methods.iteration import Iteration, OnIteration
from dekm.methods.subspaces import fill_clusters, first_rotation, move_centers, subspace_loss
from dekm.methods.validation import Constraints, Integer, Number
from dekm.metrics import label_change
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint
from dekm.nn.training import Step, batches, encode, steps_per_epoch, train

RATE = 20.0  # of the logits, times `lr`: the difference of two logits that are trained at 10 `lr` each
LEAST = 0.55  # weight of a dimension of the clustered subspace


class ACeDeC(DeepClusterer):
    r"""Autoencoder Centroid-based Deep Clustering (ACe/DeC) [1]_.

    A matrix V, whose rows stay close to orthonormal, rotates the embedding to :math:`y = V f(x)`. Each
    dimension of y has a weight in [0, 1] in the clustered subspace, which has a center for each cluster, and
    the rest of 1 in the shared subspace, which has one center c. The method minimizes over the encoder f, the
    decoder g, V and the weights :math:`\beta`

    .. math:: \frac{1}{b} \sum_{i=1}^b \Big( \frac{1}{d s^2} \|x_i - g(V^\top y_i)\|^2
        + \frac{1}{2} \min_j \|\beta \circ (y_i - \mu_j)\|^2
        + \frac{1}{2} \|(1 - \beta) \circ (y_i - c)\|^2 \Big)

    over the b samples of a batch, whose means then move the centers. The variance of all values of the
    samples is :math:`s^2`. The label is the center :math:`\mu_j` that is nearest in the dimensions with
    weights of at least 0.55. ``embedding_`` has y, and ``cluster_centers_`` the centers, in these dimensions,
    and zero in the others. The learned attributes are documented in `DeepClusterer` and `Clusterer`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    autoencoder : Autoencoder, FrozenEstimator or None, default=None
        The autoencoder to start from, see `DeepClusterer`; None is convolutional with
        e = k for images, and fully connected with e = 10 for vectors.
    max_iter : int, default=150
        Number of passes over the samples; there is no other stopping criterion.
    batch_size : int, default=128
        Samples per step.
    lr : float, default=1e-4
        Learning rate of Adam.
    n_init : int, default=10
        Number of k-means++ initializations of the first K-means.
    device : str or torch.device, default="auto"
        "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
    random_state : int, RandomState or None, default=None
        Seed or generator of all random numbers of the fit.
    on_iteration : callable or None, default=None
        Called with an `Iteration` after every pass.
    progress : bool, default=False
        Whether to show a progress bar over the iterations.

    Attributes
    ----------
    rotation_ : float32 array of shape (e, e)
        The matrix V.
    weights_ : float32 array of shape (e,)
        Weights of the dimensions of y in the clustered subspace.
    shared_center_ : float32 array of shape (e,)
        The center c of the shared subspace.

    Warns
    -----
    ConvergenceWarning
        If a cluster is empty at the end.

    References
    ----------
    .. [1] Miklautz, Bauer, Mautz, Tschiatschek, Böhm and Plant (2021). Details (Don't) Matter: Isolating
       Cluster Information in Deep Embedded Spaces. IJCAI.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from dekm import ACeDeC, Autoencoder
    >>> X, _ = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> autoencoder = Autoencoder(embedding_dim=3, hidden=(8,), n_epochs=3)
    >>> acedec = ACeDeC(3, autoencoder=autoencoder, max_iter=2, random_state=0).fit(X)
    >>> acedec.labels_.shape, acedec.rotation_.shape
    ((60,), (3, 3))
    """

    parameter_constraints: ClassVar[Constraints] = {
        **DeepClusterer.parameter_constraints,
        "max_iter": Integer(0),
        "batch_size": Integer(1),
        "lr": Number(0, inclusive=True),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        autoencoder: Any = None,
        max_iter: int = 150,
        batch_size: int = 128,
        lr: float = 1e-4,
        n_init: int = 10,
        device: str | torch.device = "auto",
        random_state: int | np.random.RandomState | None = None,
        on_iteration: OnIteration | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
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
        rotation, first = first_rotation(H, partition)
        V, logits = nn.Parameter(rotation), nn.Parameter(first / RATE)
        U, center = partition.centers @ rotation.T, H.mean(0) @ rotation.T
        counts = samples.new_zeros(self.n_clusters)
        variance = float(samples.var(correction=0)) or 1.0
        seen: list[Tensor] = []

        def loss_of(index: Tensor) -> Tensor:
            x = samples[index]
            y = encoder(x) @ V.T
            loss, nearest = subspace_loss(y, U, center, (RATE * logits).sigmoid())
            seen[:] = y.detach(), nearest
            return mse_loss(network.decoder(y @ V), x) / variance + loss

        def after(index: Tensor) -> None:
            move_centers(U, counts, *seen)
            center.lerp_(seen[0].mean(0), 0.5)

        trained = [*network.parameters(), V, logits]
        moved: dict[str, Any] = {"after": after, "changed": (U, center, counts)}
        step = Step(loss_of, trained, lr=self.lr, network=network, **moved)
        n, device = len(samples), samples.device
        stream = batches(n, self.batch_size, generator=generator, reshuffle=True, device=device)
        n_steps = steps_per_epoch(n, self.batch_size)
        labels = torch.empty(n, dtype=torch.int64, device=device)
        live = {"U": U, "center": center, "counts": counts, "labels": labels}
        continuation = Continuation(self, checkpoint, step, live, random_state)
        start = continuation.resume(stream, n_steps, n_iter=0, loss=float("nan"))
        changed, loss = float("nan"), start["loss"]
        for n_iter in range(start["n_iter"], self.max_iter + 1):
            H = encode(encoder, samples)
            beta = (RATE * logits.detach()).sigmoid()
            fill_clusters(U, H @ V.detach().T, beta, random_state)
            self.rotation_, self.weights_, self.shared_center_ = (
                value.detach().cpu().numpy().copy() for value in (V, beta, center)
            )
            Y = self._clustered(H)
            partition = assign(Y, U.where(beta >= LEAST, 0.0))
            if n_iter > 0:
                changed = label_change(labels, partition.labels, match=False)
            labels.copy_(partition.labels)
            self.report(Iteration(n_iter, Y, *partition[:3], changed, loss))
            if n_iter == self.max_iter:
                break
            loss = train(step, islice(stream, n_steps))
            continuation.keep(n_iter=n_iter + 1, loss=loss)
        return self.finish_fit(Y, partition, n_iter)

    def embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        """Rotated embedding of samples, zero but for the dimensions of the clustered subspace."""
        return self._clustered(super().embed(samples))

    def _clustered(self, H: Float[Tensor, "n e"]) -> Float[Tensor, "n e"]:
        V, weights = (torch.from_numpy(value).to(H.device) for value in (self.rotation_, self.weights_))
        return torch.where(weights >= LEAST, H @ V.T, 0.0)

    def inverse_transform(self, H: Any) -> np.ndarray:
        """Decode clustered parts of embeddings, the others at their center, see `DeepClusterer`."""
        rows = np.asarray(H)
        if rows.shape[1:] == self.weights_.shape:  # any other is refused
            rows = np.where(self.weights_ >= LEAST, rows, self.shared_center_) @ self.rotation_
        return super().inverse_transform(rows)
