"""A fit that was interrupted and continued gives what it gives without the interruption, bit for bit."""

import inspect

import numpy as np
import pytest
import torch

from dekm.methods import METHODS
from tests.helpers.checkpoints import InterruptedTrainingError, Memory

KINDS = ("vectors", "images")
WITH_CHECKPOINT = [
    name for name, row in METHODS.items() if "checkpoint" in inspect.signature(row.load().fit).parameters
]


@pytest.fixture(params=KINDS)
def samples(request, blobs, images):
    return {"vectors": blobs.X[:100], "images": images.X}[request.param]


def interrupted(make, samples, stop_after):
    """A new estimator, fitted after an interruption at a checkpoint."""
    memory = Memory(stop_after)
    with pytest.raises(InterruptedTrainingError):
        make().fit(samples, checkpoint=memory)
    return make().fit(samples, checkpoint=memory)


def assert_same_weights(first, second):
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("layerwise", [False, True])
def test_pretraining(layerwise, samples, tiny):
    params = {"n_epochs": 5, "batch_size": 32, "layerwise": layerwise}
    if layerwise:
        params["architecture"] = "mlp"
    expected = tiny(**params).fit(samples)
    n_epochs = 20 if layerwise else 5  # three layers before the whole network
    for stop_after in np.random.default_rng(7).choice(np.arange(1, n_epochs + 1), 3, replace=False):
        found = interrupted(lambda: tiny(**params), samples, stop_after)
        assert found.loss_curve_ == expected.loss_curve_
        assert_same_weights(found.module_, expected.module_)


def test_pretraining_interrupted_after_every_epoch(blobs, tiny):
    params = {"n_epochs": 3, "batch_size": 70, "layerwise": True}
    memory = Memory()
    for n_saved in range(1, 12):
        memory.stop_after = n_saved
        with pytest.raises(InterruptedTrainingError):
            tiny(**params).fit(blobs.X, checkpoint=memory)
    memory.stop_after = None
    found, expected = tiny(**params).fit(blobs.X, checkpoint=memory), tiny(**params).fit(blobs.X)
    assert found.loss_curve_ == expected.loss_curve_
    assert_same_weights(found.module_, expected.module_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", WITH_CHECKPOINT)
def test_clustering(name, samples, make_method, tiny):
    changes = {"max_iter": 4, "tol": 0.0, "dims": "random"}
    known = METHODS[name].load()._get_param_names()
    changes = {key: value for key, value in changes.items() if key in known}
    shown = []

    def make():
        shown.clear()
        return make_method(name, **changes, on_iteration=lambda iteration: shown.append(iteration.n_iter))

    expected = make().fit(samples)
    iterations = list(shown)
    for stop_after in np.random.default_rng(3).choice([1, 2, 3], 2, replace=False):
        found = interrupted(make, samples, stop_after)
        assert shown[-1] == iterations[-1]
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        np.testing.assert_array_equal(found.embedding_, expected.embedding_)
        np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
        for row, other in zip(found.history_, expected.history_, strict=True):
            np.testing.assert_equal(row | {"seconds": 0}, other | {"seconds": 0})


def test_only_methods_without_updates_keep_no_checkpoint():
    assert set(METHODS) - set(WITH_CHECKPOINT) == {
        "k_means", "pca_k_means", "ae_k_means", "spectral", "umap_gmm", "n2d",
    }  # fmt: skip
