"""The pretrained autoencoder that a deep method starts from."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from dekm import DCN, DEC, DEKM, DKM, EDESC, ACeDeC, AEKMeans, VaDE
from dekm.errors import InputError
from dekm.methods.autoencoder import Autoencoder
from dekm.nn.training import encode
from tests.helpers.methods import assert_same, deep_method


@deep_method
def test_a_frozen_autoencoder_gives_the_initial_weights_and_is_not_changed(name, make_method, tiny, blobs):
    autoencoder = tiny().fit(blobs.X)
    before = {key: value.clone() for key, value in autoencoder.module_.state_dict().items()}
    seen = []
    start = FrozenEstimator(autoencoder)
    fitted = make_method(name, autoencoder=start, on_iteration=seen.append).fit(blobs.X)
    given = fitted.points_ if name == "n2d" else seen[0].H
    if name == "acedec":  # it rotates the embedding
        fitted = make_method(name, autoencoder=start, max_iter=0).fit(blobs.X)
        given = encode(fitted.encoder_, torch.from_numpy(blobs.X))
    np.testing.assert_array_equal(given, autoencoder.transform(blobs.X))
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
def test_a_frozen_autoencoder_that_is_not_fitted_is_refused(name, make_method, tiny, blobs):
    with pytest.raises(NotFittedError):
        make_method(name, autoencoder=FrozenEstimator(tiny())).fit(blobs.X)


@deep_method
def test_an_unfitted_autoencoder_is_cloned(name, make_method, tiny, blobs):
    autoencoder = tiny()
    make_method(name, autoencoder=autoencoder).fit(blobs.X)
    assert not hasattr(autoencoder, "module_")


class PretrainingReachedError(Exception):
    """Ends a fit when its pretraining begins; the published one takes minutes."""


@pytest.mark.parametrize(
    ("method", "shape", "architecture", "embedding_dim"),
    [
        (DEKM, (4, 8, 8, 1), "auto", 3),
        (DEKM, (4, 6), "auto", 10),
        (AEKMeans, (4, 8, 8, 1), "auto", 3),
        (DEC, (4, 8, 8, 1), "mlp", 10),
        (DCN, (4, 6), "mlp", 10),
        (DKM, (4, 8, 8, 1), "mlp", 3),
        (VaDE, (4, 8, 8, 1), "mlp", 10),
        (EDESC, (4, 8, 8, 1), "mlp", 15),
        (ACeDeC, (4, 8, 8, 1), "auto", 3),
    ],
)
def test_without_an_autoencoder_a_method_pretrains_the_published_one(
    method, shape, architecture, embedding_dim, monkeypatch
):
    def begin(autoencoder, X, y=None, **options):
        raise PretrainingReachedError(autoencoder.get_params(), X.shape)

    monkeypatch.setattr(Autoencoder, "fit", begin)
    with pytest.raises(PretrainingReachedError) as reached:
        method(3, device="cpu", random_state=0).fit(np.random.default_rng(0).random(shape))
    found, found_shape = reached.value.args
    assert found_shape == shape
    given = {"architecture": architecture, "embedding_dim": embedding_dim, "device": "cpu"}
    if method is EDESC:
        given |= {"hidden": (500, 500, 1000), "n_epochs": 50, "batch_size": 512}
    assert found == {**Autoencoder().get_params(), **given, "random_state": found["random_state"]}


def test_a_saved_autoencoder_keeps_the_names_of_columns(tiny, blobs, tmp_path):
    names = [f"column {i}" for i in range(blobs.X.shape[1])]
    X = pd.DataFrame(blobs.X, columns=names)
    fitted = tiny(n_epochs=0).fit(X)
    fitted.save(tmp_path / "a.safetensors")
    loaded = Autoencoder.load(tmp_path / "a.safetensors", device="cpu")
    assert loaded.feature_names_in_.tolist() == names
    assert len(loaded.get_feature_names_out()) == loaded.transform(X[:1]).shape[1]
