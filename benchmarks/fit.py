"""One fit of one library, timed: what `peers.py` runs in a process of its own.

    python benchmarks/fit.py LIBRARY METHOD FILE OUT [--pretraining 20] [--clustering 20] [--seed 0]

FILE is an .npz file with float32 rows X and the number of clusters k. OUT gets labels and seconds. Neither
library is imported before the clock would see it, and only the named one is.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LR_PRETRAINING, LR, WEIGHT, BATCH, N_INIT = 1e-3, 1e-4, 0.1, 256, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("method", choices=["dec", "idec", "dcn", "dkm"])
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pretraining", type=int, default=20, help="epochs")
    parser.add_argument("--clustering", type=int, default=20, help="epochs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    with np.load(given.file) as data:
        X, k = data["X"], int(data["k"])
    build = LIBRARIES[given.library]
    estimator = build(given.method, X, k, given.pretraining, given.clustering, given.seed, given.device)
    started = time.perf_counter()
    estimator.fit(X)
    np.savez(given.out, labels=estimator.labels_, seconds=time.perf_counter() - started)


def ours(
    method: str, X: np.ndarray, k: int, pretraining: int, clustering: int, seed: int, device: str
) -> Any:
    """No early stop, and one refresh an epoch where the method has refreshes."""
    from dekm import Autoencoder
    from dekm.methods import find_method

    steps = -(-len(X) // BATCH)
    own: dict[str, dict[str, Any]] = {
        "dec": {"update_interval": steps, "max_iter": clustering, "tol": 0.0},
        "idec": {"update_interval": steps, "max_iter": clustering, "tol": 0.0, "gamma": WEIGHT},
        "dcn": {"epochs_per_iter": clustering, "max_iter": 1, "lam": WEIGHT},
        "dkm": {"epochs_per_iter": 1, "max_iter": clustering, "lam": WEIGHT},
    }
    row = find_method(method)
    autoencoder = Autoencoder(
        architecture="mlp", n_epochs=pretraining, lr=LR_PRETRAINING, batch_size=BATCH, device=device
    )
    settings = dict(row.params) | own[method]
    return row.load()(
        k, autoencoder=autoencoder, lr=LR, n_init=N_INIT, device=device, random_state=seed, **settings
    )


def clustpy(
    method: str, X: np.ndarray, k: int, pretraining: int, clustering: int, seed: int, device: str
) -> Any:
    """Its own defaults, but for the number of epochs and of restarts."""
    from clustpy import deep

    return getattr(deep, method.upper())(
        k,
        batch_size=BATCH,
        pretrain_epochs=pretraining,
        clustering_epochs=clustering,
        pretrain_optimizer_params={"lr": LR_PRETRAINING},
        clustering_optimizer_params={"lr": LR},
        initial_clustering_params={"n_init": N_INIT},
        device=device,
        random_state=seed,
        **({} if method == "dec" else {"clustering_loss_weight": WEIGHT}),
    )


LIBRARIES: dict[str, Callable[..., Any]] = {"dekm": ours, "clustpy": clustpy}

if __name__ == "__main__":
    main()
