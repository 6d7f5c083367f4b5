import subprocess
import sys

import torch
from torch import nn

from dekm.nn.optimizers import Adam


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


def test_the_steps_are_those_of_pytorch():
    ours, theirs = layers(), layers()
    parameters = [*theirs[0].parameters(), *theirs[1].parameters()]
    expected = trained(torch.optim.Adam(parameters, lr=0.01, fused=True), *theirs)
    found = trained(Adam([*ours[0].parameters(), *ours[1].parameters()], lr=0.01), *ours)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_a_training_does_not_import_the_compiler_of_pytorch():
    script = (
        "import sys, numpy as np; from dekm import Autoencoder;"
        "Autoencoder(embedding_dim=2, hidden=(4,), n_epochs=1).fit(np.ones((9, 3), np.float32));"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
