"""What every method learns from a fit, and what it does with new samples."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from dekm.errors import InputError
from dekm.methods import METHODS
from dekm.metrics import accuracy
from tests.helpers.methods import assert_same, deep_method, every_kind, every_method


@every_method
@every_kind
def test_a_fit_learns_arrays_of_the_documented_shapes_and_types(name, kind, fitted, request):
    X, _ = request.getfixturevalue(kind)
    estimator = fitted(name, kind)
    n, e = estimator.embedding_.shape
    assert n == len(X)
    assert estimator.labels_.shape == (n,)
    assert estimator.labels_.dtype == np.int64
    assert set(estimator.labels_) == {0, 1, 2}
    assert estimator.cluster_centers_.shape == (3, e)
    assert estimator.cluster_centers_.dtype == estimator.embedding_.dtype == np.float32
    assert np.isfinite(estimator.embedding_).all()
    distances = ((estimator.embedding_ - estimator.cluster_centers_[estimator.labels_]) ** 2).sum(dtype=float)
    assert estimator.inertia_ == pytest.approx(distances, rel=1e-4)
    assert estimator.score(X) == pytest.approx(-estimator.inertia_, rel=1e-4)
    assert estimator.n_iter_ == estimator.history_[-1]["n_iter"]
    assert estimator.sample_shape_ == X.shape[1:]


@every_method
@every_kind
def test_predict_of_the_training_samples_returns_labels_(name, kind, fitted, request):
    X, _ = request.getfixturevalue(kind)
    estimator = fitted(name, kind)
    labels = estimator.predict(X)
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, estimator.labels_)
    np.testing.assert_allclose(estimator.transform(X), estimator.embedding_, rtol=1e-5, atol=1e-6)


@every_method
@every_kind
def test_the_label_of_a_sample_does_not_depend_on_the_other_samples_given(name, kind, fitted, request):
    X, _ = request.getfixturevalue(kind)
    estimator = fitted(name, kind)
    for i in (0, 1, len(X) - 1):
        assert estimator.predict(X[i : i + 1]).tolist() == [estimator.labels_[i]]
        assert estimator.transform(X[i : i + 1]).shape == (1, estimator.embedding_.shape[1])


@every_method
def test_new_samples_get_the_labels_of_their_neighbours(name, fitted, blobs):
    estimator = fitted(name)
    np.testing.assert_array_equal(estimator.predict(blobs.X[:200] + 1e-6), estimator.labels_[:200])


@every_method
def test_fit_predict_and_fit_transform_return_what_a_fit_learns(name, make_method, fitted, blobs):
    np.testing.assert_array_equal(make_method(name).fit_predict(blobs.X), fitted(name).labels_)
    transformed = make_method(name).fit_transform(blobs.X)
    np.testing.assert_array_equal(transformed, fitted(name).transform(blobs.X))


@every_method
@pytest.mark.parametrize("use", ["predict", "transform", "score"])
def test_an_estimator_that_is_not_fitted_says_so(name, use, make_method, blobs):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(make_method(name), use)(blobs.X)


@every_method
def test_a_clone_has_the_same_parameters_and_gives_the_same_result(name, make_method, blobs):
    estimator = make_method(name, n_clusters=4).fit(blobs.X)
    copy = clone(estimator)
    assert not hasattr(copy, "labels_")
    given, copied = estimator.get_params(deep=False), copy.get_params(deep=False)
    assert given["n_clusters"] == 4
    for key in given.keys() - {"autoencoder"}:
        assert copied[key] == given[key]
    assert_same(copy.fit(blobs.X), estimator)


@every_method
def test_more_clusters_than_samples_are_refused(name, make_method, blobs):
    with pytest.raises(InputError, match=r"n_samples=3 should be >= n_clusters=10\."):
        make_method(name, n_clusters=10).fit(blobs.X[:3])


@every_method
@pytest.mark.parametrize("n_clusters", [None, 0, -2, 2.5, "3"])
def test_an_invalid_number_of_clusters_is_refused(name, n_clusters, make_method, blobs):
    estimator = make_method(name).set_params(n_clusters=n_clusters)
    with pytest.raises(InputError, match=f"n_clusters={n_clusters!r} should be an integer >= 1"):
        estimator.fit(blobs.X)


@every_method
@every_kind
def test_the_same_seed_gives_a_bitwise_equal_result(name, kind, make_method, fitted, request):
    X, _ = request.getfixturevalue(kind)
    estimator = make_method(name)
    assert estimator.fit(X) is estimator
    assert_same(estimator, fitted(name, kind))


@every_method
def test_a_random_state_may_be_a_generator(name, make_method, blobs):
    first, second = (make_method(name, random_state=np.random.RandomState(5)).fit(blobs.X) for _ in range(2))
    assert_same(first, second)


@deep_method
def test_successive_fits_from_one_generator_differ(name, make_method, blobs):
    random_state = np.random.RandomState(5)
    first, second = (make_method(name, random_state=random_state).fit(blobs.X).embedding_ for _ in range(2))
    assert not np.array_equal(first, second)


@deep_method
def test_another_seed_gives_another_embedding(name, make_method, fitted, blobs):
    other = make_method(name, random_state=1).fit(blobs.X)
    assert not np.array_equal(fitted(name).embedding_, other.embedding_)


@every_method
def test_a_fit_on_some_samples_labels_all_samples(name, make_method, blobs):
    rows = np.random.default_rng(0).choice(300, 100, replace=False)
    estimator = make_method(name).fit(blobs.X[rows])
    labels = estimator.predict(blobs.X)
    np.testing.assert_array_equal(labels[rows], estimator.labels_)


@every_method
def test_an_unknown_device_is_refused(name, make_method, blobs):
    with pytest.raises(InputError, match="device='gpu'"):
        make_method(name, device="gpu").fit(blobs.X)


def test_methods_find_well_separated_clusters(make_method, make_blobs):
    X, y = make_blobs(300, 3, 10, spread=8.0)
    for name in METHODS:
        least = 0.85 if name == "edesc" else 0.95  # blobs are no subspaces, which EDESC searches
        assert accuracy(y, make_method(name).fit(X).labels_) > least, name
