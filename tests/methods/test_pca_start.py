"""Networks that start at the principal components of the samples, and the methods that start from them."""

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator

from dekm import AEKMeans, Autoencoder, KMeans
from dekm.errors import InputError
from dekm.methods import METHODS, coordinates
from tests.helpers.checkpoints import InterruptedTrainingError, Memory
from tests.helpers.methods import assert_same, deep_method


@pytest.fixture
def start(tiny):
    return lambda embedding_dim=3, **params: tiny(embedding_dim, **{"init": "pca", "n_epochs": 0} | params)


@pytest.fixture
def vectors(blobs):
    """Samples with columns of different variance, far from the origin."""
    return blobs.X * np.arange(1, 11, dtype=np.float32) + 50


def signs_of(found, expected):
    """Components are determined up to their signs."""
    return np.sign((found * expected).sum(0))


@pytest.mark.parametrize("hidden", [(), (16,), (32, 16)])
def test_the_embedding_starts_at_the_principal_components(start, vectors, hidden):
    autoencoder = start(4, hidden=hidden).fit(vectors)
    expected = PCA(4).fit_transform(vectors.astype(np.float64))
    found = autoencoder.transform(vectors)
    np.testing.assert_allclose(found * signs_of(found, expected), expected, rtol=1e-4, atol=1e-3)
    assert autoencoder.loss_curve_ == []


def test_the_reconstruction_starts_at_the_inverse_of_pca(start, vectors):
    autoencoder, pca = start(4).fit(vectors), PCA(4).fit(vectors.astype(np.float64))
    found = autoencoder.inverse_transform(autoencoder.transform(vectors))
    np.testing.assert_allclose(found, pca.inverse_transform(pca.transform(vectors)), rtol=1e-4, atol=1e-3)


def test_with_all_components_the_start_reconstructs_the_samples(start, vectors):
    autoencoder = start(10).fit(vectors)
    np.testing.assert_allclose(
        autoencoder.inverse_transform(autoencoder.transform(vectors)), vectors, rtol=1e-4
    )


def test_k_means_on_the_start_is_k_means_on_the_principal_components(start, vectors):
    deep = AEKMeans(3, autoencoder=start(4), n_init=5, device="cpu", random_state=0).fit(vectors)
    plain = KMeans(3, n_init=5, device="cpu", random_state=0).fit(PCA(4).fit_transform(vectors))
    assert deep.inertia_ == pytest.approx(plain.inertia_, rel=1e-5)
    assert len(set(zip(deep.labels_, plain.labels_, strict=True))) == 3


def test_sparse_rows_have_the_start_of_dense_ones(start, vectors):
    X = np.where(vectors > 50, vectors, 0)
    dense, sparse_rows = start().fit(X), start().fit(sparse.csr_matrix(X))
    np.testing.assert_array_equal(dense.transform(X), sparse_rows.transform(sparse.csr_matrix(X)))


def test_many_samples_of_many_values_take_the_randomized_algorithm(start, make_blobs, monkeypatch):
    X = make_blobs(120, 4, 80, spread=20).X
    exact = start(3).fit(X).transform(X)
    monkeypatch.setattr(coordinates, "EXACT", 50)
    first, second = (start(3).fit(X).transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, exact)
    np.testing.assert_allclose(first, exact, rtol=1e-3, atol=1e-2)


def test_columns_that_are_constant_or_equal_have_a_start(start, vectors):
    X = vectors.copy()
    X[:, 5:] = 7
    X[:, 1] = X[:, 0]
    H = start(8).fit(X).transform(X)
    assert np.isfinite(H).all()
    np.testing.assert_allclose(H[:, 4:], 0, atol=1e-2)
    assert np.isfinite(start(3).fit(np.ones((20, 6), np.float32)).transform(np.ones((2, 6)))).all()


@pytest.mark.parametrize(("embedding_dim", "n", "most"), [(11, 300, 10), (8, 5, 5)])
def test_more_dimensions_than_principal_components_are_refused(start, vectors, embedding_dim, n, most):
    with pytest.raises(
        InputError, match=rf"embedding_dim={embedding_dim} should be <= {most} with init='pca'"
    ):
        start(embedding_dim).fit(vectors[:n])


def test_images_start_at_pca_in_fully_connected_networks_only(start, images):
    with pytest.raises(
        InputError, match="init='pca' is for fully connected networks: set architecture='mlp'"
    ):
        start().fit(images.X)
    autoencoder = start(architecture="mlp").fit(images.X)
    H, pixels = autoencoder.transform(images.X), images.X.reshape(60, -1)
    expected = PCA(3).fit_transform(pixels)
    np.testing.assert_allclose(H * signs_of(H, expected), expected, atol=1e-4)
    assert autoencoder.inverse_transform(H).shape == images.X.shape


def test_a_network_of_the_user_and_layers_of_their_own_have_no_such_start(start, blobs):
    with pytest.raises(InputError, match="init='pca' is not for network="):
        start(network="somewhere:network").fit(blobs.X)
    with pytest.raises(InputError, match="init='pca' needs layerwise=False"):
        start(layerwise=True).fit(blobs.X)


def test_the_components_are_those_of_the_samples_as_the_network_sees_them(start, blobs):
    X = blobs.X
    seen = X * np.sqrt(10) / np.linalg.norm(X, axis=1, keepdims=True)
    found, expected = start(scaling="mean_square").fit(X).transform(X), PCA(3).fit_transform(seen)
    np.testing.assert_allclose(found * signs_of(found, expected), expected, atol=1e-4)


def test_epochs_lower_the_loss_below_that_of_pca(start):
    t = np.linspace(-1, 1, 200, dtype=np.float32)
    X = np.stack([t, 2 * t**2, t**3], axis=1)
    linear = start(1).fit(X)
    of_pca = ((X - linear.inverse_transform(linear.transform(X))) ** 2).sum(1).mean()
    losses = start(1, n_epochs=60, batch_size=50, lr=1e-2).fit(X).loss_curve_
    assert losses[-1] < 0.5 * of_pca


def test_a_saved_start_is_read_again(start, vectors, tmp_path):
    saved = start(n_epochs=2).fit(vectors)
    saved.save(tmp_path / "a.safetensors")
    loaded = Autoencoder.load(tmp_path / "a.safetensors", device="cpu")
    assert loaded.init == "pca"
    np.testing.assert_array_equal(loaded.transform(vectors), saved.transform(vectors))
    H = saved.transform(vectors)
    np.testing.assert_array_equal(loaded.inverse_transform(H), saved.inverse_transform(H))


def test_an_interrupted_pretraining_continues_from_its_checkpoint(start, vectors):
    make = lambda: start(n_epochs=4, batch_size=64)  # noqa: E731
    memory = Memory(2)
    with pytest.raises(InterruptedTrainingError):
        make().fit(vectors, checkpoint=memory)
    found, expected = make().fit(vectors, checkpoint=memory), make().fit(vectors)
    assert found.loss_curve_ == expected.loss_curve_
    for a, b in zip(found.module_.parameters(), expected.module_.parameters(), strict=True):
        assert torch.equal(a, b)


@deep_method
def test_every_method_starts_from_it_and_is_saved(name, make_method, start, blobs, tmp_path):
    autoencoder = start(4).fit(blobs.X)
    seen = []
    frozen = FrozenEstimator(autoencoder)
    fitted = make_method(name, autoencoder=frozen, on_iteration=seen.append).fit(blobs.X)
    first = fitted.points_ if name == "n2d" else seen[0].H
    if name != "acedec":  # it rotates the embedding
        np.testing.assert_array_equal(first, autoencoder.transform(blobs.X))
    fitted.save(tmp_path / "model.safetensors")
    loaded = METHODS[name].load().load(tmp_path / "model.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.predict(blobs.X), fitted.predict(blobs.X))
    assert_same(fitted, make_method(name, autoencoder=frozen).fit(blobs.X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("init", ["pca", "spectral"])
def test_a_soft_reset_moves_the_encoder_towards_a_start_of_its_kind(init, make_method, start, blobs):
    frozen = FrozenEstimator(start(4, init=init, n_epochs=int(init != "pca")).fit(blobs.X))
    settings = {"reset_interval": 1, "reset_factor": 0.0, "lr": 0.0, "max_iter": 4, "tol": 0.0}
    fitted = make_method("dekm", autoencoder=frozen, **settings).fit(blobs.X)
    reset = not np.allclose(fitted.embedding_, frozen.transform(blobs.X), atol=1e-3)
    assert reset == (init != "pca")  # without a step, PCA is reset to PCA
