"""Soft assignments of DEC [1]_, their target, and the divergence of the two.

References
----------
.. [1] Xie, Girshick and Farhadi (2016). Unsupervised Deep Embedding for Clustering Analysis. ICML.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from dekm.clustering.kmeans import center_distances


def soft_assignment(H: Float[Tensor, "b e"], U: Float[Tensor, "k e"]) -> Float[Tensor, "b k"]:
    r"""Soft assignments Q of embedded points to centroids, Equation (1) of Xie et al. (2016).

    .. math:: q_{ij} = \frac{(1 + \|h_i - \mu_j\|^2)^{-1}}{\sum_{j'} (1 + \|h_i - \mu_{j'}\|^2)^{-1}}

    where :math:`h_i` is a row of `H` and :math:`\mu_j` a row of `U`. It is Student's t-distribution with one
    degree of freedom (alpha = 1). The sum of every row is one.
    """
    similarity = 1 / (1 + center_distances(H, U))
    return similarity / similarity.sum(1, keepdim=True)


def target_distribution(Q: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
    r"""Target distribution P, Equation (3) of Xie et al. (2016).

    .. math:: p_{ij} = \frac{q_{ij}^2 / f_j}{\sum_{j'} q_{ij'}^2 / f_{j'}}, \quad f_j = \sum_{i=1}^n q_{ij}

    where :math:`q_{ij}` are the elements of `Q`. The cluster frequencies :math:`f_j` are sums over all n
    samples, not over a batch. The sum of every row is one.
    """
    weight = Q**2 / Q.sum(0)
    return weight / weight.sum(1, keepdim=True)


def kl_divergence(P: Float[Tensor, "b k"], Q: Float[Tensor, "b k"]) -> Float[Tensor, ""]:
    r"""Kullback-Leibler divergence, Equation (2) of Xie et al. (2016), as a mean over the b samples.

    .. math:: KL(P \| Q) = \frac{1}{b} \sum_{i=1}^b \sum_{j=1}^k p_{ij} \ln \frac{p_{ij}}{q_{ij}}
    """
    return (torch.xlogy(P, P) - P * Q.log()).sum(1).mean()
