"""Times of a step, an encoding and a K-means on this device, measured on random samples; memory of a job."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from dekm.clustering.kmeans import kmeans
from dekm.nn.networks import empty_network, xavier_initialize
from dekm.nn.training import Step, encode, squared_error

N_STEPS = 4  # measured, after others that are not
N_POINTS = 4000  # at most, of a measured K-means; a longer one is in proportion
N_ENCODED = 256

measured: list[tuple[float, float]] = []  # CPU and wall-clock seconds of every call that was timed


@dataclass(frozen=True)
class Costs:
    """What is measured of a network."""

    step: float = 0.0  # seconds of a training step of the autoencoder
    encoding: float = 0.0  # seconds to encode a sample
    n_parameters: int = 0  # number of weights


@cache
def measure_network(
    shape: tuple[int, ...],
    architecture: str,
    embedding_dim: int,
    channels: tuple[int, ...],
    hidden: tuple[int, ...],
    batch_size: int,
    device: torch.device,
) -> Costs:
    """Measure an autoencoder of samples of a shape."""
    network = empty_network(shape, architecture, embedding_dim, channels, hidden)
    xavier_initialize(network, torch.Generator().manual_seed(0))
    network.to(device)
    X = torch.rand(max(N_ENCODED, batch_size), *shape).to(device)
    index = torch.arange(batch_size, device=device)
    step = Step(lambda index: squared_error(network(X[index]), X[index]), network.parameters(), lr=1e-3)
    step.capture(index)
    float(step(index))
    per_step = seconds_of(lambda: float(sum(step(index) for _ in range(N_STEPS)))) / N_STEPS
    encoding = seconds_of(lambda: encode(network.encoder, X).cpu()) / len(X)
    return Costs(per_step, encoding, sum(value.numel() for value in network.parameters()))


@cache
def measure_kmeans(n_samples: int, e: int, n_clusters: int, device: torch.device) -> float:
    """Seconds of one restart of K-means on random points."""
    n_points = min(n_samples, N_POINTS)
    points = torch.rand(n_points, e, generator=torch.Generator().manual_seed(0)).to(device)
    random_state = np.random.RandomState(0)
    seconds = seconds_of(lambda: kmeans(points, n_clusters, n_init=1, random_state=random_state))
    return seconds * n_samples / n_points


def seconds_of(call: Callable[[], object]) -> float:
    """Wall-clock time of a call; `idleness` compares it with the time that this thread had a processor."""
    started, computed = time.perf_counter(), time.thread_time()
    call()
    seconds = time.perf_counter() - started
    measured.append((time.thread_time() - computed, seconds))
    return seconds


def idleness() -> float:
    """Fraction of the measured time in which this thread had a processor: about 1 on an idle machine."""
    computed, seconds = (sum(times) for times in zip(*measured, strict=True)) if measured else (1.0, 1.0)
    return computed / seconds
