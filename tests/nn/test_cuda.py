"""Tests on a GPU: captured steps, deterministic results, and concurrent seeds.

Without a GPU, `test_emulated_gpu.py` runs these tests on an emulated one.
"""

from functools import partial

import numpy as np
import pytest
import torch
from sklearn.frozen import FrozenEstimator
from torch import nn

from dekm import Autoencoder
from dekm.concurrency import run_concurrently
from dekm.datasets import DATASETS, preparation
from dekm.errors import InputError
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.files import read_json
from dekm.methods import METHODS
from dekm.nn.convolution import Convolution
from dekm.nn.networks import ConvAutoencoder, MLPAutoencoder, xavier_initialize
from dekm.nn.own_network import build_network, seeded
from dekm.nn.training import Step, batches, squared_error
from tests.helpers.checkpoints import InterruptedTrainingError, Memory
from tests.helpers.networks import random_network
from tests.helpers.prepared_files import files

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

DEVICES = [f"cuda:{i}" for i in range(torch.cuda.device_count())]


def trained(network, X, *, captured):
    """Parameters and losses after ten steps."""

    def loss(index):
        x = X[index]
        return squared_error(network(x), x)

    network.capture = captured
    step = Step(loss, network.parameters(), lr=1e-3, network=network)
    stream = batches(len(X), 32, generator=torch.Generator().manual_seed(0), reshuffle=True, device=X.device)
    losses = [float(step(next(stream))) for _ in range(10)]
    return torch.cat([value.detach().flatten() for value in network.parameters()]).cpu(), losses


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("depth", [1, 3, None])
def test_captured_steps_equal_steps_that_are_not_captured(device, depth):
    shape = (40,) if depth is None else (16, 16, depth)
    X = torch.rand(100, *shape, generator=torch.Generator().manual_seed(0)).to(device)
    results = []
    for captured in (True, False):
        network = (
            MLPAutoencoder(shape, 5, (32, 16)) if depth is None else ConvAutoencoder(shape, 5, (8, 8, 8))
        )
        xavier_initialize(network, torch.Generator().manual_seed(0))
        results.append(trained(network.to(device), X, captured=captured))
    torch.testing.assert_close(results[0][0], results[1][0], rtol=1e-4, atol=1e-5)
    assert results[0][1] == pytest.approx(results[1][1], rel=1e-4)
    assert results[0][1][-1] < results[0][1][0]


@pytest.mark.parametrize("options", [{"dilation": 2}, {"padding_mode": "circular"}, {"padding": "valid"}])
def test_convolutions_of_other_kinds_of_grey_images_are_those_of_torch(options):
    ours, theirs = (kind(1, 6, 3, **options).to("cuda") for kind in (Convolution, nn.Conv2d))
    theirs.load_state_dict(ours.state_dict())
    x = torch.rand(2, 1, 7, 8).to("cuda")
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_captured_steps_update_the_statistics_of_batch_normalization(device):
    X = torch.rand(100, 40, generator=torch.Generator().manual_seed(0)).to(device)
    buffers, losses = [], []
    for captured in (True, False):
        module = build_network(random_network, (40,), 5)
        xavier_initialize(module, torch.Generator().manual_seed(0))
        with seeded(0, torch.device(device)):
            losses.append(trained(module.to(device), X, captured=captured)[1])
        buffers.append([buffer.cpu() for buffer in module.buffers()])
    assert [buffer.item() for buffer in buffers[0] if buffer.ndim == 0] == [10, 10]
    for first, second in zip(*buffers, strict=True):
        torch.testing.assert_close(first, second, rtol=1e-4, atol=1e-5)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


class Waiting(nn.Linear):
    """A layer that waits for the device."""

    def forward(self, x):
        return super().forward(x) * (2 if float(x.detach().sum()) > -1 else 1)


def waiting_network(shape, embedding_dim):
    module = nn.Module()
    module.encoder, module.decoder = Waiting(*shape, embedding_dim), nn.Linear(embedding_dim, *shape)
    return module


def test_a_network_of_a_user_that_waits_for_the_device_is_trained_unless_its_capture_is_asked(
    blobs, make_method, tiny
):
    start = tiny(network=waiting_network, device="cuda")
    assert np.isfinite(make_method("dekm", autoencoder=start, device="cuda").fit(blobs.X).embedding_).all()
    with pytest.raises(InputError, match="capture=False of the autoencoder"):
        start.set_params(capture=True).fit(blobs.X)


def test_a_network_with_random_layers_is_deterministic(blobs, make_method, tiny):
    fitted = []
    for _ in range(2):
        start = tiny(network=random_network, capture=True, device="cuda").fit(blobs.X)
        fitted.append(make_method("dcn", autoencoder=FrozenEstimator(start), device="cuda").fit(blobs.X))
    np.testing.assert_array_equal(fitted[0].embedding_, fitted[1].embedding_)
    np.testing.assert_array_equal(fitted[0].predict(blobs.X), fitted[0].labels_)


@pytest.mark.parametrize("layerwise", [False, True])
def test_pretraining_is_deterministic(layerwise, blobs):
    embeddings = [
        Autoencoder(hidden=(32, 16), n_epochs=5, layerwise=layerwise, device="cuda", random_state=0)
        .fit(blobs.X)
        .transform(blobs.X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*embeddings)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_deterministic(name, device, make_method, tiny, images):
    start = FrozenEstimator(tiny(device=device).fit(images.X))
    fitted = []
    for _ in range(2):
        estimator = make_method(name, device=device)
        if "autoencoder" in estimator.get_params():
            estimator.set_params(autoencoder=start)
        fitted.append(estimator.fit(images.X))
    np.testing.assert_array_equal(fitted[0].embedding_, fitted[1].embedding_)
    np.testing.assert_array_equal(fitted[0].labels_, fitted[1].labels_)
    np.testing.assert_array_equal(fitted[0].predict(images.X), fitted[0].labels_)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_with_captured_steps_equals_the_method_without_captures(name, make_method, tiny, images):
    fitted = []
    for capture in (True, False):
        estimator = make_method(name, device="cuda")
        known = {
            "autoencoder": tiny(random_state=None, capture=capture),
            "batch_size": 16,
            "lr": 1e-2,
            "update_interval": 4,
            "n_batches": 4,
            "max_iter": 3,
            "tol": 0.0,
        }
        row = METHODS[name].params
        estimator.set_params(
            **{key: value for key, value in known.items() if key in estimator.get_params() and key not in row}
        )
        fitted.append(estimator.fit(images.X))
    losses = [[iteration["loss"] for iteration in estimator.history_] for estimator in fitted]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3, nan_ok=True)
    np.testing.assert_allclose(fitted[0].embedding_, fitted[1].embedding_, rtol=1e-2, atol=1e-3)


def continued(make, X):
    """A new estimator, fitted after an interruption at its second checkpoint."""
    memory = Memory(stop_after=2)
    with pytest.raises(InterruptedTrainingError):
        make().fit(X, checkpoint=memory)
    return make().fit(X, checkpoint=memory)


@pytest.mark.parametrize("layerwise", [False, True])
def test_an_interrupted_pretraining_is_continued(layerwise, tiny, images):
    architecture = "mlp" if layerwise else "conv"
    params = {"layerwise": layerwise, "architecture": architecture, "batch_size": 8, "device": "cuda"}
    expected, found = tiny(**params).fit(images.X), continued(lambda: tiny(**params), images.X)
    assert found.loss_curve_ == expected.loss_curve_
    np.testing.assert_array_equal(found.transform(images.X), expected.transform(images.X))


@pytest.mark.parametrize("name", ["dec", "dcn", "dkm", "dekm", "edesc", "vade", "acedec"])
def test_an_interrupted_method_is_continued(name, make_method, images):
    def make():
        changes = {"batch_size": 8, "max_iter": 4, "tol": 0.0, "update_interval": 6}
        estimator = make_method(name, device="cuda")
        return estimator.set_params(
            **{key: value for key, value in changes.items() if key in estimator.get_params()}
        )

    expected, found = make().fit(images.X), continued(make, images.X)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", [name for name, row in METHODS.items() if row.extra is None])
def test_concurrent_seeds_give_the_results_of_separate_fits(name, device, make_method, images):
    def fit(seed, fitted):
        fitted[seed] = make_method(name, device=device, random_state=seed).fit(images.X)

    separate, concurrent = {}, {}
    for seed in range(3):
        fit(seed, separate)
    runs = [partial(fit, seed, concurrent) for seed in range(3)]
    run_concurrently(runs, torch.device(device), images.X.nbytes)
    for seed in range(3):
        np.testing.assert_array_equal(concurrent[seed].embedding_, separate[seed].embedding_)
        np.testing.assert_array_equal(concurrent[seed].labels_, separate[seed].labels_)


def test_a_cell_of_three_seeds_equals_three_cells_of_one_seed(tmp_path):
    pretraining = {"channels": (4, 8, 8), "n_epochs": 2, "batch_size": 32}
    settings = {"n_init": 2, "n_init_update": 2, "max_iter": 2, "tol": 0.0, "n_batches": 8}
    found = []
    for name, cells in (("concurrent", [[0, 1, 2]]), ("separate", [[0], [1], [2], [0, 1, 2]])):
        results = tmp_path / name
        data = files(results / "data/digits")
        preparation.prepare(DATASETS["digits"], tmp_path / "raw", **data, subsample=100)
        for seeds in cells:
            pretrain_cell(results, "digits", "conv", seeds, pretraining, device="cuda")
            cluster_cell(results, "digits", "dekm", seeds, settings, device="cuda")
        folders = sorted((results / "runs/digits/dekm").glob("seed*"))
        runs = [read_json(folder / "metrics.json") for folder in folders]
        found.append([(run["acc"], run["nmi"], run["inertia"]) for run in runs])
    assert found[0] == found[1]
