"""What only a GPU can show: a captured step is the step itself, and every method repeats bit by bit."""

import numpy as np
import pytest
import torch
from sklearn.frozen import FrozenEstimator

from dekm import Autoencoder
from dekm.methods import METHODS
from dekm.networks import ConvAutoencoder, MLPAutoencoder, xavier_initialize
from dekm.training import Step, batches, squared_error

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

DEVICES = [f"cuda:{i}" for i in range(torch.cuda.device_count())]


def trained(network, X, *, captured):
    """Parameters and losses after ten steps."""

    def loss(index):
        x = X[index]
        return squared_error(network(x), x)

    step = Step(loss, network.parameters(), lr=1e-3)
    if not captured:
        step._warm_up = 10
    stream = batches(len(X), 32, generator=torch.Generator().manual_seed(0), reshuffle=True, device=X.device)
    losses = [float(step(next(stream))) for _ in range(10)]
    return torch.cat([value.detach().flatten() for value in network.parameters()]).cpu(), losses


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("depth", [1, 3, None])
def test_captured_steps_are_the_steps_one_by_one(device, depth):
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


@pytest.mark.parametrize("pretraining", ["end_to_end", "layerwise"])
def test_pretraining_repeats_bit_by_bit(pretraining, blobs):
    embeddings = [
        Autoencoder(hidden=(32, 16), n_epochs=5, pretraining=pretraining, device="cuda", random_state=0)
        .fit(blobs.X)
        .transform(blobs.X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*embeddings)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", METHODS)
def test_a_method_repeats_bit_by_bit(name, device, make_method, tiny, images):
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
