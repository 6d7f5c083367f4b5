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
