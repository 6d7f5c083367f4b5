"""Breaking the Reclustering Barrier (BRB) [1]_: soft resets of the encoder, each with a new K-means.

References
----------
.. [1] Miklautz, Klein, Sidak, Leiber, Lang, Shkabrii, Tschiatschek and Plant (2025). Breaking the
   Reclustering Barrier in Centroid-based Deep Clustering. ICLR. arXiv:2411.02275.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import clone
from torch import Tensor, nn

from dekm.clustering.kmeans import Partition, kmeans
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.coordinates import COORDINATES
from dekm.methods.validation import Constraints, Integer, Number
from dekm.nn.training import Step, encode, steps_per_epoch

RESET_CONSTRAINTS: Constraints = {
    "reset_interval": Integer(0),
    "reset_factor": Number(0, 1, inclusive=True, closed=True),
}


class SoftResets:
    """The soft resets of a fit, which happen between two iterations.

    Every `reset_interval` passes over the samples the encoder is moved towards new initial weights
    (`soft_reset`), and K-means clusters its embedding. At least as many passes follow the last reset, so
    that the encoder recovers before the fit ends; until then labels that settle do not end it.

    Parameters
    ----------
    fit : DEC, DCN or DEKM
        The estimator, whose `fit` has set ``encoder_``.
    samples : float32 tensor of shape (n, ...)
        The samples of the fit, as the encoder gets them.
    n_steps : int
        Steps of an iteration.
    """

    def __init__(self, fit: Any, samples: Float[Tensor, "n ..."], n_steps: int) -> None:
        self.fit, self.samples = fit, samples
        interval = fit.reset_interval * steps_per_epoch(len(samples), fit.batch_size)
        self.iterations = reset_iterations(interval, n_steps, fit.max_iter)

    def follow(self, n_iter: int) -> bool:
        """Whether the encoder is reset after iteration `n_iter` or a later one."""
        return bool(self.iterations) and n_iter <= self.iterations[-1]

    def due(self, n_iter: int) -> bool:
        """Whether the encoder is reset after iteration `n_iter`."""
        return n_iter in self.iterations

    def recluster(self, random_state: np.random.RandomState) -> tuple[Float[Tensor, "n e"], Partition]:
        """Reset the encoder in place and return the embedding of the samples with its K-means."""
        encoder = self.fit.encoder_
        fresh = initial_encoder(self.fit, int(random_state.randint(2**31 - 1)))
        soft_reset(encoder, fresh, self.fit.reset_factor)
        H = encode(encoder, self.samples)
        return H, kmeans(H, self.fit.n_clusters, n_init=self.fit.n_init, random_state=random_state)


def reset_iterations(interval: int, n_steps: int, max_iter: int) -> list[int]:
    """The iterations of `n_steps` steps after which an encoder is reset every `interval` steps; 0 is never.

    A reset waits for the end of an iteration, and at least `interval` steps follow the last one.
    """
    if interval == 0:
        return []
    ends = (-(-steps // n_steps) for steps in range(interval, max_iter * n_steps, interval))
    return sorted({end for end in ends if (max_iter - end) * n_steps >= interval})


def initial_encoder(fit: Any, seed: int) -> nn.Module:
    """The encoder of an autoencoder as that of the fit, with other initial weights and without training."""
    given = getattr(fit.autoencoder_, "estimator", fit.autoencoder_)
    init = "auto" if given.init in COORDINATES else given.init
    untrained: Autoencoder = clone(given).set_params(init=init, n_epochs=0, random_state=seed, progress=False)
    samples = fit._samples if init == "pca" else fit._samples[:1]  # other weights do not depend on them
    encoder: nn.Module = untrained.fit(samples.cpu().numpy()).module_.encoder
    return encoder


@torch.no_grad()
def soft_reset(encoder: nn.Module, fresh: nn.Module, factor: float) -> None:
    r"""Replace the weights w of an encoder by :math:`\alpha w + (1 - \alpha) w'`, in place.

    Here w' are the weights of `fresh`, an encoder of the same layers, and :math:`\alpha` is `factor`. The
    last layer with a matrix, which is the embedding, keeps its weights, and so do layers without a matrix,
    such as batch normalization.
    """
    pairs = [
        (layer, other)
        for layer, other in zip(encoder.modules(), fresh.modules(), strict=True)
        if any(value.ndim > 1 for value in layer.parameters(recurse=False))
    ]
    for layer, other in pairs[:-1]:
        for value, new in zip(layer.parameters(recurse=False), other.parameters(recurse=False), strict=True):
            value.mul_(factor).add_(new.to(value.device), alpha=1 - factor)


def forget_momentum(step: Step, centers: nn.Parameter) -> None:
    """Set what the optimizer keeps of the gradients of the centers to zero, but not its number of steps."""
    for parameter, state in zip(step.parameters, step.optimizer.state, strict=True):
        if parameter is centers:
            for tensor in state:
                if tensor.shape == centers.shape:
                    tensor.zero_()
