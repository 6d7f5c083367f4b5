"""The posterior of VaDE [1]_: two layers of the encoder, and the divergence from a mixture of Gaussians.

References
----------
.. [1] Jiang, Zheng, Tan, Tang and Zhou (2017). Variational Deep Embedding: An Unsupervised and Generative
   Approach to Clustering. IJCAI. arXiv:1611.05148.
"""

import copy

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dekm.errors import InputError, shown
from dekm.nn.networks import xavier_initialize


def log_joint(
    Z: Float[Tensor, "b e"],
    log_weights: Float[Tensor, " k"],
    U: Float[Tensor, "k e"],
    log_variances: Float[Tensor, "k e"],
) -> Float[Tensor, "b k"]:
    r"""Logarithms of :math:`\pi_j N(z_i; u_j, \lambda_j)`, up to the constant of the normal distribution."""
    squares = (Z[:, None] - U).square() / log_variances.exp()
    return log_weights - (squares + log_variances).sum(2) / 2


def divergence(
    means: Float[Tensor, "b e"],
    log_variances: Float[Tensor, "b e"],
    log_gamma: Float[Tensor, "b k"],
    mixture: tuple[Float[Tensor, " k"], Float[Tensor, "k e"], Float[Tensor, "k e"]],
) -> Float[Tensor, ""]:
    r"""Divergence of the posterior of an embedding and its cluster from the mixture, a mean over the batch.

    .. math:: \sum_j \gamma_j \Big( KL\big(N(\mu, \sigma^2) \| N(u_j, \lambda_j)\big)
        + \ln \frac{\gamma_j}{\pi_j} \Big)

    It is what the evidence lower bound of Jiang et al. (2017) subtracts from the reconstruction; constants
    that cancel are left out. `mixture` has the logarithms of the weights, the means and the logarithms of
    the variances.
    """
    log_weights, U, log_lambda = mixture
    gamma = log_gamma.exp()
    ratios = (log_variances.exp()[:, None] + (means[:, None] - U).square()) / log_lambda.exp()
    of_clusters = (log_lambda + ratios).sum(2) / 2 + log_gamma - log_weights
    return ((gamma * of_clusters).sum(1) - (1 + log_variances).sum(1) / 2).mean()


def split_encoder(encoder: nn.Module) -> tuple[nn.Module, nn.Linear]:
    """The layers below the embedding, and the linear layer that is the embedding.

    `InputError` if the encoder does not end with a linear layer.
    """
    if isinstance(encoder, nn.Linear):
        return nn.Identity(), encoder
    if isinstance(encoder, nn.Sequential) and isinstance(last := encoder[-1], nn.Linear):
        return encoder[:-1], last
    raise InputError(
        f"encoder={shown(type(encoder).__name__)} should be a torch.nn.Sequential that ends with a Linear: "
        "VaDE puts a second one beside it, for the variances."
    )


def spread_layer(embedding: nn.Linear, generator: torch.Generator) -> nn.Linear:
    """A layer as the embedding with Xavier uniform weights and zero biases, drawn on the CPU."""
    spread = copy.deepcopy(embedding).cpu()
    xavier_initialize(spread, generator)
    return spread.to(embedding.weight.device)
