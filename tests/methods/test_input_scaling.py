"""What samples of several types mean to a fitted estimator, also after it was saved."""

import numpy as np
import pytest
import torch
from sklearn.frozen import FrozenEstimator
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from dekm import DEKM, AEKMeans, Autoencoder, KMeans
from dekm.errors import InputError
from dekm.scaling import PIXELS, learn_column_scaling


@pytest.fixture(scope="module")
def pixels(images):
    """The images as bytes."""
    return (images.X * 255).round().astype(np.uint8)


@pytest.fixture(params=["k_means", "pca_k_means", "dekm"])
def fitted(request, make_method, pixels):
    return make_method(request.param).fit(pixels)


def test_a_fit_on_bytes_is_the_fit_on_their_quotients_by_255(fitted, make_method, pixels):
    name = {"KMeans": "k_means", "PCAKMeans": "pca_k_means", "DEKM": "dekm"}[type(fitted).__name__]
    divided = make_method(name).fit(pixels.astype(np.float32) / np.float32(255))
    np.testing.assert_array_equal(fitted.embedding_, divided.embedding_)
    assert fitted.input_scaling_ == divided.input_scaling_ == PIXELS


def test_the_same_pixels_of_any_type_get_the_same_clusters(fitted, pixels, tmp_path):
    fitted.save(tmp_path / "a.safetensors")
    loaded = type(fitted).load(tmp_path / "a.safetensors", device="cpu")
    for estimator in (fitted, loaded):
        for X in (pixels, pixels.astype(np.int64), pixels / 255, torch.from_numpy(pixels), pixels.tolist()):
            np.testing.assert_array_equal(estimator.predict(X), fitted.labels_)
        with pytest.raises(InputError, match="pass bytes as integers, or divide X by 255"):
            estimator.transform(pixels.astype(np.float32))


def test_the_autoencoder_scales_too(tiny, pixels, tmp_path):
    autoencoder = tiny().fit(pixels)
    autoencoder.save(tmp_path / "a.safetensors")
    loaded = Autoencoder.load(tmp_path / "a.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.transform(pixels), autoencoder.transform(pixels / 255))
    with pytest.raises(InputError, match="divide X by 255"):
        AEKMeans(3, autoencoder=FrozenEstimator(loaded), device="cpu").fit(pixels.astype(np.float32))


def test_a_method_takes_the_scaling_of_a_fitted_autoencoder(tiny, blobs, tmp_path):
    rule = learn_column_scaling(blobs.X, "minmax")
    autoencoder = tiny().fit(rule(blobs.X))
    autoencoder.input_scaling_ = rule
    method = AEKMeans(3, autoencoder=FrozenEstimator(autoencoder), n_init=2, random_state=0, device="cpu")
    method.fit(blobs.X).save(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(method.embedding_, autoencoder.transform(blobs.X))
    loaded = AEKMeans.load(tmp_path / "a.safetensors", device="cpu")
    np.testing.assert_array_equal(loaded.predict(blobs.X), method.labels_)
    np.testing.assert_array_equal(loaded.autoencoder_.transform(blobs.X), method.embedding_)


def test_black_and_white_integers_are_not_divided(make_method, images, tmp_path):
    X = (images.X > 0.5).astype(np.uint8)
    estimator = make_method("ae_k_means").fit(X)
    np.testing.assert_array_equal(estimator.predict(X.astype(bool)), estimator.labels_)
    estimator.save(tmp_path / "a.safetensors")
    again = AEKMeans.load(tmp_path / "a.safetensors", device="cpu").fit(X)
    np.testing.assert_array_equal(again.embedding_, estimator.embedding_)
    with pytest.raises(InputError, match="fitted on values from 0 to 1"):
        again.predict(X * 255)


def test_rows_of_integers_are_numbers(blobs):
    rows = np.abs(blobs.X * 9).astype(np.uint8)
    estimator = KMeans(3, n_init=2, random_state=0, device="cpu").fit(rows)
    np.testing.assert_array_equal(estimator.embedding_, rows)
    np.testing.assert_array_equal(estimator.predict(rows.astype(float)), estimator.labels_)


def test_channels_first_are_asked_for():
    with pytest.raises(InputError, match=r"X: shape \(6, 3, 16, 16\) seems .*pass np.moveaxis\(X, 1, -1\)"):
        KMeans(2, device="cpu").fit(np.zeros((6, 3, 16, 16)))


def test_vectors_are_no_images(make_method, blobs, images):
    estimator = make_method("k_means").fit(images.X)
    with pytest.raises(InputError, match="X holds vectors, but KMeans was fitted on images"):
        estimator.predict(blobs.X)
    with pytest.raises(InputError, match="X holds images, but KMeans was fitted on vectors"):
        make_method("k_means").fit(blobs.X).predict(images.X)


class Stream(IterableDataset):
    def __iter__(self):
        return iter([])


@pytest.mark.parametrize("kind", ["TensorDataset", "Stream", "DataLoader"])
def test_a_dataset_of_pytorch_is_refused(kind):
    data = TensorDataset(torch.zeros(6, 2), torch.zeros(6))
    X = {"TensorDataset": data, "Stream": Stream(), "DataLoader": DataLoader(data)}[kind]
    with pytest.raises(InputError, match=rf"X={kind} should be an array.*dataset\.tensors\[0\]"):
        KMeans(2, device="cpu").fit(X)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_tensors_that_require_gradients_are_read(dtype, blobs):
    X = torch.from_numpy(blobs.X).to(dtype).requires_grad_()
    estimator = KMeans(3, n_init=2, random_state=0, device="cpu").fit(X)
    np.testing.assert_array_equal(estimator.predict(X), estimator.labels_)


def test_the_device_may_be_an_object_of_pytorch(make_method, blobs, tmp_path):
    estimator = make_method("dekm", device=torch.device("cpu")).fit(blobs.X)
    np.testing.assert_array_equal(estimator.labels_, make_method("dekm").fit(blobs.X).labels_)
    estimator.save(tmp_path / "a.safetensors")
    loaded = DEKM.load(tmp_path / "a.safetensors", device=torch.device("cpu"))
    np.testing.assert_array_equal(loaded.predict(blobs.X), estimator.labels_)
