import subprocess
import sys
import warnings
from itertools import islice

import numpy as np
import pytest
import torch

from dekm.errors import DivergedError, InputError
from dekm.nn.device import resolve_device
from dekm.nn.networks import empty_network, xavier_initialize
from dekm.nn.training import EMBEDDING_BATCH, Step, batches, encode, samples_at_once, steps_per_epoch, train

CPU = torch.device("cpu")


def stream(n, batch_size, *, reshuffle=False, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return batches(n, batch_size, generator=generator, reshuffle=reshuffle, device=CPU)


def indices(n, batch_size, count, **options):
    """The first `count` indices of a stream."""
    n_batches = -(-count // min(batch_size, n))
    return torch.cat(list(islice(stream(n, batch_size, **options), n_batches)))[:count].tolist()


@pytest.mark.parametrize("batch_size", [1, 3, 5, 9, 10])
@pytest.mark.parametrize("reshuffle", [False, True])
def test_every_epoch_contains_every_sample_once(batch_size, reshuffle):
    drawn = indices(10, batch_size, 50, reshuffle=reshuffle)
    for epoch in range(5):
        assert sorted(drawn[10 * epoch : 10 * epoch + 10]) == list(range(10))


def test_any_n_consecutive_indices_contain_every_sample_once_without_reshuffle():
    drawn = indices(7, 3, 40)
    for start in range(33):
        assert sorted(drawn[start : start + 7]) == list(range(7))


def test_batches_continue_after_a_pause():
    cyclic = stream(10, 3)
    windows = [torch.cat(list(islice(cyclic, 2))).tolist() for _ in range(5)]
    assert sorted(index for window in windows for index in window) == sorted(list(range(10)) * 3)
    assert windows[0] != windows[1]


def test_the_short_last_batch_of_an_epoch_is_filled_from_the_next():
    first = list(islice(stream(10, 4), 3))
    assert [len(batch) for batch in first] == [4, 4, 4]
    assert first[2][2:].tolist() == first[0][:2].tolist()


def test_fewer_samples_than_the_batch_size_make_batches_of_all():
    for batch in islice(stream(5, 256, reshuffle=True), 4):
        assert sorted(batch.tolist()) == [0, 1, 2, 3, 4]


def test_reshuffle_gives_every_epoch_a_new_order():
    drawn = indices(20, 5, 60, reshuffle=True)
    assert len({tuple(drawn[start : start + 20]) for start in (0, 20, 40)}) == 3


def test_without_reshuffle_the_first_order_repeats_and_is_shuffled():
    drawn = indices(20, 5, 40)
    assert drawn[:20] == drawn[20:]
    assert drawn[:20] != list(range(20))


def test_the_seed_of_the_generator_decides_the_order():
    assert indices(20, 5, 20, seed=1) == indices(20, 5, 20, seed=1)
    assert indices(20, 5, 20, seed=1) != indices(20, 5, 20, seed=2)


def test_the_steps_of_an_epoch_contain_all_samples():
    assert [steps_per_epoch(n, 4) for n in (1, 3, 4, 5, 8, 9)] == [1, 1, 1, 2, 2, 3]


def test_a_step_is_one_adam_step_written_by_hand():
    x = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]], dtype=torch.float64)
    weight = torch.nn.Parameter(torch.tensor([0.7, -0.3], dtype=torch.float64))
    step = Step(lambda index: ((x[index] @ weight - 1) ** 2).mean(), [weight], lr=0.1)
    by_hand, first, second = np.array([0.7, -0.3]), np.zeros(2), np.zeros(2)
    for t, index in enumerate([[0, 2], [1, 0], [2, 1]], start=1):
        batch = x.numpy()[index]
        residual = batch @ by_hand - 1
        loss = step(torch.tensor(index))
        assert loss.item() == pytest.approx((residual**2).mean(), rel=1e-12)
        gradient = 2 * batch.T @ residual / len(index)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        corrected = np.sqrt(second / (1 - 0.999**t)) + 1e-8
        by_hand = by_hand - 0.1 * first / (1 - 0.9**t) / corrected
        np.testing.assert_allclose(weight.detach().numpy(), by_hand, rtol=1e-10)


def test_a_step_returns_a_loss_without_a_graph():
    weight = torch.nn.Parameter(torch.ones(1))
    assert not Step(lambda index: (weight**2).sum(), [weight], lr=0.1)(torch.tensor([0])).requires_grad


def test_the_next_step_reads_targets_that_were_copied_in_place():
    weight, target = torch.nn.Parameter(torch.zeros(1)), torch.zeros(1)
    step = Step(lambda index: ((weight - target[index]) ** 2).sum(), [weight], lr=0.1)
    step(torch.tensor([0]))
    target.copy_(torch.tensor([5.0]))
    assert step(torch.tensor([0])).item() == 25.0
    assert weight.item() > 0


def test_the_loss_of_a_training_is_the_mean_over_its_batches():
    weight = torch.nn.Parameter(torch.zeros(1))
    step = Step(lambda index: index.float().mean() + 0 * weight.sum(), [weight], lr=0.0)
    assert train(step, torch.tensor([[1, 3], [5, 7], [0, 2]])) == pytest.approx((2 + 6 + 1) / 3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_weight_that_is_no_longer_finite_ends_a_training_with_a_finite_loss(value):
    """The last step may break a weight that its own loss did not read yet."""
    weights = [torch.nn.Parameter(torch.zeros(2)) for _ in range(2)]

    def spoil(index):
        weights[1][1] = value

    step = Step(lambda index: (weights[0] - 1).square().sum(), weights, lr=0.1, after=spoil)
    with pytest.raises(DivergedError, match=r"diverged with lr=0\.1: the loss or a weight is not finite"):
        train(step, torch.tensor([[0]]))


@pytest.mark.parametrize("n", [1, 5, EMBEDDING_BATCH, EMBEDDING_BATCH + 3])
def test_encoding_in_blocks_equals_encoding_at_once(n):
    X = torch.arange(2.0 * n).reshape(n, 2) / n
    encoder = torch.nn.Linear(2, 3)
    H = encode(encoder, X)
    assert not H.requires_grad
    torch.testing.assert_close(H, encoder(X).detach())


@pytest.mark.parametrize(("shape", "most"), [((28, 28, 1), 668), ((224, 224, 3), 3), ((2000, 2000, 3), 1)])
def test_images_are_embedded_in_batches_of_two_mebibytes(shape, most):
    X = torch.zeros(1, *shape).expand(5, *shape)
    assert samples_at_once(X) == most
    assert samples_at_once(X[:0]) == samples_at_once(X.flatten(1)) == EMBEDDING_BATCH


@pytest.mark.parametrize("shape", [(28, 28, 1), (16, 16, 1), (9, 20, 3)])
def test_the_batches_of_an_embedding_change_it_by_rounding_only(shape):
    generator = torch.Generator().manual_seed(0)
    network = empty_network(shape, "conv", 4, (8, 16, 16), (8,))
    xavier_initialize(network, generator)
    X = torch.rand(50, *shape, generator=generator)
    with torch.no_grad():
        parts = torch.cat([network.encoder(batch) for batch in X.split(7)])
    torch.testing.assert_close(encode(network.encoder, X), parts)


def test_the_global_random_states_are_not_changed(blobs, tiny):
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002
    tiny(n_epochs=2).fit(blobs.X)
    assert torch.equal(torch.get_rng_state(), torch_state)
    for before, after in zip(numpy_state, np.random.get_state(), strict=True):  # noqa: NPY002
        np.testing.assert_array_equal(before, after)


def test_cpu_is_a_device():
    assert resolve_device("cpu") == CPU
    assert resolve_device("auto").type in ("cpu", "cuda")


@pytest.mark.parametrize("device", ["gpu", "mps", "mps:0", "tpu", "", "cuda:x"])
def test_an_unknown_device_is_refused_with_the_valid_ones(device):
    text = f"device='{device}' should be 'auto', 'cpu', 'cuda' or 'cuda:N'"
    with pytest.raises(InputError, match=text) as refused:
        resolve_device(device)
    assert ("Apple" in str(refused.value)) == device.startswith("mps")


def test_a_gpu_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"device='cuda:99' does not exist: PyTorch sees \d+ GPUs\."):
        resolve_device("cuda:99")


RESTORED = """
import os
import sys
import torch
from dekm.nn.training import tensor_cores

cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul

def state():
    return matmul.fp32_precision, cudnn.conv.fp32_precision, cudnn.benchmark, cudnn.deterministic

def check(setting):
    exec(setting)
    before = state()
    with tensor_cores():
        assert state() == ('tf32', 'tf32', False, True), state()
    assert state() == before, (state(), before)

for setting in sys.argv[1:]:  # each in a process of its own, since PyTorch takes none of them back whole
    child = os.fork()
    if not child:
        check(setting)
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0, setting
"""


def test_the_precision_that_the_user_has_set_is_restored():
    settings = [
        "pass",
        "torch.set_float32_matmul_precision('high')",
        "torch.backends.cuda.matmul.allow_tf32 = True",
        "torch.backends.cudnn.allow_tf32 = False",
        "torch.backends.fp32_precision = 'ieee'",
        "torch.backends.cudnn.conv.fp32_precision = 'ieee'",
    ]
    done = subprocess.run([sys.executable, "-c", RESTORED, *settings], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_cpu_is_taken_in_one_line_where_a_build_with_cuda_finds_no_driver(monkeypatch, caplog):
    def no_driver():
        warnings.warn(
            "CUDA initialization: the NVIDIA driver is too old.\nUpdate it.", UserWarning, stacklevel=1
        )
        return False

    monkeypatch.setattr("torch.cuda.is_available", no_driver)
    for _ in range(2):
        assert resolve_device("auto") == CPU
    assert caplog.messages == ["device='auto' is the CPU: CUDA initialization: the NVIDIA driver is too old."]
