import subprocess
import sys
from functools import partial

import pytest
import torch
from torch import nn

from dekm.nn.optimizers import SGD, Adam


def trained(optimizer, network, unused):
    """The weights after steps in which the layer `unused` has a gradient in the later ones only."""
    generator = torch.Generator().manual_seed(1)
    for step in range(6):
        optimizer.zero_grad()
        x = torch.randn(16, 5, generator=generator)
        loss = (network(x) ** 2).mean() + (unused(x).sum() if step > 2 else 0)
        loss.backward()
        optimizer.step()
    return [value.detach() for layer in (network, unused) for value in layer.parameters()]


def layers():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 3)), nn.Linear(5, 1)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (partial(Adam, lr=0.01), partial(torch.optim.Adam, lr=0.01, fused=True)),
        (partial(SGD, lr=0.1, momentum=0.9), partial(torch.optim.SGD, lr=0.1, momentum=0.9)),
        (partial(SGD, lr=0.1, momentum=0.0), partial(torch.optim.SGD, lr=0.1)),
    ],
    ids=["Adam", "SGD with momentum", "SGD"],
)
def test_the_steps_are_those_of_pytorch(ours, theirs):
    weights = []
    for optimizer in (ours, theirs):
        network, unused = layers()
        parameters = [*network.parameters(), *unused.parameters()]
        weights.append(trained(optimizer(parameters), network, unused))
    torch.testing.assert_close(*weights, rtol=1e-6, atol=1e-7)


def test_a_training_does_not_import_the_compiler_of_pytorch():
    script = (
        "import sys, numpy as np; from dekm import Autoencoder;"
        "Autoencoder(embedding_dim=2, hidden=(4,), n_epochs=1).fit(np.ones((9, 3), np.float32));"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
