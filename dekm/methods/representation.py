"""Line 7 of Algorithm 1: the targets of DEKM and the loss that moves the embedding to them."""

from jaxtyping import Float, Int
from torch import Tensor


def representation_loss(
    H: Float[Tensor, "b e"], V: Float[Tensor, "e e"], Y_target: Float[Tensor, "b e"]
) -> Float[Tensor, ""]:
    r"""Equation (6) as a mean over a batch.

    .. math:: \frac{1}{b} \sum_{i=1}^b \|y_i - y_i'\|^2, \quad y_i = V h_i

    where :math:`h_i` is a row of `H`, `V` the transformation matrix and :math:`y_i'` a row of `Y_target`.
    """
    return ((H @ V.T - Y_target) ** 2).sum(1).mean()


def move_to_centroids(
    Y: Float[Tensor, "n e"], M: Float[Tensor, "k e"], labels: Int[Tensor, " n"], columns: list[int]
) -> Float[Tensor, "n e"]:
    """Target Y' of Equation (6): Y with some columns replaced by those of each sample's centroid in M."""
    Y_target = Y.clone()
    Y_target[:, columns] = M[labels][:, columns]
    return Y_target
