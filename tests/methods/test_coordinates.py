"""Encoders that are fitted to coordinates of the samples."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.frozen import FrozenEstimator

from dekm import DEKM, Autoencoder, SpectralClustering
from dekm.errors import InputError
from dekm.methods.coordinates import MISSING, umap_coordinates
from tests.helpers.checkpoints import InterruptedTrainingError, Memory

ROOT = Path(__file__).parents[2]

FIT = {"n_epochs": 60, "batch_size": 50, "lr": 1e-2}


@pytest.fixture
def given(blobs):
    """Coordinates that are no linear map of the samples."""
    return np.stack([np.tanh(blobs.X[:, 0]), blobs.X[:, 1] ** 2 / 20], axis=1)


def explained(found, expected):
    return 1 - ((found - expected) ** 2).sum() / ((expected - expected.mean(0)) ** 2).sum()


def test_the_encoder_learns_given_coordinates_and_the_decoder_to_reconstruct_from_them(tiny, blobs, given):
    autoencoder = tiny(2, **FIT).fit(blobs.X, coordinates=given)
    H = autoencoder.transform(blobs.X)
    assert explained(H, given) > 0.9
    assert explained(autoencoder.inverse_transform(H), blobs.X) > 0.2
    assert explained(tiny(2, **FIT).fit(blobs.X).transform(blobs.X), given) < 0.5


def test_the_loss_is_that_of_the_coordinates_and_of_the_reconstruction(tiny, blobs, given):
    autoencoder = tiny(2, n_epochs=1, batch_size=300, lr=1e-30).fit(blobs.X, coordinates=given)
    H = autoencoder.transform(blobs.X)
    errors = ((H - given) ** 2).sum(1) + ((autoencoder.inverse_transform(H) - blobs.X) ** 2).sum(1)
    assert autoencoder.loss_curve_ == [pytest.approx(errors.mean(), rel=1e-4)]


def test_the_reconstruction_does_not_move_the_encoder(tiny, blobs, given):
    fits = [tiny(2, n_epochs=2).fit(X, coordinates=given) for X in (blobs.X, blobs.X)]
    encoder = fits[0].module_.encoder.state_dict()
    autoencoder = tiny(2, n_epochs=2)
    autoencoder.fit(blobs.X, coordinates=given)
    for parameter in autoencoder.module_.decoder.parameters():
        assert parameter.grad is not None
    for name, value in autoencoder.module_.encoder.state_dict().items():
        assert torch.equal(value, encoder[name])


def test_a_convolutional_network_is_fitted_to_coordinates_too(tiny, images):
    Z = np.eye(3)[images.y]
    assert explained(tiny(3, **FIT).fit(images.X, coordinates=Z).transform(images.X), Z) > 0.8


@pytest.mark.parametrize("init", ["umap", "spectral"])
def test_a_word_names_the_coordinates(init, tiny, blobs):
    autoencoder = tiny(3, init=init, **FIT).fit(blobs.X)
    again = tiny(3, init=init, **FIT).fit(blobs.X)
    np.testing.assert_array_equal(autoencoder.transform(blobs.X), again.transform(blobs.X))
    H = autoencoder.transform(blobs.X)
    if init == "umap":
        seed = int(np.random.RandomState(0).randint(2**31 - 1))
        expected = umap_coordinates(blobs.X, 3, seed)
    else:
        clusterer = SpectralClustering(3, random_state=0, device="cpu").fit(blobs.X)
        V = clusterer.embedding_ / np.sqrt(np.mean(clusterer.embedding_**2))
        expected = H @ np.linalg.lstsq(H, V, rcond=None)[0]  # eigenvectors of one eigenvalue may be rotated
        H = V
    assert explained(H, expected) > 0.9


def test_deep_methods_start_from_given_coordinates(blobs, tiny):
    Z = 3 * np.eye(3)[blobs.y] + np.random.default_rng(0).normal(scale=0.1, size=(300, 3))
    start = FrozenEstimator(tiny(3, **FIT).fit(blobs.X, coordinates=Z))
    seen = []
    DEKM(3, autoencoder=start, n_init=5, device="cpu", random_state=0, on_iteration=seen.append).fit(blobs.X)
    assert len(set(zip(seen[0].labels.tolist(), blobs.y.tolist(), strict=True))) == 3


def test_a_fit_to_coordinates_is_saved_and_continued(tiny, blobs, given, tmp_path):
    expected = tiny(2, n_epochs=4).fit(blobs.X, coordinates=given)
    memory = Memory(2)
    with pytest.raises(InterruptedTrainingError):
        tiny(2, n_epochs=4).fit(blobs.X, coordinates=given, checkpoint=memory)
    found = tiny(2, n_epochs=4).fit(blobs.X, coordinates=given, checkpoint=memory)
    found.save(tmp_path / "a.safetensors")
    loaded = Autoencoder.load(tmp_path / "a.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.transform(blobs.X), expected.transform(blobs.X))


@pytest.mark.parametrize(
    ("Z", "message"),
    [
        (np.zeros((300, 3)), r"coordinates of shape \(300, 3\) should be \(n, embedding_dim\) = \(300, 2\)"),
        (np.zeros((299, 2)), r"coordinates of shape \(299, 2\) should be"),
        (np.full((300, 2), np.nan), "coordinates contains NaN"),
        (np.array(["a"] * 300), "could not convert string"),
    ],
)
def test_other_coordinates_are_refused(Z, message, tiny, blobs):
    with pytest.raises(InputError, match=message):
        tiny(2).fit(blobs.X, coordinates=Z)


@pytest.mark.parametrize("params", [{"n_epochs": 0}, {"layerwise": True}, {"init": "spectral"}])
def test_coordinates_need_a_pretraining_of_the_whole_network(params, tiny, blobs, given):
    with pytest.raises(
        InputError, match="coordinates= needs n_epochs >= 1, layerwise=False and an init other"
    ):
        tiny(2, **params).fit(blobs.X, coordinates=given)


@pytest.mark.parametrize("params", [{"n_epochs": 0}, {"layerwise": True}])
def test_a_word_needs_a_pretraining_of_the_whole_network(params, tiny, blobs):
    with pytest.raises(InputError, match=r"init='spectral' needs (n_epochs >= 1|layerwise=False)"):
        tiny(2, init="spectral", **params).fit(blobs.X)


def test_more_coordinates_than_samples_and_a_missing_package_are_errors(tiny, blobs, monkeypatch):
    with pytest.raises(InputError, match="embedding_dim=6 should be <= n_samples=5 with init='spectral'"):
        tiny(6, init="spectral").fit(blobs.X[:5])
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(InputError, match=MISSING[:30]):
        tiny(2, init="umap").fit(blobs.X)


def test_umap_leaves_the_number_of_threads_of_pytorch():
    # In a process of its own: Numba sets the number when its threads start, at the first call.
    script = (
        "import numpy as np, torch; from dekm.methods import coordinates;"
        "from tests.helpers import compiled_umap;"
        "coordinates.load_umap = compiled_umap.load;"
        "coordinates.umap_coordinates(np.random.default_rng(0).random((60, 5)), 2, 0, n_epochs=5);"
        "print(torch.get_num_threads())"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "1\n", done.stderr
