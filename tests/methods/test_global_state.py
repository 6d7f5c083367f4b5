"""A fit does not depend on what the caller set for all of PyTorch."""

import contextlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from dekm.errors import InputError
from tests.helpers.methods import assert_same, every_kind, every_method
from tests.helpers.networks import random_network


@contextlib.contextmanager
def float64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def other_device() -> Iterator[None]:
    torch.set_default_device("meta")
    try:
        yield
    finally:
        torch.set_default_device(None)


STATES = {
    "float64": float64,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "other_device": other_device,
}


def check_same_fit(make: Callable, X: np.ndarray, states: list[str]) -> None:
    expected = make().fit(X)
    with contextlib.ExitStack() as stack:
        for state in states:
            stack.enter_context(STATES[state]())
        estimator = make().fit(X)
        labels, embedding, score = estimator.predict(X), estimator.transform(X), estimator.score(X)
    assert_same(estimator, expected)
    np.testing.assert_array_equal(labels, expected.predict(X))
    np.testing.assert_array_equal(embedding, expected.transform(X))
    assert score == expected.score(X)


@every_method
@every_kind
def test_no_global_setting_of_pytorch_changes_a_fit(name, kind, make_method, request):
    X = request.getfixturevalue(kind).X[:60]
    states = ["float64", "inference_mode", "autocast", "other_device"]
    check_same_fit(lambda: make_method(name, random_state=0), X, states)


@pytest.mark.parametrize("state", STATES)
def test_each_global_setting_alone_changes_nothing(state, make_method, blobs):
    check_same_fit(lambda: make_method("dekm", random_state=0), blobs.X[:60], [state])


def test_an_autoencoder_that_was_loaded_in_inference_mode_can_be_trained(make_method, tiny, blobs, tmp_path):
    from sklearn.frozen import FrozenEstimator

    tiny().fit(blobs.X).save(tmp_path / "autoencoder.safetensors")
    with torch.inference_mode():
        loaded = type(tiny()).load(tmp_path / "autoencoder.safetensors", device="cpu")
    make_method("dekm", autoencoder=FrozenEstimator(loaded)).fit(blobs.X)


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.requires_grad_(),
        lambda X: X.requires_grad_() * 1,
        lambda X: X.bfloat16(),
        lambda X: X.half(),
        lambda X: X.double(),
        lambda X: X.to_sparse(),
    ],
    ids=["leaf", "result", "bfloat16", "half", "double", "sparse"],
)
def test_a_tensor_is_read_like_the_array_of_its_values(change, make_method, blobs):
    X = torch.from_numpy(blobs.X[:60]).bfloat16().float()  # values that all types hold
    estimator = make_method("dekm", random_state=0).fit(change(X.clone()))
    assert_same(estimator, make_method("dekm", random_state=0).fit(X.numpy()))


@pytest.mark.parametrize("kind", [torch.complex64, "meta"])
def test_a_tensor_without_real_values_is_named(kind, make_method):
    with pytest.raises(InputError):
        make_method("k_means").fit(torch.ones(20, 3).to(kind))


def test_a_fit_that_fails_leaves_the_generator_of_pytorch_as_it_was(make_method, tiny, blobs):
    def interrupt(iteration):
        raise KeyboardInterrupt

    before = torch.get_rng_state()
    estimator = make_method("dekm", autoencoder=tiny(network=random_network), on_iteration=interrupt)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(blobs.X)
    assert torch.equal(torch.get_rng_state(), before)
    estimator.set_params(on_iteration=None).fit(blobs.X)
