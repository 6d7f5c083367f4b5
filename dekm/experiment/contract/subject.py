"""An estimator to check, the samples for it, and what is expected of the results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dekm.experiment.estimators import as_vectors, fit_labels, parameters
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Clusterer
from dekm.methods.iteration import Iteration
from dekm.nn.checkpoint import Checkpoint

N_CLUSTERS = 3
# Values of the parameters of a `Clusterer` that make a fit short.
SHORT = {
    "n_init": 2,
    "n_init_update": 2,
    "max_iter": 2,
    "update_interval": 2,
    "epochs_per_iter": 1,
    "n_epochs": 30,
    "tol": 1.0,
}


class CheckFailedError(Exception):
    """A method does not fulfil a check; the text says how."""


class CheckSkippedError(Exception):
    """A check is of something that a method does not have."""


@dataclass(frozen=True)
class Subject:
    """An estimator to check.

    Attributes
    ----------
    estimator : type
        Its class.
    settings : mapping
        Its parameters; those that are not given are the defaults, or short ones for a `Clusterer`.
    """

    estimator: type
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_clusterer(self) -> bool:
        """Whether it is derived from the base class of this package."""
        return issubclass(self.estimator, Clusterer)

    def make(self, **params: Any) -> Any:
        """A new estimator."""
        known = parameters(self.estimator)
        short: dict[str, Any] = SHORT if self.is_clusterer else {}
        decided = {"n_clusters": N_CLUSTERS, "device": "cpu", "random_state": 0}
        if self.is_clusterer and "autoencoder" in known:
            decided["autoencoder"] = small_autoencoder()
        given = {name: value for name, value in (short | decided).items() if name in known}
        return self.estimator(**(given | dict(self.settings) | params))

    def fit(self, X: Any, **params: Any) -> tuple[Any, np.ndarray]:
        """A new estimator fitted on `X`, and the labels that it found."""
        estimator = self.make(**params)
        return estimator, self.labels(estimator, X)

    def labels(self, estimator: Any, X: Any) -> np.ndarray:
        """Fit an estimator and return the labels that it found."""
        return fit_labels(estimator, X if self.is_clusterer else as_vectors(X, accepts_sparse=True))

    def needs(self, *names: str) -> None:
        """Skip the check unless the estimator has these methods."""
        for name in names:
            if not hasattr(self.estimator, name):
                raise CheckSkippedError(f"{self.estimator.__name__} has no {name}")


class Bait(Checkpoint):
    """A hook and a checkpoint with labels in every attribute, which notes the attributes that are read.

    The labels `y` (n,) are wrong, so that a method that takes them finds other clusters.
    """

    def __init__(self, y: np.ndarray) -> None:
        self.y = y
        self._taken: list[str] = []

    def __call__(self, iteration: Iteration) -> None:
        """Keep nothing of an iteration."""

    def __getattribute__(self, name: str) -> Any:
        own = name in ("load", "save", "taken", "get_params") or (
            name.startswith("__") and name != "__dict__"
        )
        if not own:
            object.__getattribute__(self, "_taken").append(name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("__") or name == "get_params":  # which sklearn's clone looks for
            raise AttributeError(name)
        return object.__getattribute__(self, "y")

    def __deepcopy__(self, memo: Any) -> "Bait":
        return self  # a clone of the estimator copies its hook

    @property
    def taken(self) -> list[str]:
        """Names of the attributes that were read."""
        return list(dict.fromkeys(object.__getattribute__(self, "_taken")))


def small_autoencoder() -> Autoencoder:
    """An unfitted autoencoder with small networks."""
    small = {"hidden": (32, 16), "channels": (4, 8, 8), "n_epochs": 3}
    return Autoencoder(embedding_dim=3, device="cpu", **small)  # type: ignore[arg-type]


def blobs(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Points of three Gaussian clusters in six dimensions, and the cluster of each."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % N_CLUSTERS
    return (rng.normal(scale=4, size=(N_CLUSTERS, 6))[y] + rng.normal(size=(n, 6))).astype(np.float32), y


def expect(condition: bool, text: str) -> None:
    """Raise `CheckFailedError` with a text unless a condition holds."""
    if not condition:
        raise CheckFailedError(text)


def expect_equal(first: np.ndarray, second: np.ndarray, what: str) -> None:
    """Raise `CheckFailedError` unless two sets of labels or two embeddings are equal, bit for bit."""
    if first.shape != second.shape:
        raise CheckFailedError(f"{what}: shapes {first.shape} and {second.shape} differ")
    differ = int((first != second).reshape(len(first), -1).any(1).sum())
    expect(differ == 0, f"{what}: {differ} of {len(first)} samples differ")


def expect_error(subject: Subject, X: Any, what: str, **params: Any) -> None:
    """Raise `CheckFailedError` unless a fit raises a ValueError with a text."""
    try:
        subject.fit(X, **params)
    except ValueError as error:
        expect(bool(str(error)), f"{what} raises a ValueError without a text")
    except Exception as error:
        raise CheckFailedError(
            f"{what} raises {type(error).__name__}: {error}; it should be a ValueError"
        ) from error
    else:
        raise CheckFailedError(f"{what} raises no error")
