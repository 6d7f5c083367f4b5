"""The pretrained autoencoder that a deep method starts from."""

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from dekm.errors import InputError
from dekm.methods.autoencoder import Autoencoder
from tests.helpers.methods import assert_same, deep_method


@deep_method
def test_a_frozen_autoencoder_gives_the_initial_weights_and_is_not_changed(name, make_method, tiny, blobs):
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
def test_a_frozen_autoencoder_that_is_not_fitted_is_refused(name, make_method, tiny, blobs):
    with pytest.raises(NotFittedError):
        make_method(name, autoencoder=FrozenEstimator(tiny())).fit(blobs.X)


@deep_method
def test_an_unfitted_autoencoder_is_cloned(name, make_method, tiny, blobs):
    autoencoder = tiny()
    make_method(name, autoencoder=autoencoder).fit(blobs.X)
    assert not hasattr(autoencoder, "module_")
