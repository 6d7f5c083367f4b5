"""Networks of a user: batch normalization, dropout and given weights."""

import copy

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from torch import nn

from dekm import DEKM, Autoencoder
from dekm.errors import InputError
from dekm.methods import METHODS
from dekm.nn.networks import INITIALIZE
from dekm.nn.own_network import OwnNetwork, evaluation, seeded
from dekm.nn.training import encode
from tests.helpers.methods import assert_same, deep_method
from tests.helpers.networks import random_network as network


@pytest.fixture
def make(tiny):
    return lambda **params: tiny(**{"network": network, "n_epochs": 2, "batch_size": 64} | params)


@pytest.fixture
def global_state():
    """The state of PyTorch's global generator, which no fit may change."""
    before = torch.get_rng_state()
    yield
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.usefixtures("global_state")
@pytest.mark.parametrize("kind", ["blobs", "images"])
def test_the_same_seed_gives_bitwise_equal_weights_and_buffers(kind, make, request):
    X = request.getfixturevalue(kind).X
    first, second, other = (make(random_state=seed).fit(X).module_.state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["encoder.1.weight"], other["encoder.1.weight"])
    n_steps = 2 * -(-len(X) // min(64, len(X)))
    assert first["encoder.2.num_batches_tracked"] == n_steps
    assert not torch.equal(first["encoder.2.running_mean"], torch.zeros(8))


@pytest.mark.usefixtures("global_state")
@deep_method
def test_a_method_on_such_a_network_is_deterministic_and_embeds_in_evaluation_mode(
    name, make, make_method, blobs
):
    start = FrozenEstimator(make().fit(blobs.X))
    first, second = (make_method(name, autoencoder=start).fit(blobs.X) for _ in range(2))
    assert_same(first, second)
    np.testing.assert_array_equal(first.predict(blobs.X), first.labels_)
    np.testing.assert_array_equal(first.predict(blobs.X[:1]), first.labels_[:1])


def test_training_updates_the_statistics_and_an_embedding_does_not(make, make_method, blobs):
    start = make().fit(blobs.X)
    seen = []
    method = make_method("dekm", autoencoder=FrozenEstimator(start), on_iteration=seen.append).fit(blobs.X)
    np.testing.assert_array_equal(seen[0].H, start.transform(blobs.X))
    tracked = method.encoder_[2].num_batches_tracked.item()
    assert tracked > start.module_.encoder[2].num_batches_tracked.item()
    method.transform(blobs.X)
    assert method.encoder_[2].num_batches_tracked.item() == tracked


def test_every_layer_gets_its_mode_back_after_an_embedding():
    encoder = network((4,), 2).encoder
    encoder[2].eval()  # statistics that the user froze
    before = [layer.training for layer in encoder.modules()]
    encode(encoder, torch.ones(3, 4))
    assert [layer.training for layer in encoder.modules()] == before
    with pytest.raises(ZeroDivisionError), evaluation(encoder):
        raise ZeroDivisionError
    assert [layer.training for layer in encoder.modules()] == before


def test_the_initial_weights_are_those_that_the_module_draws_under_the_seed(make, blobs):
    first, second, other = (make(n_epochs=0, random_state=seed).fit(blobs.X) for seed in (0, 0, 1))
    weights = [fitted.module_.encoder[1].weight for fitted in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert weights[0].abs().max() <= 1 / np.sqrt(10)  # the bound of PyTorch's own initialization


def test_given_weights_start_without_pretraining_and_stay_as_they_are(make, blobs):
    given = network((10,), 3)
    before = copy.deepcopy(given.state_dict())
    start = make(network=lambda shape, embedding_dim: given, n_epochs=0).fit(blobs.X)
    np.testing.assert_array_equal(start.transform(blobs.X), encode(given.encoder, torch.from_numpy(blobs.X)))
    DEKM(3, autoencoder=FrozenEstimator(start), max_iter=1, tol=1.0, n_init=1, device="cpu").fit(blobs.X)
    assert all(torch.equal(value, before[name]) for name, value in given.state_dict().items())


def test_xavier_leaves_normalization_as_it_is(make, blobs):
    halves = make(n_epochs=0, init="xavier").fit(blobs.X).module_
    assert (halves.encoder[2].weight == 1).all()
    assert (halves.encoder[1].bias == 0).all()
    with pytest.raises(InputError, match=r"init='released' is not for network=<function"):
        make(init="released").fit(blobs.X)
    with pytest.raises(InputError, match=r"init='module' is not for network=None"):
        make(network=None, init="module").fit(blobs.X)


def test_an_import_path_names_a_network(make, blobs):
    named = make(network="tests.helpers.networks:random_network").fit(blobs.X)
    np.testing.assert_array_equal(named.transform(blobs.X), make().fit(blobs.X).transform(blobs.X))
    assert clone(named).network == "tests.helpers.networks:random_network"


def test_a_saved_autoencoder_is_loaded_with_its_network_passed_again(make, tiny, blobs, tmp_path):
    path = tmp_path / "a.safetensors"
    saved = make(network="tests.helpers.networks:random_network").fit(blobs.X)
    saved.save(path)
    assert b"random_network" not in path.read_bytes()
    loaded = Autoencoder.load(path, device="cpu", network=network)
    np.testing.assert_array_equal(loaded.transform(blobs.X), saved.transform(blobs.X))
    with pytest.raises(
        InputError, match="network=None: the saved autoencoder has a network of its own: pass"
    ):
        Autoencoder.load(path, device="cpu")
    with pytest.raises(InputError, match=r"does not fit the saved weights: size mismatch"):
        Autoencoder.load(path, device="cpu", network=lambda shape, e: narrow(shape, e, 4))
    tiny().fit(blobs.X).save(path)
    with pytest.raises(InputError, match="the saved autoencoder has none: leave it out"):
        Autoencoder.load(path, device="cpu", network=network)


@pytest.mark.parametrize("name", ["dekm", "dcn"])
def test_a_saved_method_is_loaded_with_its_network_passed_again(name, make, make_method, blobs, tmp_path):
    saved = make_method(name, autoencoder=make()).fit(blobs.X)
    saved.save(tmp_path / "a.safetensors")
    loaded = type(saved).load(tmp_path / "a.safetensors", device="cpu", network=network)
    np.testing.assert_array_equal(loaded.predict(blobs.X), saved.labels_)
    loaded.fit(blobs.X)
    with pytest.raises(InputError, match="pass it again"):
        METHODS[name].load().load(tmp_path / "a.safetensors", device="cpu")


def narrow(shape, embedding_dim, width=8, wrong=0):
    d = int(np.prod(shape))
    module = nn.Module()
    module.encoder = nn.Sequential(nn.Flatten(), nn.Linear(d, width), nn.Linear(width, embedding_dim))
    module.decoder = nn.Sequential(nn.Linear(embedding_dim, d - wrong))
    return module


def test_tied_weights_are_saved_and_loaded(make, blobs, tmp_path):
    class Transposed(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, h):
            return h @ self.layer.weight

    def tied(shape, embedding_dim):
        module = narrow(shape, embedding_dim)
        module.decoder = nn.Sequential(Transposed(module.encoder[2]), Transposed(module.encoder[1]))
        return module

    saved = make(network=tied).fit(blobs.X)
    assert saved.module_.decoder[0].layer is saved.module_.encoder[2]
    saved.save(tmp_path / "a.safetensors")
    loaded = Autoencoder.load(tmp_path / "a.safetensors", device="cpu", network=tied)
    np.testing.assert_array_equal(loaded.transform(blobs.X), saved.transform(blobs.X))


@pytest.mark.parametrize(
    ("build", "text"),
    [
        ("math:pi", "network='math:pi' should be a function of the shape"),
        ("nowhere:net", "the module nowhere cannot be imported"),
        (lambda shape: None, r"cannot be built for samples of shape \(10,\): TypeError"),
        (lambda shape, e: nn.Linear(10, e), "with the modules encoder and decoder"),
        (
            lambda shape, e: OwnNetwork(nn.Identity(), nn.Identity()),
            "should have parameters that can be trained",
        ),
        (lambda shape, e: narrow(shape, e + 1), r"the encoder maps shape \(2, 10\) to \(2, 4\); .* \(2, 3\)"),
        (
            lambda shape, e: narrow(shape, e, wrong=1),
            r"the decoder maps shape \(2, 3\) to \(2, 9\); .* \(2, 10\)",
        ),
        (lambda shape, e: narrow((7,), e), r"the encoder cannot map shape \(2, 10\): RuntimeError: "),
    ],
)
def test_a_network_that_cannot_be_used_is_one_line(build, text, make, blobs):
    with pytest.raises(InputError, match=text) as caught:
        make(network=build).fit(blobs.X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("params", [{"architecture": "mlp"}, {"layerwise": True}])
def test_parameters_of_the_papers_networks_are_refused(params, make, blobs):
    with pytest.raises(InputError, match="needs architecture='auto' and layerwise=False"):
        make(**params).fit(blobs.X)


def test_seeding_ends_with_the_block():
    with seeded(3, torch.device("cpu")):
        first = torch.rand(2)
    between = torch.rand(2)
    with seeded(3, torch.device("cpu")):
        assert torch.equal(torch.rand(2), first)
    assert not torch.equal(torch.rand(2), between)
    assert "module" not in INITIALIZE
