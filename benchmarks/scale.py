"""Time and memory of DEKM with its defaults, by the numbers of samples, values and clusters.

    python benchmarks/scale.py [--sizes 10000 100000 1000000] [--shapes 64 28x28x1] [--clusters 10]

Gaussian blobs that overlap, read from a memory-mapped file, and the default network of values or of images of
height x width x channels. Shown are an epoch of the pretraining (by default there are 200), the first K-means
with its 100 restarts and the embedding before it, and an iteration: 40 steps, the embedding and a K-means.
Each row runs in a separate process; seconds are CPU time. The peak includes the mapped pages of the file,
which the system may drop.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import describe, save, shape

CHUNK, N_ITER = 10_000, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--shapes", type=shape, nargs="+", default=[(64,)], metavar="SHAPE")
    parser.add_argument("--clusters", type=int, nargs="+", default=[10])
    parser.add_argument("--hidden", type=int, nargs="+", default=[500, 500, 2000])
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.fit:
        fit(given.fit, given.clusters[0], given.hidden)
        return
    results: dict[str, Any] = {"machine": describe(torch.device("cpu")), "rows": []}
    print(results["machine"], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for n, of_sample, k in product(given.sizes, given.shapes, given.clusters):
            file = Path(folder) / "X.npy"
            write_blobs(file, n, of_sample, k)
            command = [sys.executable, __file__, "--fit", str(file), "--clusters", str(k)]
            command += ["--hidden", *map(str, given.hidden)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            values = "x".join(map(str, of_sample))
            sizes = {"n": n, "shape": values, "k": k, "file_mb": round(file.stat().st_size / 2**20)}
            row = sizes | json.loads(done.stdout)
            results["rows"].append(row)
            print(
                f"{n:>9,} of {values}, k={k}: epoch {row['epoch']:.2f} s, first K-means "
                f"{row['first']:.2f} s, "
                f"iteration {row['iteration']:.2f} s; peak {row['peak_mb']:,} MB, {row['grown_mb']:,} above "
                f"the start, file {row['file_mb']:,}",
                flush=True,
            )
    save(results, given.out)


def write_blobs(file: Path, n: int, of_sample: tuple[int, ...], k: int) -> None:
    """Write float32 samples of k overlapping Gaussians with unit variance, chunk by chunk."""
    random = np.random.default_rng(0)
    centers = random.normal(scale=1.5, size=(k, *of_sample)).astype(np.float32)
    X = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(n, *of_sample))
    for start in range(0, n, CHUNK):
        chunk = X[start : start + CHUNK]
        chunk[:] = centers[random.integers(k, size=len(chunk))]
        chunk += random.standard_normal(chunk.shape, dtype=np.float32)
    X.flush()


def fit(file: Path, k: int, hidden: list[int]) -> None:
    """Fit DEKM to the array in a file, and print seconds and memory as JSON."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.frozen import FrozenEstimator

    from dekm import DEKM, Autoencoder

    X = np.load(file, mmap_mode="r")
    before, started = peak_mb(), time.process_time()
    autoencoder = Autoencoder(hidden=hidden, n_epochs=1, device="cpu", random_state=0).fit(X)
    times = [time.process_time()]
    warnings.simplefilter("ignore", ConvergenceWarning)
    DEKM(
        k,
        autoencoder=FrozenEstimator(autoencoder),
        max_iter=N_ITER,
        tol=0.0,
        device="cpu",
        random_state=0,
        on_iteration=lambda _: times.append(time.process_time()),
    ).fit(X)
    steps = {"epoch": times[0] - started, "first": times[1] - times[0]}
    steps["iteration"] = (times[-1] - times[1]) / (len(times) - 2)
    print(json.dumps({**steps, "peak_mb": peak_mb(), "grown_mb": peak_mb() - before}))


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**10


if __name__ == "__main__":
    main()
