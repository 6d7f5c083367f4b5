"""Time K-means beside scikit-learn and, where it is installed, faiss.

    python benchmarks/kmeans.py [--device auto] [--sizes 70000x10x10] [--turns 2] [--out kmeans.json]

A size is samples x values x clusters. The samples are clusters that overlap and have heavy tails. faiss
runs twice: with its defaults (25 iterations, 256 points for each cluster), and on all points for as many
iterations as the others may take. Up to 20,000 points dekm's K-means on a CPU is that of scikit-learn.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from machine import describe, save, shape, wait
from sklearn.cluster import KMeans

from dekm.clustering.kmeans import kmeans
from dekm.clustering.restarts import MAX_ITER, TOL
from dekm.nn.device import resolve_device

RUNS = 20
SIZES = [(10_000, 10, 10), (70_000, 10, 10), (100_000, 64, 100), (12_000, 384, 300)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--sizes", type=shape, nargs="+", default=SIZES)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    device = resolve_device(arguments.device)
    results: dict[str, Any] = {"machine": describe(device)}
    print(results["machine"], flush=True)
    results["kmeans"] = [compare(*sizes, device, arguments.turns) for sizes in arguments.sizes]
    save(results, arguments.out)


def compare(n: int, e: int, k: int, device: torch.device, turns: int) -> dict[str, Any]:
    """Seconds and inertia of each library, in turn; CPU time on a CPU."""
    random = np.random.default_rng(0)
    centers = random.normal(scale=1.5, size=(k, e))
    X = (centers[random.integers(k, size=n)] + random.standard_t(5, size=(n, e))).astype(np.float32)
    clock = time.process_time if device.type == "cpu" else time.perf_counter
    fits = libraries(X, k, device)
    seconds, inertias = defaultdict(list), defaultdict(list)
    for seed, name in product(range(turns), fits):
        started = clock()
        inertias[name].append(fits[name](seed))
        wait(device)
        seconds[name].append(clock() - started)
    row: dict[str, Any] = {"n": n, "e": e, "k": k}
    print(f"K-means {n}x{e}, k={k}, {RUNS} runs")
    for name in fits:
        ratio = median(a / b for a, b in zip(seconds[name], seconds["dekm"], strict=True))
        more = mean(a / b - 1 for a, b in zip(inertias[name], inertias["scikit-learn"], strict=True))
        row[name] = {"seconds": median(seconds[name]), "ratio": ratio, "inertia_more": more}
        print(
            f"  {name:>17}: {row[name]['seconds']:7.2f} s, {ratio:5.2f} times dekm's, inertia {more:+.3%}",
            flush=True,
        )
    return row


def libraries(X: Float[np.ndarray, "n e"], k: int, device: torch.device) -> dict[str, Callable[[int], float]]:
    """A function of the seed for each library, which returns the inertia."""
    points = torch.from_numpy(X).to(device)
    fits: dict[str, Callable[[int], float]] = {
        "dekm": lambda seed: kmeans(points, k, n_init=RUNS, random_state=np.random.RandomState(seed)).inertia,
        "scikit-learn": lambda seed: (
            KMeans(k, n_init=RUNS, max_iter=MAX_ITER, tol=TOL, random_state=seed).fit(X).inertia_
        ),
    }
    if find_spec("faiss") is not None:
        fits["faiss"] = lambda seed: faiss_inertia(X, k, seed)
        fits["faiss, all points"] = lambda seed: faiss_inertia(
            X, k, seed, niter=MAX_ITER, max_points_per_centroid=len(X)
        )
    return fits


def faiss_inertia(X: Float[np.ndarray, "n e"], k: int, seed: int, **settings: int) -> float:
    """Inertia of all points, with the threads of PyTorch."""
    import faiss

    faiss.omp_set_num_threads(torch.get_num_threads())
    fitted = faiss.Kmeans(X.shape[1], k, nredo=RUNS, seed=seed, **settings)
    fitted.train(X)
    return float(fitted.assign(X)[0].sum(dtype=np.float64))


if __name__ == "__main__":
    main()
