import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator

from dekm.clustering.kmeans import kmeans
from dekm.errors import InputError
from dekm.methods import METHODS
from dekm.methods.autoencoder import Autoencoder
from dekm.methods.base import Iteration
from dekm.metrics import accuracy

every_method = pytest.mark.parametrize("name", METHODS)
deep_method = pytest.mark.parametrize("name", [name for name, row in METHODS.items() if row.autoencoder])
every_kind = pytest.mark.parametrize("kind", ["blobs", "images"])


def results(estimator):
    """What a fit learned, for comparison bit by bit."""
    learned = (estimator.labels_, estimator.cluster_centers_, estimator.embedding_)
    curve = [{key: row[key] for key in row if key != "seconds"} for row in estimator.history_]
    return learned, curve


def assert_same(first, second):
    for a, b in zip(results(first)[0], results(second)[0], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_equal(results(first)[1], results(second)[1])


@every_method
@every_kind
def test_a_fit_learns_arrays_of_the_documented_shapes_and_types(name, kind, make_method, request):
    X, _ = request.getfixturevalue(kind)
    estimator = make_method(name)
    assert estimator.fit(X) is estimator
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
    assert estimator.n_iter_ == estimator.history_[-1]["n_iter"]
    assert estimator.sample_shape_ == X.shape[1:]


@every_method
@every_kind
def test_predict_of_the_training_samples_is_labels_(name, kind, make_method, request):
    X, _ = request.getfixturevalue(kind)
    estimator = make_method(name).fit(X)
    labels = estimator.predict(X)
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, estimator.labels_)
    np.testing.assert_allclose(estimator.transform(X), estimator.embedding_, rtol=1e-5, atol=1e-6)


@every_method
@every_kind
def test_one_row_gets_the_label_it_has_among_many(name, kind, make_method, request):
    X, _ = request.getfixturevalue(kind)
    estimator = make_method(name).fit(X)
    for i in (0, 1, len(X) - 1):
        assert estimator.predict(X[i : i + 1]).tolist() == [estimator.labels_[i]]
        assert estimator.transform(X[i : i + 1]).shape == (1, estimator.embedding_.shape[1])


@every_method
def test_new_samples_are_clustered_like_their_neighbours(name, make_method, blobs):
    estimator = make_method(name).fit(blobs.X[:200])
    np.testing.assert_array_equal(estimator.predict(blobs.X[:200] + 1e-6), estimator.labels_)
    assert estimator.predict(blobs.X[200:]).shape == (100,)


@every_method
def test_fit_predict_and_fit_transform_are_those_of_a_fit(name, make_method, blobs):
    estimator = make_method(name).fit(blobs.X)
    np.testing.assert_array_equal(make_method(name).fit_predict(blobs.X), estimator.labels_)
    transformed = make_method(name).fit_transform(blobs.X)
    np.testing.assert_array_equal(transformed, estimator.transform(blobs.X))


@every_method
def test_the_score_of_the_training_samples_is_minus_the_inertia(name, make_method, blobs):
    estimator = make_method(name).fit(blobs.X)
    assert estimator.score(blobs.X) == pytest.approx(-estimator.inertia_, rel=1e-4)


@every_method
@pytest.mark.parametrize("use", ["predict", "transform", "score"])
def test_before_a_fit_there_is_a_clear_error(name, use, make_method, blobs):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(make_method(name), use)(blobs.X)


@every_method
def test_parameters_are_those_given_and_survive_a_clone(name, make_method, blobs):
    estimator = make_method(name, n_clusters=4).fit(blobs.X)
    copy = clone(estimator)
    assert not hasattr(copy, "labels_")
    given, copied = estimator.get_params(deep=False), copy.get_params(deep=False)
    assert given["n_clusters"] == 4
    for key in given.keys() - {"autoencoder"}:
        assert copied[key] == given[key]
    assert_same(copy.fit(blobs.X), estimator)


@every_method
def test_more_clusters_than_samples_are_named(name, make_method, blobs):
    with pytest.raises(InputError, match=r"n_samples=3 should be >= n_clusters=10\."):
        make_method(name, n_clusters=10).fit(blobs.X[:3])


@every_method
@pytest.mark.parametrize("n_clusters", [None, 0, -2, 2.5, "3"])
def test_a_number_of_clusters_that_is_none_is_named(name, n_clusters, make_method, blobs):
    estimator = make_method(name).set_params(n_clusters=n_clusters)
    with pytest.raises(InputError, match=f"n_clusters={n_clusters!r} should be an integer >= 1"):
        estimator.fit(blobs.X)


@every_method
@pytest.mark.parametrize("y", ["permuted", "nan", "continuous", "true"])
def test_y_changes_nothing(name, y, make_method, blobs):
    rng = np.random.default_rng(0)
    labels = {
        "permuted": rng.permutation(blobs.y),
        "nan": np.full(300, np.nan),
        "continuous": rng.random(300),
        "true": blobs.y,
    }[y]
    assert_same(make_method(name).fit(blobs.X, labels), make_method(name).fit(blobs.X))


@every_method
@every_kind
def test_the_same_seed_gives_the_same_bits(name, kind, make_method, request):
    X, _ = request.getfixturevalue(kind)
    assert_same(make_method(name).fit(X), make_method(name).fit(X))


@every_method
def test_a_random_state_may_be_an_instance(name, make_method, blobs):
    first, second = (make_method(name, random_state=np.random.RandomState(5)).fit(blobs.X) for _ in range(2))
    assert_same(first, second)


@deep_method
def test_successive_fits_from_one_random_state_differ(name, make_method, blobs):
    random_state = np.random.RandomState(5)
    first, second = (make_method(name, random_state=random_state).fit(blobs.X).embedding_ for _ in range(2))
    assert not np.array_equal(first, second)


@deep_method
def test_another_seed_pretrains_another_embedding(name, make_method, blobs):
    first, second = (make_method(name, random_state=seed).fit(blobs.X).embedding_ for seed in (0, 1))
    assert not np.array_equal(first, second)


@every_method
@pytest.mark.parametrize("form", ["float64", "fortran", "strided", "sparse", "frame", "list", "mapped"])
def test_the_form_of_X_does_not_change_the_labels(name, form, make_method, blobs, tmp_path):
    np.save(tmp_path / "X.npy", blobs.X)
    X = {
        "float64": blobs.X.astype(np.float64),
        "fortran": np.asfortranarray(blobs.X),
        "strided": np.repeat(blobs.X, 2, axis=1)[:, ::2],
        "sparse": sparse.csr_matrix(blobs.X),
        "frame": pd.DataFrame(blobs.X, columns=[f"c{i}" for i in range(10)]),
        "list": blobs.X.tolist(),
        "mapped": np.load(tmp_path / "X.npy", mmap_mode="r"),
    }[form]
    estimator = make_method(name).fit(X)
    np.testing.assert_array_equal(estimator.labels_, make_method(name).fit(blobs.X).labels_)
    np.testing.assert_array_equal(estimator.predict(X), estimator.labels_)


@every_method
def test_a_table_from_a_csv_file_is_clustered(name, make_method, blobs, tmp_path):
    pd.DataFrame(blobs.X[:200]).to_csv(tmp_path / "own.csv", index=False)
    X = pd.read_csv(tmp_path / "own.csv")
    assert make_method(name).fit(X).labels_.shape == (200,)


@every_method
def test_grey_images_need_no_channel_axis(name, make_method, images):
    without_axis = make_method(name).fit(images.X[..., 0])
    np.testing.assert_array_equal(without_axis.labels_, make_method(name).fit(images.X).labels_)
    np.testing.assert_array_equal(without_axis.predict(images.X[..., 0]), without_axis.labels_)


@pytest.mark.filterwarnings("ignore:Only .* clusters hold samples")
@every_method
def test_color_images_of_odd_sides_are_clustered(name, make_method):
    rng = np.random.default_rng(0)
    X = 0.9 * rng.random((3, 17, 23, 3))[np.arange(257) % 3] + 0.1 * rng.random((257, 17, 23, 3))
    estimator = make_method(name).fit(X)
    assert estimator.labels_.shape == (257,)
    assert estimator.predict(X[:5]).tolist() == estimator.labels_[:5].tolist()


@every_method
def test_samples_of_another_shape_are_refused(name, make_method, blobs, images):
    estimator = make_method(name).fit(blobs.X)
    with pytest.raises(ValueError, match="9"):
        estimator.predict(blobs.X[:, :9])
    with pytest.raises(ValueError, match="8"):
        estimator.predict(images.X)


@every_method
def test_nan_in_X_is_refused(name, make_method, blobs):
    X = blobs.X.copy()
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        make_method(name).fit(X)


@every_method
def test_columns_and_rows_of_zeros_give_no_nan(name, make_method, blobs):
    X = blobs.X.copy()
    X[:, :3] = 0
    X[7] = 0
    estimator = make_method(name).fit(X)
    assert np.isfinite(estimator.embedding_).all()
    assert np.isfinite(estimator.cluster_centers_).all()


@every_method
def test_fewer_distinct_samples_than_clusters_give_a_warning_and_labels_in_range(name, make_method):
    X = 3 * np.repeat(np.eye(3), 20, axis=0)
    estimator = make_method(name, n_clusters=6)
    with pytest.warns(ConvergenceWarning, match="3"):
        estimator.fit(X)
    assert len(np.unique(estimator.labels_)) <= 3
    assert set(estimator.labels_) <= set(range(6))
    assert estimator.predict(X[:1]).shape == (1,)


@every_method
def test_one_cluster_holds_all_samples(name, make_method, blobs):
    assert set(make_method(name, n_clusters=1).fit(blobs.X).labels_) == {0}


@every_method
def test_labels_for_all_rows_follow_from_a_fit_on_some(name, make_method, blobs):
    rows = np.random.default_rng(0).choice(300, 100, replace=False)
    estimator = make_method(name).fit(blobs.X[rows])
    labels = estimator.predict(blobs.X)
    np.testing.assert_array_equal(labels[rows], estimator.labels_)


@every_method
def test_the_hook_gets_the_methods_own_state_and_no_true_labels(name, make_method, blobs):
    seen = []
    estimator = make_method(name, on_iteration=seen.append).fit(blobs.X, blobs.y)
    fields = {field.name for field in dataclasses.fields(Iteration)}
    assert fields == {"n_iter", "H", "labels", "centers", "inertia", "changed", "loss", "V"}
    assert [iteration.n_iter for iteration in seen] == list(range(estimator.n_iter_ + 1))
    np.testing.assert_array_equal(seen[-1].labels, estimator.labels_)
    np.testing.assert_array_equal(seen[-1].H, estimator.embedding_)
    np.testing.assert_array_equal(seen[-1].centers, estimator.cluster_centers_)


@every_method
def test_history_has_one_row_per_iteration(name, make_method, blobs):
    estimator = make_method(name).fit(blobs.X)
    for n_iter, row in enumerate(estimator.history_):
        assert set(row) == {"n_iter", "loss", "changed", "inertia", "seconds"}
        assert row["n_iter"] == n_iter
    assert np.isnan(estimator.history_[0]["changed"])
    assert estimator.history_[-1]["inertia"] == estimator.inertia_
    seconds = [row["seconds"] for row in estimator.history_]
    assert sorted(seconds) == seconds
    assert seconds[0] > 0


@every_method
def test_a_second_fit_starts_anew(name, make_method, blobs):
    estimator = make_method(name).fit(blobs.X[:150])
    assert_same(estimator.fit(blobs.X), make_method(name).fit(blobs.X))


@every_method
def test_X_is_left_as_it_is(name, make_method, blobs):
    X = blobs.X.copy()
    X.setflags(write=False)
    make_method(name).fit(X)
    np.testing.assert_array_equal(X, blobs.X)


@every_method
def test_an_unknown_device_is_named(name, make_method, blobs):
    with pytest.raises(InputError, match="device='gpu'"):
        make_method(name, device="gpu").fit(blobs.X)


@deep_method
def test_a_frozen_autoencoder_is_the_start_and_stays_unchanged(name, make_method, tiny, blobs):
    autoencoder = tiny().fit(blobs.X)
    before = {key: value.clone() for key, value in autoencoder.module_.state_dict().items()}
    seen = []
    make_method(name, autoencoder=FrozenEstimator(autoencoder), on_iteration=seen.append).fit(blobs.X)
    np.testing.assert_array_equal(seen[0].H, autoencoder.transform(blobs.X))
    for key, value in autoencoder.module_.state_dict().items():
        assert torch.equal(value, before[key])


@deep_method
def test_a_loaded_autoencoder_gives_the_same_result_as_the_saved_one(
    name, make_method, tiny, blobs, tmp_path
):
    saved = tiny().fit(blobs.X)
    saved.save(tmp_path / "a.safetensors")
    loaded = Autoencoder.load(tmp_path / "a.safetensors", device="cpu")
    fits = [make_method(name, autoencoder=FrozenEstimator(start)).fit(blobs.X) for start in (saved, loaded)]
    assert_same(*fits)


@deep_method
def test_an_autoencoder_of_other_samples_is_refused(name, make_method, tiny, blobs):
    autoencoder = FrozenEstimator(tiny(n_epochs=0).fit(blobs.X[:, :9]))
    with pytest.raises(InputError, match=r"samples of shape \(10,\), but .*autoencoder.* \(9,\)"):
        make_method(name, autoencoder=autoencoder).fit(blobs.X)


@deep_method
def test_an_autoencoder_that_is_frozen_before_its_fit_is_refused(name, make_method, tiny, blobs):
    with pytest.raises(NotFittedError):
        make_method(name, autoencoder=FrozenEstimator(tiny())).fit(blobs.X)


@deep_method
def test_the_autoencoder_given_is_not_fitted_in_place(name, make_method, tiny, blobs):
    autoencoder = tiny()
    make_method(name, autoencoder=autoencoder).fit(blobs.X)
    assert not hasattr(autoencoder, "module_")


@every_method
def test_rows_name_an_estimator_and_the_autoencoder_that_fits_the_samples(name):
    row = METHODS[name]
    assert set(row.params) <= set(row.load()._get_param_names())
    assert row.architecture("images") in ("conv", "mlp", None)
    assert row.architecture("text") == ("mlp" if row.autoencoder else None)
    assert ("autoencoder" in row.load()._get_param_names()) == (row.autoencoder is not None)


def test_methods_find_clear_clusters(make_method, make_blobs):
    X, y = make_blobs(300, 3, 10, spread=8.0)
    for name in METHODS:
        assert accuracy(y, make_method(name).fit(X).labels_) > 0.95


def test_k_means_is_that_of_the_flattened_images(make_method, images):
    estimator = make_method("k_means").fit(images.X)
    np.testing.assert_array_equal(estimator.embedding_, images.X.reshape(60, -1))


def test_k_means_predicts_its_labels_far_from_the_origin(make_method, make_blobs):
    X, _ = make_blobs(300, 3, 10, spread=1.0)
    estimator = make_method("k_means").fit(X + 3000)
    assert (estimator.predict(X + 3000) == estimator.labels_).mean() > 0.99


def test_pca_keeps_the_fewest_components_with_nine_tenths_of_the_variance(make_method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6)) * np.array([9.0, 5.0, 3.0, 1.0, 0.5, 0.1])
    estimator = make_method("pca_k_means").fit(X)
    variances = np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1]
    n_components = 1 + int((variances.cumsum() / variances.sum() < 0.9).sum())
    assert estimator.embedding_.shape[1] == n_components
    np.testing.assert_allclose(estimator.embedding_.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(estimator.embedding_.var(0, ddof=1), variances[:n_components], rtol=1e-4)


@pytest.mark.parametrize("variance", [0.0, 1.0, 1.5, -0.1])
def test_a_share_of_variance_that_is_none_is_named(variance, make_method, blobs):
    with pytest.raises(InputError, match=f"variance={variance}"):
        make_method("pca_k_means", variance=variance).fit(blobs.X)


def test_ae_k_means_is_k_means_on_the_embedding(make_method, tiny, blobs):
    autoencoder = tiny().fit(blobs.X)
    estimator = make_method("ae_k_means", autoencoder=FrozenEstimator(autoencoder)).fit(blobs.X)
    H = autoencoder.transform(blobs.X)
    np.testing.assert_array_equal(estimator.embedding_, H)
    partition = kmeans(torch.from_numpy(H), 3, n_init=20, random_state=np.random.RandomState(1))
    assert accuracy(partition.labels, estimator.labels_) == 1.0
