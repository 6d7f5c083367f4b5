"""Time a training step of each network, and an embedding pass.

    python benchmarks/steps.py [--device auto] [--repeats 30] [--small] [--out steps.json]

A step is gather, forward, backward and Adam; its GFLOP/s are also given as a fraction of the machine's
fastest matrix product.
"""

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from machine import describe, gemm_rates, median_seconds, save

from dekm.nn.device import resolve_device
from dekm.nn.networks import ConvAutoencoder, MLPAutoencoder, Network, xavier_initialize
from dekm.nn.training import Step, encode, squared_error

HIDDEN, CHANNELS, EMBEDDING_DIM, BATCH = (500, 500, 2000), (32, 64, 128), 10, 256
VECTORS = [(64,), (784,), (2000,)]
IMAGES = [(8, 8, 1), (16, 16, 1), (28, 28, 1), (32, 32, 3)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--small", action="store_true", help="use only the smallest networks and data")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    device = resolve_device(arguments.device)
    results: dict[str, Any] = {"machine": describe(device), "gemm": gemm_rates(device)}
    print(results["machine"])
    print("GEMM, GFLOP/s: " + ", ".join(f"{name} {rate:.0f}" for name, rate in results["gemm"].items()))
    rate = max(results["gemm"].values())
    shapes = [VECTORS[0], IMAGES[0]] if arguments.small else [*VECTORS, *IMAGES]
    results["steps"] = [time_network(shape, arguments.repeats, device, rate) for shape in shapes]
    save(results, arguments.out)


def time_network(shape: tuple[int, ...], repeats: int, device: torch.device, rate: float) -> dict[str, Any]:
    """Time a step and the embedding of 4,096 samples, in milliseconds."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(4096, *shape, generator=generator).to(device)
    index = torch.randint(len(X), (BATCH,), generator=generator).to(device)
    network: Network
    if len(shape) == 1:
        network = MLPAutoencoder(shape, EMBEDDING_DIM, HIDDEN)
    else:
        network = ConvAutoencoder(shape, EMBEDDING_DIM, CHANNELS)
    xavier_initialize(network, generator)
    network = network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]

    def loss(i: torch.Tensor) -> torch.Tensor:
        x = X[i]
        return squared_error(network(x), x)

    step = Step(loss, network.parameters(), lr=1e-3)
    seconds = median_seconds(lambda: step(index), repeats, device)
    embedding = median_seconds(lambda: encode(network.encoder, X), 5, device)
    row = {"shape": shape, "step_ms": 1e3 * seconds, "embedding_ms": 1e3 * embedding}
    name = "x".join(map(str, shape))
    line = f"{name:>8}: {row['step_ms']:7.2f} ms per step, {row['embedding_ms']:7.1f} ms to embed"
    if len(shape) == 1:
        row["gflops"] = 1e-9 * flop_of_step(shape[0]) / seconds
        row["fraction"] = row["gflops"] / rate
        line += f", {row['gflops']:.0f} GFLOP/s, {row['fraction']:.0%} of GEMM"
    print(line, flush=True)
    return row


def flop_of_step(d: int) -> int:
    """FLOP of a step: three products per layer, without the gradient of the input of the first layer."""
    widths = [d, *HIDDEN, EMBEDDING_DIM]
    return 2 * BATCH * (6 * sum(a * b for a, b in pairwise(widths)) - d * HIDDEN[0])


if __name__ == "__main__":
    main()
