"""Time and memory of DEKM by the number of samples, which are read from a memory-mapped file.

    python benchmarks/scale.py [--sizes 10000 100000 1000000] [--out scale.json]

Gaussian blobs with 64 features, a fully connected network 64-128-128-10, two epochs of pretraining, five
iterations of one pass each, and two initializations of K-means (the defaults are 100 in the first iteration
and 20 in later ones). Each size runs in a separate process. The peak includes the mapped pages of the file,
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
from pathlib import Path

import numpy as np
import torch
from machine import describe, save

N_VALUES, N_CLUSTERS, CHUNK = 64, 10, 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.fit:
        fit(given.fit)
        return
    results = {"machine": describe(torch.device("cpu")), "rows": []}
    print(results["machine"], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for n in given.sizes:
            file = Path(folder) / "X.npy"
            write_blobs(file, n)
            command = [sys.executable, __file__, "--fit", file]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            row = {"n": n, "file_mb": round(file.stat().st_size / 2**20), **json.loads(done.stdout)}
            results["rows"].append(row)
            print(
                f"n={n:>9,}: {row['pretraining']:7.1f} s pretraining, {row['clustering']:7.1f} s clustering, "
                f"{1e6 * (row['pretraining'] + row['clustering']) / n:6.0f} us a sample; peak "
                f"{row['peak_mb']:,} MB, {row['grown_mb']:,} above the start, file {row['file_mb']:,}",
                flush=True,
            )
    save(results, given.out)


def write_blobs(file: Path, n: int) -> None:
    """Write float32 samples of ten Gaussians with unit variance, chunk by chunk."""
    random = np.random.default_rng(0)
    centers = random.uniform(-5, 5, (N_CLUSTERS, N_VALUES)).astype(np.float32)
    X = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(n, N_VALUES))
    for start in range(0, n, CHUNK):
        chunk = X[start : start + CHUNK]
        chunk[:] = centers[random.integers(N_CLUSTERS, size=len(chunk))]
        chunk += random.standard_normal(chunk.shape, dtype=np.float32)
    X.flush()


def fit(file: Path) -> None:
    """Fit DEKM to the array in a file, and print seconds and memory as JSON."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.frozen import FrozenEstimator

    from dekm import DEKM, Autoencoder

    X = np.load(file, mmap_mode="r")
    before = peak_mb()
    started = time.perf_counter()
    autoencoder = Autoencoder(hidden=(128, 128), n_epochs=2, device="cpu", random_state=0).fit(X)
    pretrained = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        DEKM(
            N_CLUSTERS,
            autoencoder=FrozenEstimator(autoencoder),
            n_batches="pass",
            max_iter=5,
            tol=0.0,
            n_init=2,
            n_init_update=2,
            device="cpu",
            random_state=0,
        ).fit(X)
    seconds = {"pretraining": pretrained - started, "clustering": time.perf_counter() - pretrained}
    print(json.dumps({**seconds, "peak_mb": peak_mb(), "grown_mb": peak_mb() - before}))


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**10


if __name__ == "__main__":
    main()
