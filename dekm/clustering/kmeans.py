"""K-means, Equation (2), on the device where the data live."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from torch import Tensor

from dekm.clustering.lloyd import best_of_restarts, distance_blocks, lloyd
from dekm.errors import InputError

MAX_ITER = 300
TOL = 1e-4


class Partition(NamedTuple):
    """A K-means partition of n points of dimension e into k clusters."""

    labels: Int[Tensor, " n"]
    centers: Float[Tensor, "k e"]
    inertia: float
    n_iter: int


def kmeans(
    X: Float[Tensor, "n e"],
    n_clusters: int,
    *,
    n_init: int,
    random_state: np.random.RandomState,
    init: Float[Tensor, "k e"] | None = None,
) -> Partition:
    """Best of `n_init` runs of Lloyd's algorithm, each from a k-means++ start.

    On the CPU these are scikit-learn's; on a GPU the runs advance side by side.

    Parameters
    ----------
    X : float32 tensor of shape (n, e)
    n_clusters : k, at most n
    n_init : number of starts
    random_state : the only source of randomness
    init : centers of shape (k, e) from which a single run starts instead

    Raises
    ------
    InputError
        If there are fewer points than clusters, or a point is not finite.
    """
    if len(X) < n_clusters:
        raise InputError(f"n_samples={len(X)} should be >= n_clusters={n_clusters}.")
    if not torch.isfinite(X).all():
        raise InputError("X holds NaN or infinity; K-means needs finite points.")
    if X.is_cuda:
        if init is not None:
            return Partition(*lloyd(X, init[None].clone(), max_iter=MAX_ITER, tol=TOL))
        generator = torch.Generator(X.device).manual_seed(int(random_state.randint(2**31 - 1)))
        return Partition(
            *best_of_restarts(X, n_clusters, n_init=n_init, max_iter=MAX_ITER, tol=TOL, generator=generator)
        )
    start = {"n_init": n_init} if init is None else {"n_init": 1, "init": init.numpy()}
    estimator = KMeans(n_clusters, max_iter=MAX_ITER, tol=TOL, random_state=random_state, **start)
    # Sums over more than two threads depend on which thread ends first; over two they do not.
    with threadpool_limits(limits=min(2, torch.get_num_threads()), user_api="openmp"):
        estimator.fit(X.numpy())
    return Partition(
        torch.from_numpy(estimator.labels_.astype(np.int64)),
        torch.from_numpy(estimator.cluster_centers_),
        float(estimator.inertia_),
        int(estimator.n_iter_),
    )


def partition_by(X: Float[Tensor, "n e"], U: Float[Tensor, "k e"]) -> Partition:
    """The partition of points by their nearest centers, as they are; `U` is copied."""
    labels = nearest_center(X, U)
    inertia = float(((X - U[labels]) ** 2).sum(dtype=torch.float64))
    return Partition(labels, U.clone(), inertia, 0)


def nearest_center(X: Float[Tensor, "n e"], U: Float[Tensor, "k e"]) -> Int[Tensor, " n"]:
    """Index of the nearest center of every point."""
    return torch.cat([distances[0].argmin(-1) for _, distances in distance_blocks(X, U[None])])


def center_distances(H: Float[Tensor, "b e"], U: Float[Tensor, "k e"]) -> Float[Tensor, "b k"]:
    """Squared distances of a batch of points to all centers, from their differences.

    Memory grows with b k e; gradients are exact also where a point lies on a center.
    """
    return ((H[:, None] - U) ** 2).sum(-1)
