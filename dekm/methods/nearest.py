"""Base class of the methods that embed the samples of a fit and have no map for other ones."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.methods.base import Clusterer
from dekm.nn.device import default_modes


class NearestSample(Clusterer):
    """Base class of the methods whose embedding is defined for the samples of the fit only.

    A new sample has the embedding and the cluster of the nearest sample of the fit, whatever other samples
    are given with it. A `fit` calls `keep_points`; a saved file holds the points, n d values.

    Attributes
    ----------
    points_ : float32 array of shape (n, d)
        The points whose graph of neighbours was embedded: the samples as vectors, or their `points`.
    """

    def points(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n d"]:
        """The points between which distances are measured: the samples as vectors."""
        return samples.flatten(1)

    def keep_points(self, samples: Float[Tensor, "n ..."]) -> Float[np.ndarray, "n d"]:
        """Set `points_` from the samples of a fit, which is a copy, and return it."""
        self.points_ = self.points(samples).cpu().numpy().copy()
        return self.points_

    def embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        """Embedding of the nearest sample of the fit."""
        return torch.from_numpy(self.embedding_[self._nearest(samples)]).to(samples.device)

    @default_modes()
    def predict(self, X: Any) -> np.ndarray:
        """Assign every sample to the cluster of the nearest sample of the fit; int64 of shape (n,)."""
        check_is_fitted(self)
        return self.labels_[self._nearest(self.load_samples(X, reset=False))]

    @default_modes()
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of the squared distances of the embedded samples to the centers of their clusters."""
        check_is_fitted(self)
        nearest = self._nearest(self.load_samples(X, reset=False))
        D = self.embedding_[nearest] - self.cluster_centers_[self.labels_[nearest]]
        return -float((D**2).sum(dtype=np.float64))

    def _nearest(self, samples: Float[Tensor, "n ..."]) -> Int[np.ndarray, " n"]:
        """Row of the nearest sample of the fit."""
        return pairwise_distances_argmin(self.points(samples).cpu().numpy(), self.points_)
