"""How a cell makes its estimator, fits it, and reads what it learned.

The methods of this package are fitted as they are. Any other scikit-learn clusterer is given what its
constructor and its tags accept, and what it lacks of a `Clusterer` is computed from its labels.
"""

import contextlib
import inspect
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from dekm.errors import InputError, shown, unknown_name
from dekm.experiment.history import History
from dekm.methods import Method
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Clusterer
from dekm.methods.iteration import Iteration
from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint

# Parameters of the estimators that a configuration cannot set: a cell decides them itself.
DECIDED = {"autoencoder", "device", "n_clusters", "on_iteration", "progress", "random_state"}

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Fit:
    """What a run learned."""

    labels: np.ndarray  # cluster (n,) of each sample; negative if it has none
    embedding: np.ndarray  # (n, e), or the samples as vectors if the method has none
    centers: np.ndarray  # of the clusters in the embedding (k, e)
    members: np.ndarray  # row (n,) of `centers`: the label, unless the method numbers its clusters otherwise
    inertia: float  # sum of the squared distances in the embedding to the centers
    n_iter: int  # 0 if the method does not tell it
    history: list[dict[str, float]]  # one row per iteration, as in `history_` of a `Clusterer`
    warnings: list[str]  # what the fit has warned of with a `ConvergenceWarning`
    decoded: np.ndarray | None = None  # the centers as images (k, h, w, c); None without a decoder


def parameters(estimator: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of the constructor of an estimator's class."""
    return inspect.signature(estimator).parameters


def effective_parameters(estimator: Any, settings: Settings) -> dict[str, Any]:
    """All parameters of an estimator's class that a cell does not decide itself, defaults included.

    Values that JSON cannot hold are given as text.
    """
    defaults = {
        name: parameter.default
        for name, parameter in parameters(estimator).items()
        if parameter.default is not parameter.empty
    }
    values = {name: value for name, value in (defaults | dict(settings)).items() if name not in DECIDED}
    plain = (bool, int, float, str, list, tuple, dict, type(None))
    return {name: value if isinstance(value, plain) else str(value) for name, value in values.items()}


def takes_any(estimator: Any) -> bool:
    """Whether the constructor of an estimator's class takes keyword arguments of any name."""
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters(estimator).values())


def settable(estimator: Any) -> list[str]:
    """The named parameters of an estimator's class that a configuration can set."""
    decided = DECIDED | ({"architecture"} if estimator is Autoencoder else set())  # that of the method's row
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = [name for name, parameter in parameters(estimator).items() if parameter.kind in kinds]
    return [name for name in named if name not in decided]


def check_settings(estimator: Any, settings: Settings) -> None:
    """Raise `InputError` unless every setting is a parameter that can be set, with a valid value."""
    valid, constraints = settable(estimator), getattr(estimator, "parameter_constraints", {})
    for name, value in settings.items():
        if name in DECIDED or (name not in valid and not takes_any(estimator)):
            raise InputError(f"{estimator.__name__}: {unknown_name('', name, sorted(valid))}")
        if name in constraints:
            constraints[name].check(name, value)


def check_estimator(row: Method) -> None:
    """Raise `InputError` unless an outside estimator is a class that a cell can use."""
    estimator = row.load()
    if not inspect.isclass(estimator):
        raise InputError(f"estimator={shown(row.estimator)} should be a class; it is {shown(estimator)}.")
    if not hasattr(estimator, "fit"):
        raise InputError(f"estimator={shown(row.estimator)} should have the method fit(X).")
    if "n_clusters" not in parameters(estimator) and not takes_any(estimator):
        raise InputError(
            f"estimator={shown(row.estimator)} should have a constructor with the parameter n_clusters."
        )


def build(
    row: Method, n_clusters: int, settings: Settings, start: Autoencoder | None, device: str, seed: int
) -> Any:
    """The estimator of a cell for one seed, with its pretrained autoencoder if it starts from one."""
    estimator = row.load()
    decided: dict[str, Any] = {"device": device, "random_state": seed}
    if start is not None:
        decided["autoencoder"] = FrozenEstimator(start)
    known = parameters(estimator)
    decided = {name: value for name, value in decided.items() if name in known}
    return estimator(n_clusters=n_clusters, **decided, **settings)


def fit(
    estimator: Any,
    X: Any,
    start: Autoencoder | None,
    history: History,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Fit:
    """Fit a `Clusterer`, or any clusterer with ``fit_predict``, or with ``fit`` and ``labels_``.

    An estimator that has no parameter for the pretrained autoencoder `start` clusters the embedding.
    `history` is the hook that keeps each iteration, `checkpoint` keeps the state if the method can continue
    from one. `InputError` if the estimator does not return one label per sample.
    """
    if start is not None and "autoencoder" not in parameters(type(estimator)):
        X = start.transform(X)
    if isinstance(estimator, Clusterer):
        estimator.on_iteration = history
    else:
        X = as_vectors(X, accepts_sparse=get_tags(estimator).input_tags.sparse)
    if not takes_checkpoint(estimator):
        checkpoint = NO_CHECKPOINT
    started = time.perf_counter()
    with warnings_of(estimator) as noted:
        labels = fit_labels(estimator, X, checkpoint)
    seconds = time.perf_counter() - started
    embedding = find_embedding(estimator, X)
    n_iter = int(getattr(estimator, "n_iter_", 0))
    if isinstance(estimator, Clusterer) and history.points:
        decoded = decode_centers(estimator) if X.ndim == 4 else None
        learned = estimator.cluster_centers_, labels, estimator.inertia_, n_iter, estimator.history_
        return Fit(labels, embedding, *learned, noted, decoded)
    only = last_iteration(n_iter, embedding, labels)
    history(only)
    centers, members = only.centers.numpy(), only.labels.numpy()
    rows = [only.row() | {"seconds": seconds}]
    return Fit(labels, embedding, centers, members, only.inertia, n_iter, rows, noted)


@contextlib.contextmanager
def warnings_of(estimator: Any) -> Iterator[list[str]]:
    """Collect what a fit within the block warns of, and let it warn as ever.

    A `Clusterer` keeps it itself. Others are fitted one at a time: catching is of the whole process.
    """
    noted: list[str] = []
    if isinstance(estimator, Clusterer):
        yield noted
        noted += getattr(estimator, "warnings_", [])
        return
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            yield noted
    finally:
        for found in caught:
            if issubclass(found.category, ConvergenceWarning):
                noted.append(str(found.message))
            warnings.showwarning(found.message, found.category, found.filename, found.lineno)


def as_vectors(X: Any, *, accepts_sparse: bool) -> Any:
    """Samples as rows; a sparse matrix becomes an array unless the estimator accepts it."""
    if sparse.issparse(X):
        return X if accepts_sparse else X.toarray()
    return X.reshape(len(X), -1)


def fit_labels(estimator: Any, X: Any, checkpoint: Checkpoint = NO_CHECKPOINT) -> np.ndarray:
    """Fit an estimator, with a checkpoint if its fit takes one, and return the cluster of each sample."""
    if checkpoint is not NO_CHECKPOINT:
        labels = estimator.fit(X, checkpoint=checkpoint).labels_
    else:
        labels = estimator.fit_predict(X) if hasattr(estimator, "fit_predict") else estimator.fit(X).labels_
    labels = np.asarray(labels)
    if labels.shape != (X.shape[0],) or labels.dtype.kind not in "iu":
        raise InputError(
            f"{type(estimator).__name__} returned labels of shape {labels.shape} and type {labels.dtype}; "
            f"they should be {X.shape[0]} integers, one per sample."
        )
    return labels.astype(np.int64)


def takes_checkpoint(estimator: Any) -> bool:
    """Whether a fit of a method can be continued from a checkpoint."""
    return isinstance(estimator, Clusterer) and "checkpoint" in inspect.signature(estimator.fit).parameters


def find_embedding(estimator: Any, X: Any) -> np.ndarray:
    """The embedding that an estimator learned, else the samples that it clustered; float32."""
    embedding = getattr(estimator, "embedding_", None)
    learned = isinstance(embedding, np.ndarray) and embedding.ndim == 2 and len(embedding) == X.shape[0]
    return np.asarray(embedding if learned else as_vectors(X, accepts_sparse=False), dtype=np.float32)


def decode_centers(estimator: Clusterer) -> np.ndarray | None:
    """The centers of a method as samples, if it has a decoder."""
    decode = getattr(estimator, "inverse_transform", None)
    return None if decode is None else decode(estimator.cluster_centers_)


def last_iteration(n_iter: int, embedding: np.ndarray, labels: np.ndarray) -> Iteration:
    """The state in which a method ended that reports none; the centers are the means of the clusters.

    The labels are numbered from 0; those of no cluster, which are negative, count as a cluster.
    """
    found, members = np.unique(labels, return_inverse=True)
    centers = np.stack([embedding[labels == label].mean(0) for label in found])
    inertia = float(((embedding - centers[members]) ** 2).sum(dtype=np.float64))
    H, assigned, U = (torch.from_numpy(array) for array in (embedding, members, centers))
    return Iteration(n_iter, H, assigned, U, inertia)
