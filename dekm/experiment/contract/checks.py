"""The checks; the docstring of each says what is checked."""

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from dekm.experiment.contract.subject import (
    N_CLUSTERS,
    Bait,
    CheckSkippedError,
    Subject,
    blobs,
    expect,
    expect_equal,
    expect_error,
)
from dekm.experiment.estimators import find_embedding, fit_labels, parameters, takes_checkpoint
from dekm.nn.checkpoint import NO_CHECKPOINT


def check_parameters(subject: Subject) -> None:
    """The constructor only stores its parameters, and a clone has the same."""
    estimator = subject.make()
    subject.needs("get_params")
    cloned = clone(estimator)
    for name, value in estimator.get_params(deep=False).items():
        same = name == "autoencoder" or getattr(cloned, name) is value or getattr(cloned, name) == value
        expect(bool(same), f"{name}={getattr(cloned, name)!r} of the clone is not {value!r}")
    known = parameters(subject.estimator)
    defaults = {
        name: known[name].default for name in known if known[name].default is not inspect.Parameter.empty
    }
    required = {name: value for name, value in subject.settings.items() if name not in defaults}
    untouched = subject.estimator(**{"n_clusters": N_CLUSTERS} | required)
    for name, default in defaults.items():
        kept = getattr(untouched, name, None)
        expect(
            name == "n_clusters" or kept is default, f"the constructor changes {name}={default!r} to {kept!r}"
        )


def check_labels(subject: Subject) -> None:
    """A fit finds one label per sample, from 0 to n_clusters - 1."""
    X, _ = blobs()
    _, labels = subject.fit(X)
    valid = (labels >= 0) & (labels < N_CLUSTERS)
    expect(bool(valid.all()), f"labels {np.unique(labels[~valid]).tolist()} are not in 0 to {N_CLUSTERS - 1}")


def check_one_cluster(subject: Subject) -> None:
    """One cluster holds all samples."""
    _, labels = subject.fit(blobs()[0], n_clusters=1)
    expect(len(np.unique(labels)) == 1, f"n_clusters=1 gives the labels {np.unique(labels).tolist()}")


def check_deterministic(subject: Subject) -> None:
    """The same seed gives the same labels and the same embedding, bit for bit."""
    X, _ = blobs()
    (first, a), (second, b) = subject.fit(X), subject.fit(X)
    expect_equal(a, b, "labels of two fits with the same random_state")
    if isinstance(getattr(first, "embedding_", None), np.ndarray):
        expect_equal(first.embedding_, second.embedding_, "embeddings of two fits with the same random_state")


def check_seeds(subject: Subject) -> None:
    """Another seed gives another result where there is no structure to find."""
    if "random_state" not in parameters(subject.estimator):
        raise CheckSkippedError("the constructor has no random_state")
    X = np.random.default_rng(0).random((150, 6), dtype=np.float32)
    found = []
    for seed in range(4):
        estimator, labels = subject.fit(X, n_clusters=8, random_state=seed)
        found.append(labels.tobytes() + find_embedding(estimator, X).tobytes())
    expect(len(set(found)) > 1, "random_state=0 to 3 give the same labels, bit for bit: fit ignores it")


def check_truth(subject: Subject) -> None:
    """Labels that are passed to fit as y change nothing."""
    X, y = blobs()
    if "y" not in inspect.signature(subject.estimator.fit).parameters:  # type: ignore[attr-defined]
        raise CheckSkippedError("fit takes no y")
    estimator = subject.make().fit(X, y)
    if not hasattr(estimator, "labels_"):
        raise CheckSkippedError("a fit leaves no labels_")
    expect_equal(np.asarray(estimator.labels_), subject.fit(X)[1], "labels with and without y")


def check_bait(subject: Subject) -> None:
    """The hook and the checkpoint that a fit is handed are called, and not searched for labels."""
    if not subject.is_clusterer:
        raise CheckSkippedError("it is not derived from Clusterer, so it is handed neither")
    X, y = blobs()
    bait = Bait(np.random.default_rng(0).permutation(y))
    estimator = subject.make()
    estimator.on_iteration = bait
    labels = fit_labels(estimator, X, bait if takes_checkpoint(estimator) else NO_CHECKPOINT)
    expect(
        not bait.taken,
        f"fit reads {', '.join(bait.taken)} of its hook or checkpoint, which it should only call",
    )
    expect_equal(labels, subject.fit(X)[1], "labels with and without a hook that carries labels")


def check_samples_unchanged(subject: Subject) -> None:
    """The samples are not changed."""
    X, _ = blobs()
    before = X.copy()
    subject.fit(X)
    expect(np.array_equal(X, before), "a fit changes X")


def check_refit(subject: Subject) -> None:
    """A second fit does not depend on the first."""
    X, _ = blobs()
    estimator, _ = subject.fit(X[:90])
    expect_equal(subject.labels(estimator, X), subject.fit(X)[1], "labels of a second fit and of a first one")


def check_too_few_samples(subject: Subject) -> None:
    """Fewer samples than clusters raise a `ValueError` with a message."""
    expect_error(subject, blobs(2)[0], f"n_samples=2 with n_clusters={N_CLUSTERS}")


def check_nan(subject: Subject) -> None:
    """NaN in the samples raises a `ValueError` with a message."""
    X, _ = blobs()
    X[3, 4] = np.nan
    expect_error(subject, X, "NaN in X")


def check_n_clusters(subject: Subject) -> None:
    """n_clusters=0 raises a `ValueError` with a message."""
    expect_error(subject, blobs()[0], "n_clusters=0", n_clusters=0)


def check_forms(subject: Subject) -> None:
    """Data frames, tensors and sparse matrices give the labels of the same array."""
    X, _ = blobs()
    forms: dict[str, Any] = {
        "a data frame": pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
        "a float64 array": X.astype(np.float64),
        "a torch tensor": torch.from_numpy(X),
    }
    if get_tags(subject.make()).input_tags.sparse:
        forms["a sparse matrix"] = sparse.csr_matrix(X)
    _, expected = subject.fit(X)
    for name, form in forms.items():
        expect_equal(fit_labels(subject.make(), form), expected, f"labels of {name} and of an array")


def check_images(subject: Subject) -> None:
    """Images (n, h, w, c) are clustered."""
    if not subject.is_clusterer:
        raise CheckSkippedError("it is not derived from Clusterer, so it is given images as vectors")
    rng = np.random.default_rng(0)
    X = rng.random((60, 8, 8, 1)).astype(np.float32)
    expect(len(subject.fit(X)[1]) == len(X), "60 images do not get 60 labels")


def check_predict(subject: Subject) -> None:
    """The prediction of the samples of the fit is their labels."""
    subject.needs("predict")
    X, _ = blobs()
    estimator, labels = subject.fit(X)
    expect_equal(np.asarray(estimator.predict(X)), labels, "predict(X) and labels of the fit")


def check_iterations(subject: Subject) -> None:
    """Each iteration is reported, and the last one has the labels of the fit."""
    if not subject.is_clusterer:
        raise CheckSkippedError("it is not derived from Clusterer")
    seen: list[Any] = []
    estimator = subject.make()
    estimator.on_iteration = seen.append
    labels = subject.labels(estimator, blobs()[0])
    expect(bool(seen), "no iteration is reported")
    expect_equal(seen[-1].labels.cpu().numpy(), labels, "labels of the last iteration and of the fit")
    numbers = [row["n_iter"] for row in estimator.history_]
    expect(numbers == [iteration.n_iter for iteration in seen], f"history_ has the iterations {numbers}")


def check_saved(subject: Subject) -> None:
    """A saved estimator is read back and predicts the same."""
    subject.needs("save", "load", "predict")
    X, _ = blobs()
    estimator, _ = subject.fit(X)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        estimator.save(file)
        loaded = subject.estimator.load(file)  # type: ignore[attr-defined]
    expect_equal(loaded.predict(X), estimator.predict(X), "predictions before and after saving")


CHECKS: tuple[Callable[[Subject], None], ...] = (
    check_parameters,
    check_labels,
    check_one_cluster,
    check_deterministic,
    check_seeds,
    check_truth,
    check_bait,
    check_samples_unchanged,
    check_refit,
    check_too_few_samples,
    check_nan,
    check_n_clusters,
    check_forms,
    check_images,
    check_predict,
    check_iterations,
    check_saved,
)
