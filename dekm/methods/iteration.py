"""The state of a method after an update, and what it shows without true labels."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from dekm.metrics import ari


@dataclass(frozen=True)
class Iteration:
    """The state of a method after `n_iter` updates of the representation.

    Attributes
    ----------
    n_iter : int
        Number of updates so far; 0 is the state before the first one.
    H : float32 tensor of shape (n, e)
        Embedding of the samples.
    labels : int64 tensor of shape (n,)
        Cluster of every sample.
    centers : float32 tensor of shape (k, e)
        Cluster centers.
    inertia : float
        Sum of the squared distances of the rows of H to their centers.
    changed : float
        Fraction of samples whose cluster changed since the previous iteration; NaN in iteration 0.
    loss : float
        Mean loss of the batches of the last update; NaN in iteration 0.
    V : float32 tensor of shape (e, e) or None
        Rows are the eigenvectors of the within-class scatter matrix; None if the method does not use them.
    first_labels : int64 tensor of shape (n,) or None
        Labels of iteration 0; None stands for those of this iteration.
    """

    n_iter: int
    H: Float[Tensor, "n e"]
    labels: Int[Tensor, " n"]
    centers: Float[Tensor, "k e"]
    inertia: float
    changed: float = float("nan")
    loss: float = float("nan")
    V: Float[Tensor, "e e"] | None = None
    first_labels: Int[Tensor, " n"] | None = None

    @cached_property
    def cluster_sizes(self) -> Int[Tensor, " k"]:
        """Number of samples of every cluster, int64."""
        return torch.bincount(self.labels, minlength=len(self.centers)).cpu()

    @cached_property
    def inertia_fraction(self) -> float:
        """Inertia as a fraction of the total scatter of H, in [0, 1]; NaN if all points are equal."""
        total = float(self._covariance.trace()) * len(self.H)
        return self.inertia / total if total > 0 else float("nan")

    @cached_property
    def effective_rank(self) -> float:
        """Number of dimensions that H uses, in [1, e]: the exponential of the entropy of its variances.

        The variances, divided by their sum, are those of the principal components (Roy and Vetterli, 2007).
        NaN if all points are equal.
        """
        variances = torch.linalg.eigvalsh(self._covariance).clamp_min(0)
        fractions = variances / variances.sum()
        return float(torch.special.entr(fractions).sum().exp())

    @cached_property
    def ari_first(self) -> float:
        """Adjusted Rand index between the labels and those of iteration 0."""
        if self.first_labels is None:
            return 1.0
        return ari(self.first_labels.cpu(), self.labels.cpu())

    @cached_property
    def _covariance(self) -> Float[Tensor, "e e"]:
        centered = (self.H - self.H.mean(0)).double()
        return (centered.T @ centered / len(self.H)).cpu()

    def row(self) -> dict[str, float]:
        """What the history of a fit holds of this iteration."""
        return {
            "n_iter": self.n_iter,
            "loss": self.loss,
            "changed": self.changed,
            "inertia": self.inertia,
            "inertia_fraction": self.inertia_fraction,
            "effective_rank": self.effective_rank,
            "smallest": int(self.cluster_sizes.min()),
            "largest": int(self.cluster_sizes.max()),
            "ari_first": self.ari_first,
        }


OnIteration = Callable[[Iteration], None]
