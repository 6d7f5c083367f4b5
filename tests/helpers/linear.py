"""A linear autoencoder in PyTorch, and the same in NumPy with gradients and Adam written out by hand."""

from collections.abc import Iterator

import numpy as np
import torch
from sklearn.frozen import FrozenEstimator
from torch import nn

from dekm import Autoencoder


class Linear(nn.Module):
    """One linear layer in each half."""

    def __init__(self, shape: tuple[int, ...], embedding_dim: int) -> None:
        super().__init__()
        self.encoder = nn.Linear(shape[0], embedding_dim)
        self.decoder = nn.Linear(embedding_dim, shape[0])


def linear_start(X: np.ndarray, embedding_dim: int) -> FrozenEstimator:
    """A fitted autoencoder with random weights, which no pretraining has changed."""
    untrained = Autoencoder(
        network=Linear, embedding_dim=embedding_dim, n_epochs=0, device="cpu", random_state=0
    )
    return FrozenEstimator(untrained.fit(X))


class Reference:
    """The weights of a linear autoencoder, further values, and their states of Adam, all in float64."""

    def __init__(self, start: FrozenEstimator, lr: float, **further: np.ndarray) -> None:
        module = start.estimator.module_
        values = {"A": module.encoder.weight, "a": module.encoder.bias}
        values |= {"B": module.decoder.weight, "b": module.decoder.bias}
        self.values = {name: value.detach().double().numpy().copy() for name, value in values.items()}
        self.values |= {name: value.astype(np.float64) for name, value in further.items()}
        self.lr = lr
        self.moments = {name: (np.zeros_like(v), np.zeros_like(v)) for name, v in self.values.items()}
        self.n_steps = 0

    def encode(self, x: np.ndarray) -> np.ndarray:
        return x @ self.values["A"].T + self.values["a"]

    def reconstruction(self, x: np.ndarray) -> float:
        """Equation (1), a sum over the values of a sample and a mean over the batch."""
        return ((self.encode(x) @ self.values["B"].T + self.values["b"] - x) ** 2).sum(1).mean()

    def gradients(self, x: np.ndarray, of_h: np.ndarray, weight: float) -> dict[str, np.ndarray]:
        """Gradients of `weight` times the reconstruction and of a loss of h, whose own gradient is given."""
        h = self.encode(x)
        rest = 2 * weight / len(x) * (h @ self.values["B"].T + self.values["b"] - x)
        of_h = of_h + rest @ self.values["B"]
        found = {"A": of_h.T @ x, "a": of_h.sum(0)}
        return found if weight == 0 else found | {"B": rest.T @ h, "b": rest.sum(0)}

    def adam(self, gradients: dict[str, np.ndarray]) -> None:
        """A step of Adam with betas of 0.9 and 0.999."""
        self.n_steps += 1
        for name, gradient in gradients.items():
            m, v = self.moments[name]
            m += 0.1 * (gradient - m)
            v += 0.001 * (gradient**2 - v)
            unbiased_m, unbiased_v = m / (1 - 0.9**self.n_steps), v / (1 - 0.999**self.n_steps)
            self.values[name] -= self.lr * unbiased_m / (np.sqrt(unbiased_v) + 1e-8)

    def sgd(self, gradients: dict[str, np.ndarray]) -> None:
        """A step of stochastic gradient descent with a momentum of 0.9."""
        for name, gradient in gradients.items():
            velocity = self.moments[name][0]
            velocity *= 0.9
            velocity += gradient
            self.values[name] -= self.lr * velocity


def batches_of(seed: int, n: int, size: int, *, reshuffle: bool, n_drawn: int = 0) -> Iterator[np.ndarray]:
    """The batches of a fit with this seed, which has drawn some numbers before; `size` divides `n`."""
    generator = torch.Generator().manual_seed(int(np.random.RandomState(seed).randint(2**31 - 1)))
    torch.rand(n_drawn, generator=generator)
    order = torch.randperm(n, generator=generator).numpy()
    while True:
        yield from order.reshape(-1, size)
        if reshuffle:
            order = torch.randperm(n, generator=generator).numpy()


def distances(H: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Squared distances of points to centers."""
    return ((H[:, None] - U) ** 2).sum(-1)


def lloyd(H: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Lloyd's algorithm until no label changes; no cluster may become empty."""
    labels = distances(H, U).argmin(1)
    while True:
        U = np.stack([H[labels == j].mean(0) for j in range(len(U))])
        moved = distances(H, U).argmin(1)
        if np.array_equal(moved, labels):
            return labels, U, distances(H, U).min(1).sum()
        labels = moved
