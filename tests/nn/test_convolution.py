"""Every kernel of a convolution agrees with PyTorch's convolutions in float64, and so do the gradients."""

import pytest
import torch
from torch import nn

from dekm.nn import convolution, kernels, unrolled
from dekm.nn.convolution import Convolution, TransposedConvolution
from dekm.nn.kernels import Rules

# (h, w), images, channels of images and maps, kernel, stride, padding
SHAPES = [
    ((8, 8), 3, 1, 4, 5, 2, (2, 2)),
    ((9, 7), 2, 3, 5, 5, 2, (2, 2)),
    ((7, 7), 2, 6, 4, 3, 2, (0, 0)),
    ((5, 12), 1, 1, 3, 3, 2, (0, 1)),
    ((6, 5), 1, 2, 1, 5, 2, (1, 2)),
    ((1, 4), 2, 3, 2, 5, 2, (2, 2)),
    ((2, 2), 5, 16, 8, 3, 2, (1, 1)),
    ((11, 10), 2, 2, 3, 4, 3, (1, 2)),
    ((6, 7), 2, 2, 3, 3, 1, (1, 0)),
    ((9, 9), 2, 1, 2, 2, 3, (0, 0)),
]
RULES = {
    "plain": Rules(),
    "unrolled": Rules("blas", unrolls=True),
    "unrolled by oneDNN": Rules("onednn", unrolls=True),
    "shuffle": Rules("blas", channels_by_shuffle=10**6),
}


@pytest.fixture(params=RULES)
def rules(request, monkeypatch):
    if "oneDNN" in request.param and not kernels.this_processor().onednn:
        pytest.skip("this PyTorch has no oneDNN")
    monkeypatch.setattr(kernels, "rules", lambda: RULES[request.param])
    monkeypatch.setattr(kernels, "unrolls", lambda _: kernels.rules().unrolls)
    return request.param


def layers(sides, n, c, o, kernel, stride, padding):
    """A convolution, its transpose, and the same layers of PyTorch in float64, with the same weights."""
    down = Convolution(c, o, kernel, stride, padding)
    maps = convolution.maps_of(down, sides)
    geometry = convolution.geometry_of(down, sides, maps)
    arguments = o, c, kernel, stride, padding, geometry.output_padding
    generator = torch.Generator().manual_seed(0)
    pairs = [
        (down, nn.Conv2d(c, o, kernel, stride, padding).double(), (n, c, *sides)),
        (TransposedConvolution(sides, *arguments), nn.ConvTranspose2d(*arguments).double(), (n, o, *maps)),
    ]
    for ours, exact, shape in pairs:
        for parameter in ours.parameters():
            nn.init.uniform_(parameter, -1, 1, generator=generator)
        exact.load_state_dict(ours.state_dict())
        yield ours, exact, torch.rand(shape, generator=generator)


def output_and_gradients(layer, x):
    x = x.detach().requires_grad_()
    output = layer(x)
    weight = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view(output.shape)
    return [output, *torch.autograd.grad((output * weight).sum(), [x, *layer.parameters()])]


def assert_equal(ours, exact):
    for mine, right in zip(ours, exact, strict=True):
        torch.testing.assert_close(mine.double(), right, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.usefixtures("rules")
def test_output_and_gradients_are_those_of_torch_in_float64(shape):
    for ours, exact, x in layers(*shape):
        assert_equal(output_and_gradients(ours, x), output_and_gradients(exact, x.double()))


@pytest.mark.usefixtures("rules")
def test_the_memory_format_of_the_images_does_not_matter():
    for ours, _, x in layers(*SHAPES[1]):
        other = output_and_gradients(ours, x.contiguous(memory_format=torch.channels_last))
        assert_equal(other, [value.double() for value in output_and_gradients(ours, x)])


@pytest.mark.usefixtures("rules")
def test_a_layer_without_bias_and_frozen_weights_has_the_gradient_of_its_input():
    for ours, exact, x in layers(*SHAPES[1]):
        results = []
        for layer, images in ((ours, x), (exact, x.double())):
            layer.bias = None
            layer.requires_grad_(False)
            results.append(torch.autograd.grad(layer(images.requires_grad_()).square().sum(), images))
        assert_equal(*results)


def test_rules_choose_the_kernels_by_shape(monkeypatch):
    down = Convolution(1, 2, 5, 2, 2)
    small, large = (
        convolution.geometry_of(down, side, convolution.maps_of(down, side)) for side in ((8, 8), (28, 28))
    )
    chosen = Rules(channels_by_shuffle=3)
    monkeypatch.setattr(kernels, "rules", lambda: chosen)
    assert not kernels.unrolls(small)
    assert not kernels.unrolls(small._replace(sides=(5, 5)))
    monkeypatch.setattr(kernels, "rules", lambda: chosen._replace(unrolls=True))
    assert kernels.unrolls(small._replace(sides=(5, 5)))
    assert not kernels.unrolls(small._replace(sides=(5, 6)))
    assert kernels.of_images(3, large) == "shuffle"
    assert kernels.of_images(4, large) == "torch"
    assert kernels.of_images(1, large._replace(kernel=(1, 1))) == "torch"


def test_small_images_are_unrolled_in_both_directions(monkeypatch):
    called = []
    monkeypatch.setattr(kernels, "rules", lambda: Rules(unrolls=True))
    for name in ("maps", "images"):
        monkeypatch.setattr(unrolled, name, lambda x, *_, name=name: called.append(name) or x)
    for sides in ((5, 5), (5, 6)):
        for layer, _, x in layers(sides, 2, 3, 4, 5, 2, (2, 2)):
            layer(x)
    assert called == ["maps", "images"]


@pytest.mark.usefixtures("rules")
def test_layers_have_gradients_under_autocast():
    for layer, exact, x in layers(*SHAPES[6]):
        with torch.autocast("cpu"):
            output = layer(x)
        assert output.dtype == torch.bfloat16
        output.float().sum().backward()
        exact(x.double()).sum().backward()
        torch.testing.assert_close(layer.weight.grad.double(), exact.weight.grad, rtol=0.05, atol=0.05)


@pytest.mark.parametrize(
    "options", [{"groups": 2}, {"dilation": 2}, {"padding_mode": "circular"}, {"padding": "valid"}]
)
def test_convolutions_of_other_kinds_are_those_of_torch(options):
    ours, theirs = (kind(4, 6, 3, **options) for kind in (Convolution, nn.Conv2d))
    theirs.load_state_dict(ours.state_dict())
    x = torch.rand(2, 4, 7, 8)
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.parametrize("shape", [SHAPES[2], SHAPES[6]], ids=str)
@pytest.mark.usefixtures("rules")
def test_no_images_have_no_outputs_and_zero_gradients(shape):
    for ours, exact, x in layers(*shape):
        output, *gradients = output_and_gradients(ours, x[:0])
        assert output.shape == exact(x[:0].double()).shape
        assert not any(gradient.any() for gradient in gradients)


@pytest.mark.filterwarnings("ignore:`torch.jit.trace:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.usefixtures("rules")
def test_a_trace_computes_batches_of_any_size():
    for layer, _, x in layers(*SHAPES[6]):
        traced = torch.jit.trace(layer, x)
        torch.testing.assert_close(traced(x[:2]), layer(x[:2]))
