"""Soft resets of the encoder with a new K-means (BRB), as a setting of DEC, IDEC, DCN and DEKM."""

import numpy as np
import pytest
import torch
from sklearn.frozen import FrozenEstimator
from torch import nn

from dekm import DEC, Autoencoder
from dekm.clustering.kmeans import kmeans
from dekm.methods.soft_reset import forget_momentum, reset_iterations, soft_reset
from dekm.nn.optimizers import SGD, Adam
from dekm.nn.training import Step
from tests.helpers.checkpoints import InterruptedTrainingError, Memory
from tests.helpers.linear import Reference, batches_of, distances, linear_start
from tests.helpers.methods import assert_same

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
with_resets = pytest.mark.parametrize("name", ["dec", "idec", "dcec", "dcn", "dekm"])
# One iteration is one pass over the 300 blobs in batches of 60.
ONE_PASS = {"update_interval": 5, "epochs_per_iter": 1, "n_batches": 5, "batch_size": 60, "tol": 0.0}


def passes(make_method, name, **params):
    """A method whose iterations are passes."""
    return make_method(name).set_params(
        **{key: value for key, value in ONE_PASS.items() if key in make_method(name).get_params()} | params
    )


@pytest.mark.parametrize(
    ("interval", "n_steps", "max_iter", "expected"),
    [
        (0, 5, 100, []),
        (20, 10, 10, [2, 4, 6, 8]),  # as epochs 40, 60, ... of the authors' loop; none at the end
        (20, 10, 9, [2, 4, 6]),
        (20, 10, 3, []),
        (3, 10, 4, [1, 2, 3]),  # an iteration is longer than the interval
        (25, 10, 12, [3, 5, 8]),  # a reset waits for the end of an iteration
        (20, 10, 0, []),
    ],
)
def test_resets_are_an_interval_apart_and_before_the_end(interval, n_steps, max_iter, expected):
    assert reset_iterations(interval, n_steps, max_iter) == expected


def test_a_soft_reset_mixes_all_layers_but_the_embedding_and_those_without_a_matrix():
    def network():
        layers = [nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 5), nn.Linear(5, 3)]
        return nn.Sequential(*layers)

    encoder, fresh = network(), network()
    before = {key: value.clone() for key, value in encoder.state_dict().items()}
    nn.init.normal_(fresh[1].weight)
    soft_reset(encoder, fresh, 0.7)
    for key, value in encoder.state_dict().items():
        mixed = key.startswith(("0.", "3."))
        expected = 0.7 * before[key] + 0.3 * fresh.state_dict()[key] if mixed else before[key]
        torch.testing.assert_close(value, expected, rtol=1e-6, atol=1e-7)


@with_resets
def test_without_training_each_reset_takes_its_part_of_the_pretrained_weights(name, make_method, tiny, blobs):
    start = FrozenEstimator(tiny(n_epochs=2).fit(blobs.X))
    pretrained = start.estimator.module_.encoder.state_dict()
    params = {"autoencoder": start, "lr": 0.0, "max_iter": 3, "reset_interval": 1, "reset_factor": 0.5}
    states = []
    fitted = passes(make_method, name, **params, on_iteration=states.append).fit(blobs.X)
    found = fitted.encoder_.state_dict()
    names = sorted(found)
    for key in names[:-2]:
        if key.endswith("bias"):  # new ones are zero
            torch.testing.assert_close(found[key], pretrained[key] / 4)
        else:
            assert not torch.allclose(found[key], pretrained[key] / 4, atol=1e-3)
    for key in names[-2:]:
        assert torch.equal(found[key], pretrained[key])
    assert not torch.equal(states[1].H, states[2].H)
    for state in states[2:]:  # K-means has clustered the embedding after the reset
        means = torch.stack([state.H[state.labels == j].mean(0) for j in range(3)])
        torch.testing.assert_close(state.centers, means, rtol=0.0, atol=0.05)
        assert state.changed < 0.01  # of the labels of this K-means, not of those before the reset


@pytest.mark.parametrize("name", ["dec", "idec", "dcec", "dekm"])
def test_the_last_reset_decides_when_settled_labels_end_a_fit(name, make_method, blobs):
    params = {"tol": 1.0, "max_iter": 9, "reset_interval": 2}
    assert passes(make_method, name, **params).fit(blobs.X).n_iter_ == 7


@with_resets
def test_a_reset_that_is_never_due_changes_no_bit(name, make_method, blobs):
    params = {"max_iter": 3, "reset_factor": 0.1}
    never = passes(make_method, name, reset_interval=0, **params).fit(blobs.X)
    assert_same(passes(make_method, name, reset_interval=2, **params).fit(blobs.X), never)
    assert np.any(
        passes(make_method, name, reset_interval=1, **params).fit(blobs.X).embedding_ != never.embedding_
    )


@with_resets
@pytest.mark.parametrize("stop_after", [1, 3])
def test_an_interrupted_fit_with_resets_continues_to_the_same_bits(name, stop_after, make_method, blobs):
    def make():
        return passes(make_method, name, max_iter=5, reset_interval=1)

    memory = Memory(stop_after)
    with pytest.raises(InterruptedTrainingError):
        make().fit(blobs.X, checkpoint=memory)
    assert_same(make().fit(blobs.X, checkpoint=memory), make().fit(blobs.X))


@pytest.mark.parametrize("optimizer", [Adam, lambda values, lr: SGD(values, lr=lr, momentum=0.9)])
def test_only_the_centers_lose_their_momentum(optimizer):
    weight, U = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(2, 3))
    step = Step(lambda index: (weight * U).sum(), [weight, U], lr=0.1, optimizer=optimizer)
    step(torch.arange(2))
    kept = [tensor.clone() for tensor in step.optimizer.state[0]]
    forget_momentum(step, U)
    for tensor, before in zip(step.optimizer.state[0], kept, strict=True):
        assert torch.equal(tensor, before)
        assert tensor.any()
    assert not any(tensor.any() for tensor in step.optimizer.state[1] if tensor.ndim)
    assert all(tensor == 1 for tensor in step.optimizer.state[1] if not tensor.ndim)


def test_idec_with_resets_is_its_reference():
    """A linear encoder is its embedding, so a reset is a K-means that forgets the momentum of the centers."""
    rng = np.random.default_rng(5)
    X = (1.5 * rng.normal(size=(4, 5))[np.arange(60) % 4] + rng.normal(size=(60, 5))).astype(np.float32)
    lr, gamma, states = 0.05, 0.3, []
    params = {"reconstruction": True, "update_interval": 3, "tol": 0.0, "gamma": gamma, "lr": lr, "n_init": 3}
    params |= {"reset_interval": 1, "max_iter": 3, "batch_size": 20, "device": "cpu", "random_state": 7}
    start = linear_start(X, 3)
    fitted = DEC(4, autoencoder=start, **params, on_iteration=states.append).fit(X)
    reference = Reference(start, lr, U=states[0].centers.numpy())
    stream, draws = batches_of(7, 60, 20, reshuffle=False), np.random.RandomState(7)
    for size in (1, None, 1):  # the seed of the fit, its first K-means, and that of the first new weights
        if size is None:
            kmeans(states[0].H, 4, n_init=3, random_state=draws)
        else:
            draws.randint(2**31 - 1)

    def soft(x):
        t = 1 / (1 + distances(reference.encode(x), reference.values["U"]))
        return t, t / t.sum(1, keepdims=True)

    for n_iter in range(3):
        if n_iter > 0:
            if n_iter > 1:
                draws.randint(2**31 - 1)
            H = torch.from_numpy(reference.encode(X.astype(np.float64)).astype(np.float32))
            found = kmeans(H, 4, n_init=3, random_state=draws)
            reference.values["U"] = found.centers.double().numpy()
            for moment in reference.moments["U"]:
                moment[:] = 0
        target = soft(X.astype(np.float64))[1] ** 2
        target = target / soft(X.astype(np.float64))[1].sum(0)
        target /= target.sum(1, keepdims=True)
        for _ in range(3):
            index = next(stream)
            x, p = X[index].astype(np.float64), target[index]
            t, q = soft(x)
            pull = 2 * gamma / 20 * (t * (p - q))[..., None]
            pull = pull * (reference.encode(x)[:, None] - reference.values["U"])
            reference.adam(reference.gradients(x, pull.sum(1), 1 / 5) | {"U": -pull.sum(0)})
    assert fitted.n_iter_ == 3
    np.testing.assert_allclose(fitted.cluster_centers_, reference.values["U"], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        fitted.encoder_.weight.detach().numpy(), reference.values["A"], rtol=1e-3, atol=1e-4
    )
    assert np.any(states[2].labels.numpy() != states[0].labels.numpy())


def test_a_network_of_a_user_is_reset_by_its_own_initial_weights(blobs):
    class Network(nn.Module):
        def __init__(self, shape, embedding_dim):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(shape[0], 6), nn.ReLU(), nn.Linear(6, embedding_dim))
            self.decoder = nn.Linear(embedding_dim, shape[0])

    autoencoder = Autoencoder(network=Network, embedding_dim=3, n_epochs=1, device="cpu")
    params = {"update_interval": 5, "batch_size": 60, "reset_interval": 1, "reset_factor": 0.0, "lr": 0.0}
    fitted = DEC(3, autoencoder=autoencoder, **params, max_iter=2, device="cpu", random_state=0).fit(blobs.X)
    pretrained = fitted.autoencoder_.module_.encoder
    assert not torch.equal(fitted.encoder_[0].weight, pretrained[0].weight)
    assert fitted.encoder_[0].bias.any()  # PyTorch's own are not zero
    assert torch.equal(fitted.encoder_[2].weight, pretrained[2].weight)
