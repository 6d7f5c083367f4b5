import numpy as np
import pytest
import torch

from dekm.errors import InputError
from dekm.nn.networks import ConvAutoencoder, MLPAutoencoder, released_initialize, xavier_initialize
from dekm.nn.pretraining import denoising_step, pretrain_layers
from dekm.nn.stages import Stages
from dekm.nn.training import squared_error


def dense(widths=(6, 5), seed=0):
    module = MLPAutoencoder((10,), 3, widths)
    released_initialize(module, torch.Generator().manual_seed(seed))
    return module


def test_layers_are_trained_in_place_and_repeat_bit_by_bit(blobs):
    X = torch.from_numpy(blobs.X)
    modules = [dense(), dense()]
    for module in modules:
        generator = torch.Generator().manual_seed(1)
        stages = Stages(module, n_stages=4, n_epochs=2, n_steps=5)
        pretrain_layers(module, X, stages, batch_size=64, lr=1e-3, noise=0.2, generator=generator)
    for before, first, second in zip(dense().parameters(), *(m.parameters() for m in modules), strict=True):
        assert not torch.equal(before, first)
        assert torch.equal(first, second)


def test_layers_pretrained_one_by_one_reconstruct_better_than_random_ones(blobs):
    X = torch.from_numpy(blobs.X)
    module = MLPAutoencoder((10,), 3, (32, 16))
    xavier_initialize(module, torch.Generator().manual_seed(0))
    before = squared_error(module(X), X).item()
    generator = torch.Generator().manual_seed(1)
    stages = Stages(module, n_stages=4, n_epochs=20, n_steps=5)
    pretrain_layers(module, X, stages, batch_size=64, lr=1e-2, noise=0.2, generator=generator)
    assert squared_error(module(X), X).item() < 0.7 * before


def test_dropout_hides_a_fifth_of_the_inputs_and_keeps_their_mean():
    inputs, seen = torch.ones(200, 50), []

    class Watch(torch.nn.Linear):
        def forward(self, x):
            seen.append(x)
            return super().forward(x)

    step = denoising_step(
        Watch(50, 4),
        torch.nn.Linear(4, 50),
        inputs,
        drop_input=0.2,
        drop_code=0.0,
        lr=0.0,
        generator=torch.Generator(),
    )
    step(torch.arange(200))
    assert float((seen[0] == 0).float().mean()) == pytest.approx(0.2, abs=0.02)
    assert float(seen[0].mean()) == pytest.approx(1.0, abs=0.02)


def test_noise_decides_the_dropout_of_the_layers(blobs, tiny):
    weights = [
        tiny(layerwise=True, noise=noise, random_state=0).fit(blobs.X).transform(blobs.X)
        for noise in (0.0, 0.2, 0.2)
    ]
    assert not np.array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[1], weights[2])
    np.testing.assert_array_equal(weights[1], tiny(layerwise=True, random_state=0).fit_transform(blobs.X))


def test_layerwise_pretraining_comes_before_the_epochs_of_the_whole_network(blobs, tiny):
    plain, layerwise = (tiny(layerwise=value, n_epochs=20).fit(blobs.X) for value in (False, True))
    assert len(layerwise.loss_curve_) == len(plain.loss_curve_) == 20
    assert layerwise.loss_curve_[0] < plain.loss_curve_[0]


def test_layerwise_pretraining_of_a_convolutional_network_is_refused(images, tiny):
    with pytest.raises(
        InputError, match=r"layerwise=True is for fully connected networks.*architecture='mlp'"
    ):
        tiny(layerwise=True).fit(images.X)
    assert tiny(layerwise=True, architecture="mlp").fit(images.X).transform(images.X).shape == (
        60,
        3,
    )


def test_released_weights_of_the_dense_network_are_small_and_uniform():
    weights = torch.cat([p.flatten() for p in dense((300, 200)).parameters() if p.ndim > 1]).detach().numpy()
    assert np.abs(weights).max() <= 0.05
    assert weights.std() == pytest.approx(0.05 / np.sqrt(3), rel=0.02)


def test_released_weights_of_the_convolutional_network_are_those_of_its_encoder_alone():
    module = ConvAutoencoder((8, 8, 1), 3, (4, 8, 8))
    released_initialize(module, torch.Generator().manual_seed(0))
    convolutions = [layer.weight for layer in module.encoder if isinstance(layer, torch.nn.Conv2d)]
    assert len(convolutions) == 3
    assert all(weight.abs().max() <= 0.05 for weight in convolutions)
    others = [p for p in module.parameters() if p.ndim > 1 and all(p is not w for w in convolutions)]
    assert all(weight.abs().max() > 0.05 for weight in others)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"init": "uniform"},
            r"init='uniform' should be 'auto', 'xavier', 'released', 'module', 'pca', 'umap' or 'spectral'\.",
        ),
        ({"layerwise": "yes"}, r"layerwise='yes' should be True or False\."),
        ({"hidden": (8, 0)}, r"hidden\[1\]=0 should be an integer >= 1\."),
        ({"channels": (8,)}, r"channels=\(8,\) should be 3 integers >= 1\."),
        ({"n_epochs": -1}, r"n_epochs=-1 should be an integer >= 0\."),
    ],
)
def test_an_invalid_parameter_is_refused_with_the_valid_values(params, message, tiny, blobs):
    with pytest.raises(InputError, match=message):
        tiny().set_params(**params).fit(blobs.X)
