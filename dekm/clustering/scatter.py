"""Equations (2) to (5): the within-class scatter matrix and the space Y in which it is diagonal."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def within_class_scatter(
    H: Float[Tensor, "n e"], labels: Int[Tensor, " n"], U: Float[Tensor, "k e"]
) -> Float[Tensor, "e e"]:
    r"""Within-class scatter matrix of a K-means partition, Equation (4).

    .. math:: S_w = \sum_{i=1}^{k} \sum_{h \in C_i} (h - \mu_i)(h - \mu_i)^\top

    Its trace is the K-means loss :math:`L_2` of Equation (2); a sum over the samples, not a mean.
    """
    D = (H - U[labels]).double()
    return (D.T @ D).to(H.dtype)


def sorted_eigenvectors(S_w: Float[Tensor, "e e"]) -> Float[Tensor, "e e"]:
    """Orthonormal transformation matrix V of Section III-B: line 6 of Algorithm 1.

    Row ``V[i]`` is the eigenvector of the i-th smallest eigenvalue of `S_w`, so ``Y = H @ V.T`` and the
    last coordinate of Y carries the least cluster-structure information. The symmetric solver runs in
    float64 and yields real, orthonormal vectors also where eigenvalues repeat.
    """
    symmetric = (S_w + S_w.T).double() / 2
    return torch.linalg.eigh(symmetric).eigenvectors.T.to(S_w.dtype)
