"""Equation (4): the within-class scatter matrix and its eigenvectors, the transformation to the space Y."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def within_class_scatter(
    H: Float[Tensor, "n e"], labels: Int[Tensor, " n"], U: Float[Tensor, "k e"]
) -> Float[Tensor, "e e"]:
    r"""Within-class scatter matrix of a K-means partition, Equation (4): line 5 of Algorithm 1.

    .. math:: S_w = \sum_{i=1}^{k} \sum_{h \in C_i} (h - \mu_i)(h - \mu_i)^\top

    where h is a row of `H`, :math:`\mu_i` a row of `U` and :math:`C_i` the set of the rows whose
    `labels` are i. It is a sum over the samples, not a mean; its trace is the K-means loss :math:`L_2` of
    Equation (2). The product is computed in float64 and returned in the dtype of `H`.
    """
    D = (H - U[labels]).double()
    return (D.T @ D).to(H.dtype)


def sorted_eigenvectors(S_w: Float[Tensor, "e e"]) -> Float[Tensor, "e e"]:
    """Orthonormal transformation matrix V of Section III-B: line 6 of Algorithm 1.

    Row ``V[i]`` is the eigenvector of the i-th smallest eigenvalue of `S_w`, so ``Y = H @ V.T`` and the last
    column of Y has the least cluster-structure information. The symmetric solver, in float64, returns real
    and orthonormal vectors even if eigenvalues repeat.
    """
    # S_w is symmetric but for rounding, and the solver would read only one of its triangles.
    symmetric = (S_w + S_w.T).double() / 2
    return torch.linalg.eigh(symmetric).eigenvectors.T.to(S_w.dtype)
