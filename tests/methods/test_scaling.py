"""The scaling of the samples that belongs to an autoencoder, in every method that starts from it."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from dekm.errors import InputError
from dekm.methods.autoencoder import Autoencoder
from tests.helpers.methods import assert_same, deep_method


@pytest.fixture
def X(blobs):
    low, high = blobs.X.min(), blobs.X.max()
    return ((blobs.X - low) / (high - low)).astype(np.float32).clip(0, 1)


def scaled(X, scaling):
    if scaling == "symmetric":
        return 2 * X - 1
    return X / np.sqrt((X**2).mean(1, keepdims=True))


@pytest.mark.parametrize("scaling", ["symmetric", "mean_square"])
def test_an_autoencoder_sees_the_scaled_samples(scaling, X, tiny, tmp_path):
    fitted = tiny(scaling=scaling).fit(X)
    plain = tiny().fit(scaled(X, scaling))
    np.testing.assert_allclose(fitted.transform(X), plain.transform(scaled(X, scaling)), rtol=1e-4, atol=1e-5)
    fitted.save(tmp_path / "a.safetensors")
    loaded = Autoencoder.load(tmp_path / "a.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))


@deep_method
@pytest.mark.parametrize("wrap", [lambda autoencoder, X: autoencoder, lambda a, X: FrozenEstimator(a.fit(X))])
def test_a_method_scales_as_its_autoencoder_does(name, wrap, make_method, X, tiny, tmp_path):
    starts = [tiny(scaling="symmetric", random_state=1), tiny(random_state=1)]
    ours, plain = (
        make_method(name, autoencoder=wrap(start, data)).fit(data)
        for start, data in zip(starts, (X, 2 * X - 1), strict=True)
    )
    assert_same(ours, plain)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    ours.save(tmp_path / "m.safetensors")
    loaded = type(ours).load(tmp_path / "m.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.predict(X), ours.labels_)


def test_a_sample_of_zeros_stays_finite_under_mean_square(X, tiny):
    X[0] = 0
    assert np.isfinite(tiny(scaling="mean_square").fit(X).transform(X)).all()


def test_a_second_fit_takes_the_scaling_of_the_new_autoencoder(make_method, X, tiny):
    method = make_method("dkm", autoencoder=tiny(scaling="symmetric", random_state=1)).fit(X)
    again = method.set_params(autoencoder=tiny(random_state=1)).fit(X)
    assert_same(again, make_method("dkm", autoencoder=tiny(random_state=1)).fit(X))


def test_symmetric_scaling_of_values_outside_of_zero_to_one_is_refused(X, tiny):
    with pytest.raises(InputError, match=r"needs values in \[0, 1\]; X has values from 0 to 255"):
        tiny(scaling="symmetric").fit(255 * X)
