"""What every method reports of its iterations."""

import dataclasses

import numpy as np

from dekm.methods.iteration import Iteration
from tests.helpers.methods import every_method

COLUMNS = {"n_iter", "loss", "changed", "inertia", "seconds"}
COLUMNS |= {"inertia_fraction", "effective_rank", "smallest", "largest", "effective_clusters", "ari_first"}


@every_method
def test_on_iteration_gets_the_state_of_the_method_and_no_true_labels(name, make_method, blobs):
    seen = []
    estimator = make_method(name, on_iteration=seen.append).fit(blobs.X, blobs.y)
    fields = {field.name for field in dataclasses.fields(Iteration)}
    assert fields == {"n_iter", "H", "labels", "centers", "inertia", "changed", "loss", "V", "first_labels"}
    assert [iteration.n_iter for iteration in seen] == list(range(estimator.n_iter_ + 1))
    np.testing.assert_array_equal(seen[-1].labels, estimator.labels_)
    np.testing.assert_array_equal(seen[-1].H, estimator.embedding_)
    np.testing.assert_array_equal(seen[-1].centers, estimator.cluster_centers_)


@every_method
def test_history_has_one_row_per_iteration(name, make_method, blobs):
    estimator = make_method(name).fit(blobs.X)
    for n_iter, row in enumerate(estimator.history_):
        assert set(row) == COLUMNS
        assert row["n_iter"] == n_iter
    assert np.isnan(estimator.history_[0]["changed"])
    assert estimator.history_[-1]["inertia"] == estimator.inertia_
    assert estimator.history_[0]["ari_first"] == 1
    assert estimator.history_[-1]["largest"] == np.bincount(estimator.labels_).max()
    seconds = [row["seconds"] for row in estimator.history_]
    assert sorted(seconds) == seconds
    assert seconds[0] > 0
