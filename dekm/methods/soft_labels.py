"""Base class of the deep methods whose label is the most probable cluster and not the nearest center."""

from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.clustering.kmeans import Partition, inertia_of
from dekm.clustering.lloyd import cluster_means
from dekm.methods.deep import DeepClusterer
from dekm.nn.device import default_modes


class SoftlyLabelled(DeepClusterer):
    """Base class of the deep methods whose label is the most probable cluster.

    A subclass defines `probabilities`.
    """

    def probabilities(self, H: Float[Tensor, "n e"]) -> Float[Tensor, "n k"]:
        """Probabilities of the clusters of embedded samples by the fitted method."""
        raise NotImplementedError

    @default_modes()
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the clusters of samples; float32 of shape (n, k)."""
        check_is_fitted(self)
        return self.probabilities(self.embed(self.load_samples(X, reset=False))).cpu().numpy()

    @default_modes()
    def predict(self, X: Any) -> np.ndarray:
        """Assign every sample to its most probable cluster; int64 of shape (n,)."""
        return self.predict_proba(X).argmax(1)

    @default_modes()
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of the squared distances of the embedded samples to the centers of their clusters."""
        check_is_fitted(self)
        H, U = self.embed_beside_centers(X)
        return -inertia_of(H, U, self.probabilities(H).argmax(1))


def partition_of(
    H: Float[Tensor, "n e"], Q: Float[Tensor, "n k"], U: Float[Tensor, "k e"] | None = None
) -> Partition:
    """The most probable cluster of each point by Q; the centers are U, or the means of the clusters."""
    labels = Q.argmax(1)
    centers = cluster_means(H, labels, Q.shape[1]) if U is None else U.clone()
    return Partition(labels, centers, inertia_of(H, centers, labels), 0)
