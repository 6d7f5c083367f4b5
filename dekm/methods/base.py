"""Base class of all methods: an embedding, cluster centers in it, and the nearest center as the label."""

import contextlib
import functools
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
import torch
from jaxtyping import Float
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.clustering.kmeans import Partition, nearest_center
from dekm.errors import InputError
from dekm.methods.iteration import RANK_DIMS, Iteration, IterationBar, OnIteration, effective_rank
from dekm.methods.notices import FinishedFit, empty_clusters
from dekm.methods.persistence import Saved
from dekm.methods.samples import check_samples
from dekm.methods.validation import MOST_RESTARTS, Constraints, Integer, check_parameters
from dekm.metrics import silhouette
from dekm.nn.device import default_modes, resolve_device
from dekm.nn.training import steps_per_epoch
from dekm.scaling import InputScaling

Fit = TypeVar("Fit", bound=Callable[..., Any])


def fitting(fit: Fit) -> Fit:
    """Decorate the `fit` of a method: it runs in the default modes, and closes what it opened if it fails."""

    @functools.wraps(fit)
    def closed(self: Any, *args: Any, **kwargs: Any) -> Any:
        with default_modes(), contextlib.ExitStack() as self._until_finished:
            return fit(self, *args, **kwargs)

    return cast(Fit, closed)


class Clusterer(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, Saved):
    """Base class of the methods. A subclass defines `fit` and `embed`, the embedding of samples.

    Its `fit` calls `start_fit`, `load_samples`, `report` after every iteration, and at the end
    `finish_fit`. The class attribute `parameter_constraints` has the valid values of the parameters, which
    `start_fit` checks.

    Attributes
    ----------
    labels_ : int64 array of shape (n,)
        Cluster of every training sample.
    cluster_centers_ : float32 array of shape (k, e)
        Cluster centers in the embedding.
    embedding_ : float32 array of shape (n, e)
        Embedding of the training samples.
    inertia_ : float
        Sum of the squared distances of the embedded samples to their centers.
    n_iter_ : int
        Number of updates of the representation.
    n_clusters_found_ : int
        Number of clusters that are not empty.
    warnings_ : list of str
        What the fit has warned of with a `ConvergenceWarning`.
    history_ : list of dict
        One dict per iteration with the keys of `Iteration.row` and seconds, the time since the start of the
        fit without that of `on_iteration`.
    sample_shape_ : tuple of int
        Shape of a sample.
    input_scaling_ : InputScaling
        How samples are scaled; `predict` and `transform` apply it to new ones.
    """

    n_clusters: int
    # Defaults of the parameters that the constructor of a subclass may lack.
    device: str | torch.device = "auto"
    random_state: int | np.random.RandomState | None = None
    on_iteration: OnIteration | None = None
    progress = False

    parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": Integer(1),
        "n_init": Integer(1, maximum=MOST_RESTARTS),
    }
    _ADVICE = "Try a smaller n_clusters."  # in the warning about empty clusters

    @property
    def planned_iterations(self) -> int:
        """Largest number of updates of the representation in a fit; 0 for a method without updates."""
        return getattr(self, "max_iter", 0)

    @default_modes()
    def transform(self, X: Any) -> np.ndarray:
        """Embed samples; float32 of shape (n, e)."""
        check_is_fitted(self)
        return self.embed(self.load_samples(X, reset=False)).cpu().numpy()

    @default_modes()
    def predict(self, X: Any) -> np.ndarray:
        """Assign every sample to the nearest center in the embedding; int64 of shape (n,)."""
        check_is_fitted(self)
        H, U = self.embed_beside_centers(X)
        return nearest_center(H, U).cpu().numpy()

    @default_modes()
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of the squared distances of the embedded samples to their nearest centers."""
        check_is_fitted(self)
        H, U = self.embed_beside_centers(X)
        return -float(((H - U[nearest_center(H, U)]) ** 2).sum(dtype=torch.float64))

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def embed_beside_centers(self, X: Any) -> tuple[Float[Tensor, "n e"], Float[Tensor, "k e"]]:
        """Embedding of samples and the cluster centers, on one device."""
        H = self.embed(self.load_samples(X, reset=False))
        return H, torch.from_numpy(self.cluster_centers_).to(H.device)

    def load_samples(self, X: Any, *, reset: bool) -> Float[Tensor, "n ..."]:
        """Validate samples and move them to the device.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Vectors (n, d), grey images (n, h, w) or images (n, h, w, c); images of bytes are divided by 255.
        reset : bool
            Whether `X` is the data of a fit, which sets ``sample_shape_``; otherwise its samples must have
            that shape.

        Raises
        ------
        InputError
            If `X` is not valid, or a fit has fewer samples than `n_clusters`.
        """
        samples = check_samples(self, X, reset=reset, scaling=self._given_scaling())
        if reset and len(samples) < self.n_clusters:
            raise InputError(f"n_samples={len(samples)} should be >= n_clusters={self.n_clusters}.")
        samples = samples.to(resolve_device(self.device))
        if reset:
            self._samples = samples
        return samples

    def _given_scaling(self) -> InputScaling | None:
        """The rule of scaling that is not learned by a fit but given."""
        return None

    def embed(self, samples: Float[Tensor, "n ..."]) -> Float[Tensor, "n e"]:
        """Embedding of samples by the fitted method, which `transform` and `predict` use."""
        raise NotImplementedError

    def start_fit(self) -> tuple[np.random.RandomState, torch.Generator]:
        """Check the parameters, clear the history and return the random generators of the fit.

        Returns
        -------
        random_state : RandomState
            Made from the parameter `random_state`.
        generator : torch.Generator
            A generator on the CPU with a seed drawn from `random_state`.

        Raises
        ------
        InputError
            If a parameter is not valid.
        """
        check_parameters(self)
        random_state = check_random_state(self.random_state)
        self.history_: list[dict[str, float]] = []
        self.warnings_: list[str] = []
        self._first_labels: Tensor | None = None
        self._n_steps: int | None = None  # between two iterations; `Continuation.resume` knows it
        self._bar = IterationBar(type(self).__name__, self.planned_iterations, shown=self.progress)
        if not hasattr(self, "_until_finished"):  # of a `fit` without `fitting`
            self._until_finished = contextlib.ExitStack()
        self._until_finished.callback(self._bar.close)
        self._started = time.perf_counter()
        self._seed = int(random_state.randint(2**31 - 1))
        return random_state, torch.Generator().manual_seed(self._seed)

    def report(self, iteration: Iteration) -> None:
        """Append an iteration to `history_` and call `on_iteration`, whose time does not count."""
        seconds = time.perf_counter() - self._started
        if self._first_labels is None:
            self._first_labels = iteration.labels.clone()
        iteration = replace(iteration, first_labels=self._first_labels)
        self.history_.append(iteration.row() | {"seconds": seconds})
        self._bar.show(iteration)
        if self.on_iteration is not None:
            self.on_iteration(iteration)
        self._started = time.perf_counter() - seconds

    def finish_fit(self, H: Float[Tensor, "n e"], partition: Partition, n_iter: int) -> Self:
        """Set the learned attributes and return the estimator; warn if the partition is doubtful.

        Parameters
        ----------
        H : float32 tensor of shape (n, e)
            Embedding of the samples.
        partition : Partition
            Labels, centers and inertia in this embedding.
        n_iter : int
            Number of updates of the representation.
        """
        self._until_finished.close()
        self.embedding_ = H.cpu().numpy()
        self.labels_ = partition.labels.cpu().numpy()
        self.cluster_centers_ = partition.centers.cpu().numpy()
        self.inertia_ = partition.inertia
        self.n_iter_ = n_iter
        self.n_clusters_found_ = len(np.unique(self.labels_))
        for notice in self._doubts():
            self._warn(notice)
        del self._bar, self._first_labels, self._n_steps, self._samples, self._until_finished, self._seed
        return self

    def _warn(self, message: str) -> None:
        """Warn of the fit, and keep the message; called by a function that `fit` calls."""
        self.warnings_.append(message)
        warnings.warn(message, ConvergenceWarning, stacklevel=5)  # the caller of the decorated fit

    def _doubts(self) -> list[str]:
        if self.n_clusters_found_ < self.n_clusters:
            return [empty_clusters(self.embedding_, self.n_clusters_found_, self.n_clusters) + self._ADVICE]
        if not self.history_:
            return []
        fit = FinishedFit(
            self.history_,
            len(self._samples),
            self.n_clusters,
            self.embedding_.shape[1],
            passes=self._passes_of_iteration(),
            sample_rank=effective_rank(drawn(self._samples.flatten(1))),
            silhouettes=self._silhouettes(),
        )
        return fit.notices()

    def _passes_of_iteration(self) -> float:
        if self._n_steps is None:
            return math.inf
        return self._n_steps / steps_per_epoch(len(self._samples), getattr(self, "batch_size", 1))

    def _silhouettes(self) -> tuple[float | None, float | None]:
        """Silhouettes of the samples under the labels of the first and the last iteration, if they differ."""
        first = cast(Tensor, self._first_labels).cpu().numpy()
        if np.array_equal(first, self.labels_):
            return None, None
        X = self._samples.cpu().numpy()
        return silhouette(X, first), silhouette(X, self.labels_)


def drawn(points: Float[Tensor, "n d"]) -> Float[Tensor, "m d"]:
    """At most `RANK_DIMS` points, drawn with a fixed seed."""
    rows = np.random.default_rng(0).permutation(len(points))[:RANK_DIMS]
    return points[torch.from_numpy(rows).to(points.device)]
