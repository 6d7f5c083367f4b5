"""The soft K-means loss of DKM and its annealing.

References
----------
.. [1] Fard, Thonet and Gaussier (2020). Deep k-Means: Jointly clustering with k-Means and learning
   representations. Pattern Recognition Letters.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from dekm.clustering.kmeans import center_distances

FIRST_ALPHA = 0.1


def annealed_alphas(n_values: int) -> list[float]:
    r"""Inverse temperatures of the annealing, Section 3.2 of Fard et al. (2020): 0.1, 0.423, 0.752, ...

    .. math:: \alpha_1 = 0.1, \quad \alpha_{i+1} = 2^{1 / \ln(i + 1)^2} \alpha_i
    """
    alphas = [FIRST_ALPHA]
    for i in range(1, n_values):
        alphas.append(2 ** (1 / math.log(i + 1) ** 2) * alphas[-1])
    return alphas[:n_values]


def soft_kmeans_loss(
    H: Float[Tensor, "b e"], U: Float[Tensor, "k e"], alpha: Float[Tensor, ""]
) -> Float[Tensor, ""]:
    r"""Soft K-means loss of Fard et al. (2020), which tends to the K-means loss as alpha grows.

    .. math:: \frac{1}{b} \sum_{i=1}^b \sum_{j=1}^k s_{ij} d_{ij}, \quad d_{ij} = \|h_i - \mu_j\|^2, \quad
        s_{ij} = \frac{e^{-\alpha d_{ij}}}{\sum_{j'} e^{-\alpha d_{ij'}}}

    where :math:`h_i` is a row of `H` and :math:`\mu_j` a row of `U`: a sum over the clusters and a mean over
    the batch. PyTorch's softmax shifts its arguments by their maximum, so a large alpha does not overflow.
    """
    distances = center_distances(H, U)
    return (torch.softmax(-alpha * distances, dim=1) * distances).sum(1).mean()


def soft_kmeans(H: Float[Tensor, "n e"], U: Float[Tensor, "k e"], alpha: float) -> Float[Tensor, "n k"]:
    """The soft assignments s of `soft_kmeans_loss`; the sum of every row is one."""
    return torch.softmax(-alpha * center_distances(H, U), dim=1)
