import tracemalloc

import numpy as np
import pytest
import torch
from sklearn.frozen import FrozenEstimator

from dekm.clustering.kmeans import kmeans
from dekm.errors import InputError
from dekm.metrics import accuracy


def test_k_means_clusters_the_pixels_of_images(make_method, images):
    estimator = make_method("k_means").fit(images.X)
    np.testing.assert_array_equal(estimator.embedding_, images.X.reshape(60, -1))


def test_k_means_predicts_its_labels_far_from_the_origin(make_method, make_blobs):
    X, _ = make_blobs(300, 3, 10, spread=1.0)
    estimator = make_method("k_means").fit(X + 3000)
    assert (estimator.predict(X + 3000) == estimator.labels_).mean() > 0.99


def test_pca_keeps_the_fewest_components_with_90_percent_of_the_variance(make_method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6)) * np.array([9.0, 5.0, 3.0, 1.0, 0.5, 0.1])
    estimator = make_method("pca_k_means").fit(X)
    variances = np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1]
    n_components = 1 + int((variances.cumsum() / variances.sum() < 0.9).sum())
    assert estimator.embedding_.shape[1] == n_components
    np.testing.assert_allclose(estimator.embedding_.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(estimator.embedding_.var(0, ddof=1), variances[:n_components], rtol=1e-4)


@pytest.mark.parametrize("offset", [0.0, 3000.0])
@pytest.mark.parametrize("shape", [(200, 8), (20, 20), (20, 21), (12, 300), (3, 40), (2, 5), (40, 1)])
def test_pca_equals_the_singular_vectors_in_double_precision(shape, offset, make_method):
    """Tall, square and wide data, fewer samples than clusters in components, and a single feature."""
    X = (np.random.default_rng(0).random(shape) + offset).astype(np.float32)
    centered = X.astype(np.float64) - X.mean(0, dtype=np.float64)
    _, singular_values, V = np.linalg.svd(centered, full_matrices=False)
    explained = (singular_values**2).cumsum() / (singular_values**2).sum()
    n_components = 1 + int((explained <= 0.9).sum())
    estimator = make_method("pca_k_means", n_clusters=2).fit(X)
    assert estimator.embedding_.shape == (len(X), n_components)
    expected = np.abs(centered @ V[:n_components].T)
    np.testing.assert_allclose(np.abs(estimator.embedding_), expected, rtol=0, atol=1e-2)
    np.testing.assert_array_equal(estimator.predict(X), estimator.labels_)


def test_pca_of_large_images_needs_memory_in_proportion_to_the_data(make_method):
    X = np.random.default_rng(0).random((60, 48, 48, 3), dtype=np.float32)
    tracemalloc.start()
    estimator = make_method("pca_k_means").fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * X.nbytes  # a covariance matrix takes 115 times the memory of the images
    assert estimator.embedding_.shape[1] < 60


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", [(20, 4), (4, 20), (5, 1)])
def test_pca_of_equal_samples_is_zero(shape, make_method):
    estimator = make_method("pca_k_means").fit(np.full(shape, 0.3))
    np.testing.assert_allclose(estimator.embedding_, np.zeros((shape[0], 1)), atol=1e-6)


@pytest.mark.parametrize("shape", [(12, 4), (4, 12)])
def test_pca_of_values_whose_squares_are_infinite_is_refused(shape, make_method):
    X = 1e30 * np.random.default_rng(0).random(shape)
    with pytest.raises(InputError, match=r"X has values up to .*e\+29 from their mean, whose squares"):
        make_method("pca_k_means").fit(X)


@pytest.mark.parametrize("variance", [0.0, 1.0, 1.5, -0.1])
def test_an_invalid_fraction_of_the_variance_is_refused(variance, make_method, blobs):
    with pytest.raises(InputError, match=f"variance={variance}"):
        make_method("pca_k_means", variance=variance).fit(blobs.X)


def test_ae_k_means_is_k_means_on_the_embedding(make_method, tiny, blobs):
    autoencoder = tiny().fit(blobs.X)
    estimator = make_method("ae_k_means", autoencoder=FrozenEstimator(autoencoder)).fit(blobs.X)
    H = autoencoder.transform(blobs.X)
    np.testing.assert_array_equal(estimator.embedding_, H)
    partition = kmeans(torch.from_numpy(H), 3, n_init=20, random_state=np.random.RandomState(1))
    assert accuracy(partition.labels, estimator.labels_) == 1.0
