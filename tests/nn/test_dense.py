import pytest
import torch

from dekm.nn import kernels
from dekm.nn.dense import Dense
from dekm.nn.kernels import Rules


@pytest.fixture(params=["blas", "onednn"])
def library(request, monkeypatch):
    if request.param == "onednn" and not kernels.this_processor().onednn:
        pytest.skip("this PyTorch has no oneDNN")
    monkeypatch.setattr(kernels, "rules", lambda: Rules(dense=request.param))
    return request.param


def layer_and_rows(n_rows, n_in, n_out):
    generator = torch.Generator().manual_seed(0)
    layer = Dense(n_in, n_out)
    for parameter in layer.parameters():
        torch.nn.init.uniform_(parameter, -1, 1, generator=generator)
    return layer, torch.rand(n_rows, n_in, generator=generator, requires_grad=True)


def output_and_gradients(layer, x):
    output = layer(x)
    weight = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    return [output, *torch.autograd.grad((output * weight).sum(), [x, *layer.parameters()])]


@pytest.mark.parametrize(("n_rows", "n_in", "n_out"), [(256, 500, 200), (7, 3, 5), (1, 1, 1), (1, 20, 10)])
@pytest.mark.usefixtures("library")
def test_output_and_gradients_are_those_of_a_linear_layer_in_float64(n_rows, n_in, n_out):
    layer, x = layer_and_rows(n_rows, n_in, n_out)
    linear = torch.nn.Linear(n_in, n_out).double()
    linear.load_state_dict(layer.state_dict())
    for ours, exact in zip(
        output_and_gradients(layer, x),
        output_and_gradients(linear, x.detach().double().requires_grad_()),
        strict=True,
    ):
        torch.testing.assert_close(ours.double(), exact, rtol=1e-5, atol=1e-4)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads", "library")
def test_a_layer_is_deterministic():
    layer, x = layer_and_rows(256, 500, 200)
    for first, second in zip(output_and_gradients(layer, x), output_and_gradients(layer, x), strict=True):
        assert torch.equal(first, second)


def test_rows_of_float32_on_the_cpu_are_multiplied_by_the_chosen_library(library):
    layer, x = layer_and_rows(4, 3, 2)
    function = {"onednn": "OneDnnLinearBackward", "blas": "AddmmBackward0"}[library]
    assert type(layer(x).grad_fn).__name__ == function


def test_rows_of_float64_pass_a_finite_difference_check():
    layer, x = layer_and_rows(4, 3, 2)
    assert torch.autograd.gradcheck(layer.double(), x.detach().double().requires_grad_())


@pytest.mark.usefixtures("library")
def test_other_shapes_than_rows_are_those_of_a_linear_layer():
    layer, x = layer_and_rows(4, 3, 2)
    stacked = x.detach().view(2, 2, 3).requires_grad_()
    torch.testing.assert_close(layer(stacked), layer(x).view(2, 2, 2))
    layer(stacked).sum().backward()
    assert stacked.grad.shape == stacked.shape
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        layer(x[:, :2])


@pytest.mark.usefixtures("library")
def test_frozen_weights_need_no_gradient():
    layer, x = layer_and_rows(4, 3, 2)
    layer.requires_grad_(False)
    layer(x).sum().backward()
    torch.testing.assert_close(x.grad, layer.weight.sum(0).expand(4, 3))
    assert layer.weight.grad is None


@pytest.mark.usefixtures("library")
def test_no_rows_have_no_outputs_and_zero_gradients():
    layer, x = layer_and_rows(4, 3, 2)
    output = layer(x[:0])
    output.sum().backward()
    assert output.shape == (0, 2)
    assert not layer.weight.grad.any()


@pytest.mark.filterwarnings("ignore:`torch.jit.trace:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.usefixtures("library")
def test_a_trace_computes_batches_of_any_size():
    layer, x = layer_and_rows(4, 3, 2)
    traced = torch.jit.trace(layer, x)
    torch.testing.assert_close(traced(x[:3]), layer(x[:3]))


@pytest.mark.usefixtures("library")
def test_autocast_and_weights_of_another_type_are_those_of_a_linear_layer():
    layer, x = layer_and_rows(4, 3, 2)
    with torch.autocast("cpu"):
        assert layer(x).dtype == torch.bfloat16
    with pytest.raises(RuntimeError, match="must have the same dtype"):
        layer.double()(x)
