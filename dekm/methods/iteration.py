"""The state of a method after an update, and what it shows without true labels."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from tqdm.auto import tqdm

from dekm.metrics import ari

RANK_DIMS = 256


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
        """Inertia as a fraction of the total scatter of H; NaN if all points are equal.

        It is at most 1 if the centers are the means of their clusters, which DEC and DKM learn instead.
        """
        total = float(self.H.var(0, correction=0).sum(dtype=torch.float64)) * len(self.H)
        return self.inertia / total if total > 0 else float("nan")

    @cached_property
    def effective_rank(self) -> float:
        """Number of dimensions that H uses, in [1, e], see `effective_rank`.

        NaN if all points are equal, or have more than `RANK_DIMS` dimensions, as samples that no method
        embedded.
        """
        return effective_rank(self.H) if self.H.shape[1] <= RANK_DIMS else float("nan")

    @cached_property
    def effective_clusters(self) -> float:
        """Number of equal clusters with the entropy of the cluster sizes, in [1, k]."""
        sizes = self.cluster_sizes.double()
        return float(torch.special.entr(sizes / sizes.sum()).sum().exp())

    @cached_property
    def ari_first(self) -> float:
        """Adjusted Rand index between the labels and those of iteration 0."""
        if self.first_labels is None:
            return 1.0
        return ari(self.first_labels.cpu(), self.labels.cpu())

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
            "effective_clusters": self.effective_clusters,
            "ari_first": self.ari_first,
        }


def effective_rank(points: Float[Tensor, "m d"]) -> float:
    """Number of dimensions that points use: the exponential of the entropy of their variances.

    The variances, divided by their sum, are those of the principal components (Roy and Vetterli, 2007).
    Needs a square matrix of d rows, or of m if d is larger than `RANK_DIMS`; NaN if all points are equal.
    """
    H = points.double()  # squares of large and of small values are infinite or zero in float32
    centered = H - H.mean(0)
    if H.shape[1] > RANK_DIMS:
        centered = centered.T
    variances = torch.linalg.eigvalsh(centered.T @ centered).clamp_min(0)
    fractions = variances / variances.sum()
    return float(torch.special.entr(fractions).sum().exp())


OnIteration = Callable[[Iteration], None]


class IterationBar:
    """A progress bar over at most `total` iterations of a fit, which appears with the first one, or none."""

    def __init__(self, name: str, total: int, *, shown: bool) -> None:
        self.options: dict[str, Any] = {
            "desc": name,
            "unit": " iterations",
            "total": total,
            "disable": not shown,
        }
        self.bar: tqdm | None = None

    def show(self, iteration: Iteration) -> None:
        """Move the bar to an iteration."""
        if self.bar is None:
            self.bar = tqdm(initial=iteration.n_iter, **self.options)
        self.bar.update(iteration.n_iter - self.bar.n)
        if iteration.n_iter > 0:
            self.bar.set_postfix(loss=iteration.loss, changed=iteration.changed)

    def close(self) -> None:
        """End the bar."""
        if self.bar is not None:
            self.bar.close()
