import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from dekm.errors import InputError
from dekm.methods.autoencoder import Autoencoder
from dekm.nn.convolution import Convolution, TransposedConvolution
from dekm.nn.networks import ConvAutoencoder, MLPAutoencoder, convolution_sides, xavier_initialize
from dekm.nn.training import squared_error

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("side", "expected"),
    [(28, [28, 14, 7, 3]), (32, [32, 16, 8, 4]), (16, [16, 8, 4, 2]), (8, [8, 4, 2, 1])],
)
def test_sides_of_the_convolutions_are_those_of_the_paper(side, expected):
    assert convolution_sides(side)[0] == expected


@pytest.mark.parametrize(
    "shape", [(28, 28, 1), (32, 32, 3), (16, 16, 1), (8, 8, 1), (17, 23, 3), (5, 9, 2), (1, 1, 1)]
)
def test_a_reconstruction_has_the_shape_of_the_image(shape):
    network = ConvAutoencoder(shape, 7, (4, 8, 8))
    x = torch.rand(2, *shape)
    assert network.encoder(x).shape == (2, 7)
    assert network(x).shape == x.shape


@pytest.mark.parametrize("side", range(1, 41))
def test_images_of_any_side_are_reconstructed(side):
    network = ConvAutoencoder((side, 12, 1), 3, (2, 2, 2))
    assert network(torch.rand(1, side, 12, 1)).shape == (1, side, 12, 1)


def test_feature_maps_of_a_28_by_28_image_have_sides_14_7_and_3():
    x, sides = torch.rand(1, 28, 28, 1), []
    for layer in ConvAutoencoder((28, 28, 1), 10, (32, 64, 128)).encoder:
        x = layer(x)
        if isinstance(layer, torch.nn.Conv2d):
            sides.append(tuple(x.shape[1:]))
    assert sides == [(32, 14, 14), (64, 7, 7), (128, 3, 3)]
    assert x.shape == (1, 10)


def test_the_default_networks_are_those_of_the_paper():
    dense = MLPAutoencoder((2000,), 10, Autoencoder().hidden)
    shapes = [tuple(weight.shape) for weight in dense.parameters() if weight.ndim > 1]
    assert shapes == [
        (500, 2000), (500, 500), (2000, 500), (10, 2000), (2000, 10), (500, 2000), (500, 500), (2000, 500),
    ]  # fmt: skip
    kernels = [
        layer
        for layer in ConvAutoencoder((28, 28, 1), 10, Autoencoder().channels).encoder
        if isinstance(layer, torch.nn.Conv2d)
    ]
    assert [(layer.out_channels, layer.kernel_size, layer.stride) for layer in kernels] == [
        (32, (5, 5), (2, 2)), (64, (5, 5), (2, 2)), (128, (3, 3), (2, 2)),
    ]  # fmt: skip


@pytest.mark.parametrize("network", [MLPAutoencoder((4,), 2, (8,)), ConvAutoencoder((8, 8, 1), 2, (2, 2, 2))])
def test_embedding_and_reconstruction_are_linear_layers(network):
    for half in (network.encoder, network.decoder):
        layers = [layer for layer in half if list(layer.parameters()) or isinstance(layer, torch.nn.ReLU)]
        assert not isinstance(layers[-1], torch.nn.ReLU)
        assert any(isinstance(layer, torch.nn.ReLU) for layer in layers)
    assert isinstance(network.encoder[-1], torch.nn.Linear)


def test_images_may_be_embedded_by_the_fully_connected_network(images, tiny):
    autoencoder = tiny(architecture="mlp", n_epochs=1).fit(images.X)
    assert autoencoder.transform(images.X).shape == (60, 3)
    assert autoencoder.module_(torch.from_numpy(images.X)).shape == (60, 8, 8, 1)


@pytest.mark.parametrize(
    "network", [MLPAutoencoder((40,), 5, (30, 20)), ConvAutoencoder((16, 16, 3), 5, (8, 16, 16))]
)
def test_weights_are_xavier_uniform_and_biases_zero(network):
    xavier_initialize(network, torch.Generator().manual_seed(0))
    for parameter in network.parameters():
        weight = parameter.detach()
        if weight.ndim == 1:
            assert (weight == 0).all()
        else:
            receptive = math.prod(weight.shape[2:])
            bound = math.sqrt(6 / (receptive * (weight.shape[0] + weight.shape[1])))
            assert 0.9 * bound < weight.abs().max() <= bound
            assert weight.var() == pytest.approx(bound**2 / 3, rel=0.25)


def test_equation_1_is_the_squared_distance_and_a_mean_over_the_batch():
    rng = np.random.default_rng(0)
    x_hat, x = rng.normal(size=(2, 20, 3, 4)).astype(np.float32)
    expected = sum(np.linalg.norm((a - b).ravel()) ** 2 for a, b in zip(x_hat, x, strict=True)) / 20
    assert squared_error(torch.from_numpy(x_hat), torch.from_numpy(x)).item() == pytest.approx(
        expected, rel=1e-6
    )


def test_equation_1_by_hand():
    assert (
        squared_error(torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [0.0, 3.0]])).item()
        == 7
    )


@pytest.mark.parametrize("kind", ["vectors", "images"])
def test_pretraining_lowers_the_loss(kind, blobs, images, tiny):
    X = blobs.X if kind == "vectors" else images.X
    autoencoder = tiny(n_epochs=5, lr=1e-2, batch_size=32).fit(X)
    assert len(autoencoder.loss_curve_) == 5
    assert autoencoder.loss_curve_[-1] < 0.9 * autoencoder.loss_curve_[0]
    samples = torch.from_numpy(X)
    after = squared_error(autoencoder.module_(samples), samples).item()
    assert after < autoencoder.loss_curve_[0]


def test_the_logged_loss_is_the_reconstruction_loss(blobs, tiny):
    autoencoder = tiny(n_epochs=1, batch_size=300, lr=1e-30).fit(blobs.X)
    x_hat = autoencoder.module_(torch.from_numpy(blobs.X)).detach().numpy()
    expected = ((x_hat - blobs.X) ** 2).sum(1).mean()
    assert autoencoder.loss_curve_ == [pytest.approx(expected, rel=1e-5)]


def test_no_epochs_leave_the_initial_weights(blobs, tiny):
    autoencoder = tiny(n_epochs=0).fit(blobs.X)
    assert autoencoder.loss_curve_ == []
    assert autoencoder.transform(blobs.X).shape == (300, 3)


def test_same_random_state_gives_the_same_weights(images, tiny):
    first, second, other = (tiny(random_state=seed).fit(images.X).transform(images.X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_y_does_not_reach_the_weights(blobs, tiny):
    with_y, without = tiny().fit(blobs.X, blobs.y), tiny().fit(blobs.X)
    np.testing.assert_array_equal(with_y.transform(blobs.X), without.transform(blobs.X))


def test_a_saved_autoencoder_embeds_the_same_in_a_new_process(blobs, images, tiny, tmp_path):
    code = (
        "import numpy as np, torch; from dekm import Autoencoder; torch.set_num_threads(1)\n"
        "for kind in ('vectors', 'images'):\n"
        "    loaded = Autoencoder.load(f'{kind}.safetensors', device='cpu')\n"
        "    np.save(f'{kind}-H.npy', loaded.transform(np.load(f'{kind}.npy')))\n"
    )
    embeddings = {}
    for kind, X in (("vectors", blobs.X), ("images", images.X)):
        autoencoder = tiny().fit(X)
        autoencoder.save(tmp_path / f"{kind}.safetensors")
        np.save(tmp_path / f"{kind}.npy", X)
        embeddings[kind] = autoencoder.transform(X)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    for kind, H in embeddings.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{kind}-H.npy"), H)


def test_a_loaded_autoencoder_has_the_parameters_and_the_loss_curve_of_the_saved_one(images, tiny, tmp_path):
    saved = tiny(embedding_dim=4, random_state=np.random.RandomState(0)).fit(images.X)
    saved.save(tmp_path / "a.safetensors")
    loaded = Autoencoder.load(tmp_path / "a.safetensors", device="cpu")
    assert (loaded.embedding_dim, loaded.n_epochs, tuple(loaded.channels)) == (4, 3, (4, 8, 8))
    assert loaded.loss_curve_ == saved.loss_curve_
    assert loaded.sample_shape_ == (8, 8, 1)
    with pytest.raises(ValueError, match="8"):
        loaded.transform(np.zeros((2, 9, 8, 1)))


def test_the_file_is_safetensors_and_holds_weights_only(blobs, tiny, tmp_path):
    autoencoder = tiny().fit(blobs.X)
    autoencoder.save(tmp_path / "a.safetensors")
    with safe_open(tmp_path / "a.safetensors", framework="np") as file:
        assert set(file.keys()) == set(autoencoder.module_.state_dict())
        assert list(file.metadata()) == ["dekm.Autoencoder"]


def test_a_file_without_an_autoencoder_is_refused(tmp_path):
    save_file({"weight": torch.zeros(2)}, tmp_path / "other.safetensors")
    with pytest.raises(InputError, match=r"other\.safetensors"):
        Autoencoder.load(tmp_path / "other.safetensors")


def test_saving_and_embedding_need_a_fit(blobs, tiny, tmp_path):
    with pytest.raises(NotFittedError):
        tiny().save(tmp_path / "a.safetensors")
    with pytest.raises(NotFittedError):
        tiny().transform(blobs.X)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_architecture_is_refused(blobs, tiny):
    with pytest.raises(InputError, match="architecture='cnn' should be 'auto', 'conv' or 'mlp'"):
        tiny(architecture="cnn").fit(blobs.X)


def test_convolutions_need_images(blobs, tiny):
    with pytest.raises(InputError, match=r"architecture='conv' needs images of shape \(h, w, c\).*\(10,\)"):
        tiny(architecture="conv").fit(blobs.X)


@pytest.mark.parametrize(
    ("name", "value"),
    [("batch_size", 0), ("n_epochs", -1), ("embedding_dim", 0), ("lr", -1.0), ("channels", (4, 8))],
)
def test_an_invalid_parameter_is_refused(name, value, images, tiny):
    with pytest.raises(InputError, match=f"{name}="):
        tiny(**{name: value}).fit(images.X)


def test_columns_and_rows_of_zeros_give_no_nan(blobs, tiny):
    X = blobs.X.copy()
    X[:, :3] = 0
    X[7] = 0
    autoencoder = tiny().fit(X)
    assert np.isfinite(autoencoder.loss_curve_).all()
    assert np.isfinite(autoencoder.transform(X)).all()


def test_clone_is_unfitted_and_equal(tiny):
    autoencoder = tiny(embedding_dim=4)
    assert clone(autoencoder).get_params() == autoencoder.get_params()


@pytest.mark.parametrize(("height", "width"), [(28, 28), (8, 8), (17, 23), (5, 6)])
def test_convolutions_by_patches_equal_those_of_torch(height, width):
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(3, 1, height, width, dtype=torch.float64, generator=generator)
    ours = Convolution(1, 4, 5, 2, (2, 1)).double()
    theirs = torch.nn.Conv2d(1, 4, 5, 2, (2, 1)).double()
    assert_same_layer(ours, theirs, x)


@pytest.mark.parametrize("output_padding", [(0, 1), (1, 0)])
def test_mirrored_convolutions_by_patches_equal_those_of_torch(output_padding):
    generator = torch.Generator().manual_seed(0)
    h = torch.rand(3, 4, 7, 9, dtype=torch.float64, generator=generator)
    arguments = (4, 1, 5, 2, (2, 1), output_padding)
    sides = (13 + output_padding[0], 19 + output_padding[1])
    ours = TransposedConvolution(sides, *arguments).double()
    theirs = torch.nn.ConvTranspose2d(*arguments).double()
    assert_same_layer(ours, theirs, h)


def assert_same_layer(ours, theirs, x):
    """Same output, and same gradients of the weights, the bias and the input."""
    ours.load_state_dict(theirs.state_dict())
    results = []
    for layer, apply in ((ours, ours.by_patches), (theirs, theirs)):
        given = x.clone().requires_grad_()
        out = apply(given)
        (out * torch.arange(out.numel(), dtype=out.dtype).reshape(out.shape).cos()).sum().backward()
        results.append((out, given.grad, layer.weight.grad, layer.bias.grad))
    for mine, expected in zip(*results, strict=True):
        torch.testing.assert_close(mine, expected)
