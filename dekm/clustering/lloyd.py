"""Lloyd's algorithm with several runs in parallel: K-means on a GPU.

The axes are r runs, n points, k clusters and e dimensions. Distances are computed for blocks of points and
groups of runs, so the memory is bounded. There are no atomic sums, so the results are deterministic.

References
----------
.. [1] Lloyd (1982). Least Squares Quantization in PCM. IEEE Transactions on Information Theory.
.. [2] Arthur and Vassilvitskii (2007). k-means++: The Advantages of Careful Seeding. SODA.
"""

import math
from collections.abc import Iterator
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from dekm.concurrency import yield_turn

# Distances in memory at a time: they fit into the cache of a CPU, or into an eighth of the memory of a GPU.
ELEMENTS_CUDA = 2**27  # at most
ELEMENTS_CPU = 2**18
DISTANCE_BYTES = 24  # of a distance in float64 and float32, and of the term beside it

# A float32 distance has an error of about 2e-7 of the squared norms of its points. At this fraction of the
# squared norms, the sum of the distances and the probabilities of k-means++ have errors of about 0.02 %.
LEFT_FLOAT32 = 1e-3


def best_of_restarts(
    X: Float[Tensor, "n e"],
    n_clusters: int,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    generator: torch.Generator,
) -> tuple[Int[Tensor, " n"], Float[Tensor, "k e"], float, int]:
    """Labels, centers, inertia and number of iterations of the run with the smallest inertia."""
    group = max(1, distances_at_once(X) // len(X))
    runs = []
    for start in range(0, n_init, group):
        n_runs = min(group, n_init - start)
        runs.append(lloyd(X, plus_plus(X, n_clusters, n_runs, generator), max_iter=max_iter, tol=tol))
    return min(runs, key=lambda run: run[2])


def plus_plus(
    X: Float[Tensor, "n e"],
    n_clusters: int,
    n_runs: int,
    generator: torch.Generator,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "r k e"]:
    """Initial centers by greedy k-means++ [2]_: every center is the best of 2 + ln(k) candidates.

    A candidate is drawn with a probability proportional to its squared distance to the nearest center; the
    best one has the smallest sum of squared distances of all points to their nearest centers.

    The distances are computed in `dtype`; where float32 would lose their digits, again in float64.
    """
    n_trials = 2 + int(math.log(n_clusters))
    runs = torch.arange(n_runs, device=X.device)
    chosen = torch.randint(len(X), (n_runs,), generator=generator, device=X.device)
    closest = torch.full((n_runs, len(X)), math.inf, device=X.device)
    update_closest(closest, X, chosen, dtype)
    centers = [X[chosen]]
    for _ in range(1, n_clusters):
        cumulated = closest.cumsum(1, dtype=torch.float64)
        draws = torch.rand(n_runs, n_trials, generator=generator, device=X.device, dtype=torch.float64)
        trials = torch.searchsorted(cumulated, draws * cumulated[:, -1:]).clamp_(max=len(X) - 1)
        chosen = trials[runs, potentials(closest, X, trials, dtype).argmin(1)]
        update_closest(closest, X, chosen, dtype)
        centers.append(X[chosen])
    left = closest.sum(1, dtype=torch.float64).min()
    if dtype == torch.float32 and left < LEFT_FLOAT32 * torch.linalg.vector_norm(X, dtype=torch.float64) ** 2:
        return plus_plus(X, n_clusters, n_runs, generator)
    return torch.stack(centers, dim=1)


def update_closest(
    closest: Float[Tensor, "r n"], X: Float[Tensor, "n e"], chosen: Int[Tensor, " r"], dtype: torch.dtype
) -> None:
    """Update the squared distances to the nearest center of each run, where one center is added to each."""
    for nearest, distances in trial_blocks(closest, X, chosen[:, None], dtype):
        torch.minimum(nearest, distances[:, 0], out=nearest)


def potentials(
    closest: Float[Tensor, "r n"], X: Float[Tensor, "n e"], trials: Int[Tensor, "r t"], dtype: torch.dtype
) -> Float[Tensor, "r t"]:
    """Sum of the squared distances of all points to the nearest center, with each candidate."""
    sums = torch.zeros(trials.shape, device=X.device, dtype=torch.float64)
    for nearest, distances in trial_blocks(closest, X, trials, dtype):
        sums += torch.minimum(nearest[:, None], distances, out=distances).sum(-1, dtype=torch.float64)
    return sums


def trial_blocks(
    closest: Float[Tensor, "r n"], X: Float[Tensor, "n e"], trials: Int[Tensor, "r t"], dtype: torch.dtype
) -> Iterator[tuple[Float[Tensor, "r b"], Float[Tensor, "r t b"]]]:
    """Iterate over blocks of `closest` and the squared distances of their points to the candidates."""
    U = X[trials.flatten()]
    start = 0
    for block in blocks(X, len(U)):
        distances = squared_distances(U, block, dtype).view(*trials.shape, -1)
        yield closest[:, start : start + len(block)], distances
        start += len(block)


def lloyd(
    X: Float[Tensor, "n e"], U: Float[Tensor, "r k e"], *, max_iter: int, tol: float
) -> tuple[Int[Tensor, " n"], Float[Tensor, "k e"], float, int]:
    """Run Lloyd's algorithm from all initial centers `U`, which are overwritten, and return the best run.

    A run ends when the squared distance that its centers move in an iteration, summed over the centers, is at
    most `tol` times the mean variance of the columns of X. Returns labels, centers, inertia (a sum over the
    points) and the number of iterations.
    """
    threshold = tol * X.var(0, correction=0).mean()
    moving = torch.ones(len(U), dtype=torch.bool, device=X.device)
    n_iter = torch.zeros(len(U), dtype=torch.int64, device=X.device)
    while moving.any() and n_iter.max() < max_iter:
        yield_turn()
        n_iter[moving] += 1
        moved = updated_centers(X, U[moving])
        shift = ((moved - U[moving]) ** 2).sum((1, 2))
        U[moving] = moved
        moving[moving.clone()] = shift > threshold
    inertia = torch.zeros(len(U), device=X.device, dtype=torch.float64)
    for _, distances in distance_blocks(X, U):
        inertia += distances.min(-1).values.sum(1, dtype=torch.float64)
    best = int(inertia.argmin())
    labels = torch.cat([distances[0].argmin(-1) for _, distances in distance_blocks(X, U[best : best + 1])])
    return labels, U[best].clone(), float(inertia[best]), int(n_iter[best])


def updated_centers(X: Float[Tensor, "n e"], U: Float[Tensor, "r k e"]) -> Float[Tensor, "r k e"]:
    """One iteration of Lloyd's algorithm: the mean of the points nearest to each center.

    The mean of an empty cluster is not defined. The center of the i-th empty cluster becomes the point that
    is i-th farthest from its center.
    """
    sums = torch.zeros(U.shape, device=X.device, dtype=torch.float64)
    counts = torch.zeros(U.shape[:2], device=X.device, dtype=torch.float64)
    farthest = torch.full((len(U), U.shape[1]), -1.0, dtype=X.dtype, device=X.device)
    far_points = torch.zeros(U.shape, device=X.device, dtype=X.dtype)
    for block, distances in distance_blocks(X, U):
        nearest, labels = distances.min(-1)
        members = one_hot(labels, U.shape[1]).double()
        sums += members.transpose(1, 2) @ block.double()
        counts += members.sum(1, dtype=torch.float64)
        farthest, far_points = merge_farthest(farthest, far_points, nearest, block)
    empty = counts == 0
    means = (sums / counts.clamp_min(1)[..., None]).to(X.dtype)
    rank = (empty.cumsum(1) - 1).clamp_min_(0)
    replacement = far_points.gather(1, rank[..., None].expand_as(far_points))
    return torch.where(empty[..., None], replacement, means)


def cluster_means(
    X: Float[Tensor, "n e"], labels: Int[Tensor, " n"], n_clusters: int
) -> Float[Tensor, "k e"]:
    """Mean of the members of each cluster; an empty cluster gets a point that is far from its own mean."""
    sums = torch.zeros(n_clusters, X.shape[1], device=X.device, dtype=torch.float64)
    counts = torch.zeros(n_clusters, device=X.device, dtype=torch.float64)
    parts = blocks(X, n_clusters)
    for block, part in zip(parts, labels.split(len(parts[0])), strict=True):
        members = one_hot(part, n_clusters).double()
        sums += members.T @ block.double()
        counts += members.sum(0)
    means = (sums / counts.clamp_min(1)[:, None]).to(X.dtype)
    empty = counts == 0
    if empty.any():
        distances = ((X - means[labels]) ** 2).sum(1)
        means[empty] = X[distances.topk(int(empty.sum())).indices]
    return means


def merge_farthest(
    farthest: Float[Tensor, "r k"],
    far_points: Float[Tensor, "r k e"],
    nearest: Float[Tensor, "r b"],
    block: Float[Tensor, "b e"],
) -> tuple[Float[Tensor, "r k"], Float[Tensor, "r k e"]]:
    """The k points farthest from their centers, among the previous ones and those of a block."""
    values, index = nearest.topk(min(farthest.shape[1], len(block)), dim=1)
    points = torch.cat([far_points, block[index]], dim=1)
    farthest, order = torch.cat([farthest, values], dim=1).topk(farthest.shape[1], dim=1)
    return farthest, points.gather(1, order[..., None].expand(-1, -1, points.shape[2]))


def squared_distances(
    X: Float[Tensor, "n e"], U: Float[Tensor, "*r k e"], dtype: torch.dtype = torch.float64
) -> Float[Tensor, "*r n k"]:
    """Squared Euclidean distances of every point to every center.

    Computed in float64: in float32 the difference of squares and products loses its digits far from the
    origin, and the products may be TF32 on a GPU.
    """
    X, U = X.to(dtype), U.to(dtype)
    products = X @ U.transpose(-1, -2)
    squares = (X**2).sum(-1, keepdim=True) + (U**2).sum(-1).unsqueeze(-2)
    return squares.sub_(products, alpha=2).clamp_(min=0).float()


def distance_blocks(
    X: Float[Tensor, "n e"], U: Float[Tensor, "r k e"]
) -> Iterator[tuple[Float[Tensor, "b e"], Float[Tensor, "r b k"]]]:
    """Iterate over blocks of points and their squared distances to all centers of all runs."""
    for block in blocks(X, U.shape[0] * U.shape[1]):
        yield block, squared_distances(block, U)


def blocks(X: Float[Tensor, "n e"], n_distances: int) -> tuple[Float[Tensor, "b e"], ...]:
    """Blocks of consecutive points, small enough that `n_distances` distances per point fit in memory."""
    return X.split(max(1, distances_at_once(X) // max(n_distances, X.shape[1])))


def distances_at_once(X: Tensor) -> int:
    """Number of distances in memory at a time on the device of `X`."""
    return elements_of_gpu(X.device) if X.is_cuda else ELEMENTS_CPU


@cache
def elements_of_gpu(device: torch.device) -> int:
    """The same of a GPU, by all its memory: what is free changes, and the sums with the number of terms."""
    _, total = torch.cuda.mem_get_info(device)
    return min(ELEMENTS_CUDA, total // (8 * DISTANCE_BYTES))
