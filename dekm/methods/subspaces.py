"""The clustered and the shared subspace of ACe/DeC [1]_: their start, their loss, and their centers.

References
----------
.. [1] Miklautz, Bauer, Mautz, Tschiatschek, Böhm and Plant (2021). Details (Don't) Matter: Isolating Cluster
   Information in Deep Embedded Spaces. IJCAI.
"""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from dekm.clustering.kmeans import Partition, center_distances, kmeans, nearest_center
from dekm.clustering.lloyd import cluster_means
from dekm.clustering.scatter import sorted_eigenvectors, within_class_scatter


def first_rotation(
    H: Float[Tensor, "n e"], partition: Partition
) -> tuple[Float[Tensor, "e e"], Float[Tensor, " e"]]:
    r"""The matrix V, whose first rows separate the means of a partition most, and the weights as logits.

    The rows are eigenvectors of the within-class scatter matrix less that of all points. The weight of a row
    is :math:`t^2 / (t^2 + w^2)`, where t is the scatter of all points along it and w that in the clusters.
    """
    labels, U = partition.labels, partition.centers
    total = within_class_scatter(H, torch.zeros_like(labels), H.mean(0, keepdim=True))
    within = within_class_scatter(H, labels, U)
    V = sorted_eigenvectors(within - total)
    t, w = ((V @ S @ V.T).diagonal().clamp_min(torch.finfo(S.dtype).tiny) for S in (total, within))
    return V, 2 * (t / w).log()


def subspace_loss(
    Y: Float[Tensor, "b e"], U: Float[Tensor, "k e"], center: Float[Tensor, " e"], beta: Float[Tensor, " e"]
) -> tuple[Float[Tensor, ""], Int[Tensor, " b"]]:
    r"""Half the sum of the K-means losses of both subspaces, and the nearest cluster of each point.

    .. math:: \frac{1}{2 b} \sum_{i=1}^b \Big( \min_j \|\beta \circ (y_i - \mu_j)\|^2
        + \|(1 - \beta) \circ (y_i - c)\|^2 \Big)

    where :math:`y_i` is a row of `Y`, :math:`\mu_j` a row of `U` and c is `center`: means over the batch.
    """
    nearest, labels = center_distances(beta * Y, beta * U).min(1)
    return (nearest + ((1 - beta) * (Y - center)).square().sum(1)).mean() / 2, labels


def move_centers(
    U: Float[Tensor, "k e"], counts: Float[Tensor, " k"], Y: Float[Tensor, "b e"], labels: Int[Tensor, " b"]
) -> None:
    r"""Move the centers of a batch in place, and the running means of the sizes of their clusters.

    .. math:: n_j \gets (n_j + b_j) / 2, \quad \mu_j \gets \mu_j + (\bar y_j - \mu_j) / (1 + n_j)

    where :math:`b_j` is the number of points of cluster j in the batch and :math:`\bar y_j` their mean; a
    center without points stays where it is.
    """
    members = (labels[:, None] == torch.arange(len(U), device=U.device)).to(Y.dtype)
    sizes = members.sum(0)
    counts.lerp_(sizes, 0.5)
    rates = (sizes > 0) / (1 + counts)
    U.lerp_(members.T @ Y / sizes.clamp_min(1)[:, None], rates[:, None].expand_as(U))


def fill_clusters(
    U: Float[Tensor, "k e"],
    Y: Float[Tensor, "n e"],
    beta: Float[Tensor, " e"],
    random_state: np.random.RandomState,
) -> None:
    """If clusters are empty, move their centers to points that are drawn, and then all centers by K-means."""
    empty = nearest_center(beta * Y, beta * U).bincount(minlength=len(U)) == 0
    if empty.any():
        U[empty] = Y[random_state.choice(len(Y), int(empty.sum()), replace=False)]
        moved = kmeans(beta * Y, len(U), n_init=1, random_state=random_state, init=beta * U)
        U.copy_(cluster_means(Y, moved.labels, len(U)))
