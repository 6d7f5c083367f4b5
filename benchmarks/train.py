"""Train an autoencoder of one library, as often as standard input asks; `keras_peer.py` runs this script.

    python benchmarks/train.py LIBRARY SHAPE [--batch 256] [--threads 1] [--samples 2048]

Each line of standard input, "steps N" or "epochs N", is answered by a line with the CPU and the wall seconds.
The networks, the loss up to a factor, Adam and the batches of both libraries are the same.
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

HIDDEN, CHANNELS, KERNELS, EMBEDDING_DIM, LR = (500, 500, 2000), (32, 64, 128), (5, 5, 3), 10, 1e-3

Run = Callable[[int], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("shape", help="784 or 28x28x1, for example")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--samples", type=int, default=2048)
    given = parser.parse_args()
    X = np.random.default_rng(0).random((given.samples, *map(int, given.shape.split("x"))), dtype=np.float32)
    runs = dict(
        zip(("steps", "epochs"), LIBRARIES[given.library](X, given.batch, given.threads), strict=True)
    )
    for line in sys.stdin:
        what, number = line.split()
        before = time.process_time(), time.perf_counter()
        runs[what](int(number))
        print(time.process_time() - before[0], time.perf_counter() - before[1], flush=True)


def dekm_runs(X: np.ndarray, batch: int, threads: int) -> tuple[Run, Run]:
    """Steps on one batch, and epochs of the public autoencoder."""
    import torch

    from dekm import Autoencoder
    from dekm.nn.networks import empty_network, xavier_initialize
    from dekm.nn.training import Step, squared_error

    torch.set_num_threads(threads)
    architecture = "conv" if X.ndim == 4 else "mlp"
    network = empty_network(X.shape[1:], architecture, EMBEDDING_DIM, CHANNELS, HIDDEN)
    xavier_initialize(network, torch.Generator().manual_seed(0))
    samples, index = torch.from_numpy(X), torch.arange(batch)

    def loss(i: torch.Tensor) -> torch.Tensor:
        x = samples[i]
        return squared_error(network(x), x)

    step = Step(loss, network.parameters(), lr=LR)

    def epochs(number: int) -> None:
        Autoencoder(n_epochs=number, batch_size=batch, lr=LR, device="cpu", random_state=0).fit(X)

    return lambda number: [step(index) for _ in range(number)], epochs


def keras_runs(X: np.ndarray, batch: int, threads: int) -> tuple[Run, Run]:
    """Steps on one batch by ``train_on_batch``, and epochs by ``fit``."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    network = keras_network(X.shape[1:])
    network.compile(optimizer="adam", loss="mse")
    first = X[:batch]

    def epochs(number: int) -> None:
        fresh = keras_network(X.shape[1:])
        fresh.compile(optimizer="adam", loss="mse")
        fresh.fit(X, X, batch_size=batch, epochs=number, verbose=0)

    return lambda number: [network.train_on_batch(first, first) for _ in range(number)], epochs


def keras_network(shape: tuple[int, ...]) -> Any:
    """The network of the authors' released code."""
    import keras
    from keras.layers import Dense

    network = keras.Sequential([keras.Input(shape)])
    if len(shape) == 3:
        add_convolutions(network, shape)
        return network
    for width in HIDDEN:
        network.add(Dense(width, activation="relu"))
    network.add(Dense(EMBEDDING_DIM))
    for width in HIDDEN[::-1]:
        network.add(Dense(width, activation="relu"))
    network.add(Dense(shape[0]))
    return network


def add_convolutions(network: Any, shape: tuple[int, ...]) -> None:
    """The convolutional encoder and decoder; the sides of the images are multiples of 8, or 28."""
    from keras.layers import Conv2D, Conv2DTranspose, Dense, Flatten, Reshape

    paddings = ("same", "same", "same" if shape[0] % 8 == 0 else "valid")
    for channels, kernel, padding in zip(CHANNELS, KERNELS, paddings, strict=True):
        network.add(Conv2D(channels, kernel, strides=2, padding=padding, activation="relu"))
    code = network.output_shape[1:]
    for layer in (Flatten(), Dense(EMBEDDING_DIM), Dense(math.prod(code), activation="relu"), Reshape(code)):
        network.add(layer)
    mirrored = list(zip((shape[2], *CHANNELS[:2]), KERNELS, paddings, strict=True))[::-1]
    for channels, kernel, padding in mirrored:
        activation = None if channels == shape[2] else "relu"
        network.add(Conv2DTranspose(channels, kernel, strides=2, padding=padding, activation=activation))


LIBRARIES: dict[str, Callable[[np.ndarray, int, int], tuple[Run, Run]]] = {
    "dekm": dekm_runs,
    "keras": keras_runs,
}

if __name__ == "__main__":
    main()
