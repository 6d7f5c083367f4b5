"""The methods of a graph of neighbours: spectral clustering, UMAP+GMM and N2D."""

import sys

import numpy as np
import pytest
from sklearn import cluster
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score

from dekm import N2D, UMAPGMM, SpectralClustering
from dekm.errors import InputError
from dekm.experiment.checks import find_unusable
from dekm.experiment.config import Experiment

graph_method = pytest.mark.parametrize("name", ["spectral", "umap_gmm", "n2d"])
NEEDS = r"UMAP needs the package umap-learn: pip install 'dekm\[umap\]'\."


def test_spectral_clustering_finds_the_partition_of_scikit_learn():
    X = load_digits().data[:600]
    params = {"affinity": "nearest_neighbors", "n_neighbors": 10, "random_state": 0}
    expected = cluster.SpectralClustering(10, **params).fit_predict(X)
    found = SpectralClustering(10, random_state=0, device="cpu").fit_predict(X)
    assert adjusted_rand_score(expected, found) > 0.95


def test_more_components_of_the_graph_than_clusters_are_a_warning(make_method, make_blobs):
    X = make_blobs(200, 4, 5, spread=30.0).X
    with pytest.warns(ConvergenceWarning, match="10 nearest samples has 4 connected components, more than"):
        make_method("spectral", n_clusters=2).fit(X)
    assert make_method("spectral", n_clusters=4).fit(X).n_components_ == 4


@graph_method
def test_a_new_sample_has_embedding_and_cluster_of_the_nearest_one(name, make_method, make_blobs):
    X, _ = make_blobs(200, 3, 10)
    fitted = make_method(name).fit(X[:150])
    points = fitted.points_ if name != "n2d" else fitted.autoencoder_.transform(X[:150])
    new = X[150:] if name != "n2d" else fitted.autoencoder_.transform(X[150:])
    nearest = ((new[:, None] - points) ** 2).sum(2).argmin(1)
    np.testing.assert_array_equal(fitted.predict(X[150:]), fitted.labels_[nearest])
    np.testing.assert_array_equal(fitted.transform(X[150:]), fitted.embedding_[nearest])


def test_n2d_is_umap_and_the_mixture_on_the_embedding_of_the_autoencoder(make_method, tiny, blobs):
    start = tiny().fit(blobs.X)
    n2d = make_method("n2d", autoencoder=FrozenEstimator(start)).fit(blobs.X)
    same = make_method("umap_gmm").fit(start.transform(blobs.X))
    np.testing.assert_array_equal(n2d.labels_, same.labels_)
    np.testing.assert_array_equal(n2d.embedding_, same.embedding_)


def test_the_label_is_the_most_probable_gaussian_and_not_the_nearest_mean():
    rng = np.random.default_rng(0)
    H = np.concatenate(
        [rng.normal(size=(300, 2)) * [0.1, 0.1], rng.normal(size=(300, 2)) * [0.1, 5] + [2, 0]]
    )
    from dekm.methods.umap_gmm import gaussian_mixture, torch

    found = gaussian_mixture(torch.from_numpy(H).float(), 2, n_init=1, random_state=np.random.RandomState(0))
    truth = np.arange(600) >= 300
    assert max(np.mean(found.labels.numpy() == truth), np.mean(found.labels.numpy() != truth)) > 0.99
    nearest = ((H[:, None] - found.centers.numpy()) ** 2).sum(2).argmin(1)
    assert found.inertia > ((H - found.centers.numpy()[nearest]) ** 2).sum()


def test_embeddings_that_umap_does_not_have_are_not_decoded(make_method, blobs):
    fitted = make_method("n2d").fit(blobs.X)
    for H in (np.zeros((2, 4)), np.full((2, 3), np.nan), np.zeros(3)):
        with pytest.raises(InputError, match=r"H should be a finite array \(n, 3\): "):
            fitted.inverse_transform(H)


@pytest.mark.parametrize("name", ["umap_gmm", "n2d"])
def test_two_samples_have_too_few_neighbours_for_umap(name, make_method, blobs):
    with pytest.raises(InputError, match=r"n_samples=2 should be >= 3: UMAP needs neighbours\."):
        make_method(name, n_clusters=2).fit(blobs.X[:2])
    assert make_method(name).fit(blobs.X[:3]).labels_.shape == (3,)


@pytest.mark.parametrize(("method", "estimator"), [("umap_gmm", UMAPGMM), ("n2d", N2D)])
def test_without_umap_learn_a_line_says_what_to_install(method, estimator, monkeypatch, blobs):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(InputError, match=NEEDS):
        estimator(3).fit(blobs.X)
    monkeypatch.setattr("dekm.experiment.own_code.find_spec", lambda name: None if name == "umap" else name)
    methods = {method: None, "k_means": None, "own": {"method": method}}
    config = {"name": "a", "seeds": [0], "datasets": {"digits": {}}, "methods": methods}
    lines = list(find_unusable(Experiment(config)))
    assert [line.partition(":")[0] for line in lines] == [f"methods.{method}", "methods.own"]
    assert NEEDS.replace("\\", "") in lines[0]


@pytest.mark.parametrize("name", ["umap_gmm", "n2d"])
def test_a_saved_model_predicts_without_umap_learn(name, make_method, blobs, monkeypatch, tmp_path):
    fitted = make_method(name).fit(blobs.X[:200])
    fitted.save(tmp_path / "a.safetensors")
    monkeypatch.setitem(sys.modules, "umap", None)
    loaded = type(fitted).load(tmp_path / "a.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.predict(blobs.X), fitted.predict(blobs.X))
