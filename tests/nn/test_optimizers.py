import subprocess
import sys
from functools import partial

import pytest
import torch
from torch import nn

from dekm.nn.optimizers import SGD, Adam
from dekm.nn.training import Step, train


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


@pytest.mark.parametrize("make", [partial(Adam, lr=0.01), partial(SGD, lr=0.1, momentum=0.9)])
def test_the_state_of_weights_without_gradient_becomes_zero_and_changes_no_weight(make):
    """Otherwise it stays at subnormal numbers, which a CPU computes with very slowly."""
    weights = []
    for drops in (False, True):
        network, unused = layers()
        optimizer = make([*network.parameters(), *unused.parameters()])
        generator = torch.Generator().manual_seed(1)
        for step in range(1200):
            optimizer.zero_grad()
            x = torch.randn(4, 5, generator=generator)
            loss = (network(x) ** 2).mean() + unused(x).sum() * (step == 0)
            loss.backward()
            optimizer.step()
            if drops and step % 40 == 39:
                optimizer.drop_negligible()
        tiny = torch.finfo(torch.float32).tiny
        values = torch.cat([tensor.flatten() for tensor in optimizer.tensors().values()]).abs()
        assert bool(((values > 0) & (values < tiny)).any()) is not drops
        weights.append([value.detach() for value in optimizer.parameters])
    assert all(map(torch.equal, *weights))


def test_a_training_drops_what_is_negligible():
    layer, unused = nn.Linear(3, 1), nn.Linear(3, 1)
    step = Step(
        lambda index: layer(index[:, None] * torch.ones(3)).sum(), [layer.weight, unused.weight], lr=0.01
    )
    means = step.optimizer.state[1][0].fill_(1e-39)
    train(step, [torch.arange(4)])
    assert not means.any()


def test_a_training_does_not_import_the_compiler_of_pytorch():
    script = (
        "import sys, numpy as np; from dekm import Autoencoder;"
        "Autoencoder(embedding_dim=2, hidden=(4,), n_epochs=1).fit(np.ones((9, 3), np.float32));"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
