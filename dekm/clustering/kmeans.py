"""K-means, Equation (2), on the device of the data."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.cluster import KMeans
from torch import Tensor

from dekm.clustering.lloyd import best_of_restarts, cluster_means, distance_blocks, lloyd
from dekm.clustering.restarts import MAX_ITER, TOL, best_on_part, part_size, thread_pools
from dekm.errors import InputError, shown


class Partition(NamedTuple):
    """A partition of n points of dimension e into k clusters.

    Attributes
    ----------
    labels : int64 tensor of shape (n,)
        Cluster of every point.
    centers : float32 tensor of shape (k, e)
        Cluster centers.
    inertia : float
        Sum of the squared distances of the points to their centers.
    n_iter : int
        Number of Lloyd iterations, those of the best run on a part included.
    """

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
    r"""K-means clustering: line 4 of Algorithm 1.

    It minimizes the sum over the points, not the mean (Equation (2)):

    .. math:: L_2 = \sum_{i=1}^k \sum_{h \in C_i} \|h - \mu_i\|^2

    where the points h are the rows of `X`, :math:`\mu_i` is a center and :math:`C_i` the set of its points.
    The best of `n_init` runs of Lloyd's algorithm is returned. On the CPU scikit-learn runs them, those on
    more than 20,000 points on a part, whose best centers start one run on all (`dekm.clustering.restarts`);
    on a GPU they run in parallel (`dekm.clustering.lloyd`).

    Parameters
    ----------
    X : float32 tensor of shape (n, e)
        The points.
    n_clusters : int
        Number of clusters k.
    n_init : int
        Number of runs, each from a k-means++ initialization.
    random_state : RandomState
        Random generator of the initializations.
    init : float32 tensor of shape (k, e) or None
        Initial centers of a single run; None for `n_init` runs from k-means++.

    Raises
    ------
    InputError
        If there are fewer points than clusters, or a point is not finite.
    """
    if len(X) < n_clusters:
        raise InputError(f"n_samples={len(X)} should be >= n_clusters={n_clusters}.")
    if not torch.isfinite(X).all():
        raise InputError("X contains NaN or infinity; K-means needs finite points.")
    if X.is_cuda:
        if init is not None:
            return Partition(*lloyd(X, init[None].clone(), max_iter=MAX_ITER, tol=TOL))
        generator = torch.Generator(X.device).manual_seed(int(random_state.randint(2**31 - 1)))
        return Partition(
            *best_of_restarts(X, n_clusters, n_init=n_init, max_iter=MAX_ITER, tol=TOL, generator=generator)
        )
    # Each thread adds its partial sum when it is done. Two terms have the same sum in either order; more than
    # two threads would make the last bits depend on which thread ends first.
    n_threads, n_before = min(2, torch.get_num_threads()), 0
    if init is None and n_init > 1 and part_size(len(X), n_clusters) < len(X):
        n_threads = 1  # as the restarts: the same bits with any number of threads
        init, n_before = best_on_part(X, n_clusters, n_init, random_state)
    start = {"n_init": n_init} if init is None else {"n_init": 1, "init": init.numpy()}
    estimator = KMeans(n_clusters, max_iter=MAX_ITER, tol=TOL, random_state=random_state, **start)
    with thread_pools().limit(limits=n_threads, user_api="openmp"):
        estimator.fit(X.numpy())
    return Partition(
        torch.from_numpy(estimator.labels_.astype(np.int64)),
        torch.from_numpy(estimator.cluster_centers_),
        float(estimator.inertia_),
        n_before + int(estimator.n_iter_),
    )


def kmeans_update(
    X: Float[Tensor, "n e"],
    previous: Partition,
    *,
    n_init: int,
    margin: float,
    random_state: np.random.RandomState,
) -> Partition:
    """K-means of points that have moved, where the previous partition is one of the initializations.

    Parameters
    ----------
    X : float32 tensor of shape (n, e)
        The points.
    previous : Partition
        Partition of the same points before they moved. The means of its members in `X` are the initial
        centers of a run; an empty cluster gets a point far from its center.
    n_init : int
        Number of further runs from k-means++ initializations, at least 0.
    margin : float
        The best of these replaces the run from `previous` if its inertia is smaller by more than this
        fraction, at least 0.
    random_state : RandomState
        Random generator of the initializations.

    Returns
    -------
    Partition
        The run from `previous`, or the better one.

    Raises
    ------
    InputError
        If `margin` is negative, or `previous` is a partition of another number of points.
    """
    if margin < 0:
        raise InputError(f"margin={shown(margin)} should be >= 0.")
    if len(previous.labels) != len(X):
        raise InputError(f"previous is a partition of {len(previous.labels)} points; X has {len(X)}.")
    n_clusters = len(previous.centers)
    means = cluster_means(X, previous.labels, n_clusters)
    kept = kmeans(X, n_clusters, n_init=1, random_state=random_state, init=means)
    if n_init == 0:
        return kept
    fresh = kmeans(X, n_clusters, n_init=n_init, random_state=random_state)
    return fresh if fresh.inertia < (1 - margin) * kept.inertia else kept


def assign(X: Float[Tensor, "n e"], U: Float[Tensor, "k e"]) -> Partition:
    """Assign every point to its nearest center; the centers, a copy of `U`, are not moved."""
    labels = nearest_center(X, U)
    return Partition(labels, U.clone(), inertia_of(X, U, labels), 0)


def inertia_of(X: Float[Tensor, "n e"], U: Float[Tensor, "k e"], labels: Int[Tensor, " n"]) -> float:
    """Sum of the squared distances of points to the centers of their clusters, Equation (2), in float64."""
    return float(((X - U[labels]) ** 2).sum(dtype=torch.float64))


def nearest_center(X: Float[Tensor, "n e"], U: Float[Tensor, "k e"]) -> Int[Tensor, " n"]:
    """Index of the nearest center of every point, int64."""
    return torch.cat([distances[0].argmin(-1) for _, distances in distance_blocks(X, U[None])])


def center_distances(H: Float[Tensor, "b e"], U: Float[Tensor, "k e"]) -> Float[Tensor, "b k"]:
    """Squared Euclidean distances of a batch of points to all centers, for losses.

    They are computed from differences, so the gradient is exact even if a point coincides with a center.
    The memory is proportional to b k e.
    """
    return ((H[:, None] - U) ** 2).sum(-1)
