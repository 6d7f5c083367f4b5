"""Time one fit of one library; `peers.py` runs this script in a separate process.

    python benchmarks/fit.py LIBRARY METHOD FILE OUT [--pretraining 20] [--clustering 20] [--seed 0]

FILE is an .npz file with the float32 array X of shape (n, d) and the number of clusters k. The script writes
labels, seconds and versions to OUT. Only the named library is imported, before the time is taken. DipDECK of
ClustPy has neither k nor epochs from here, but its defaults.
"""

import argparse
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

LR_PRETRAINING, LR, WEIGHT, BATCH, N_INIT = 1e-3, 1e-4, 0.1, 256, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("method", choices=["dec", "idec", "dcn", "dkm", "dipdeck"])
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pretraining", type=int, default=20, help="number of epochs")
    parser.add_argument("--clustering", type=int, default=20, help="number of epochs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    with np.load(given.file) as data:
        X, k = data["X"], int(data["k"])
    estimator = LIBRARIES[given.library](given, k, *X.shape)
    started = time.perf_counter()
    estimator.fit(X)
    seconds = time.perf_counter() - started
    versions = [f"{name} {version(name)}" for name in (given.library, "torch", "scikit-learn")]
    np.savez(given.out, labels=estimator.labels_, seconds=seconds, versions=versions)


def make_dekm(given: argparse.Namespace, k: int, n: int, d: int) -> Any:
    """Estimator of dekm without early stopping, with one update of the targets per epoch.

    IDEC's reconstruction error is a mean over the d values here but a sum in ClustPy, hence its weight.
    """
    from dekm import Autoencoder
    from dekm.methods import find_method

    steps, clustering = -(-n // BATCH), given.clustering
    own: dict[str, dict[str, Any]] = {
        "dec": {"update_interval": steps, "max_iter": clustering, "tol": 0.0, "optimizer": "adam"},
        "idec": {"update_interval": steps, "max_iter": clustering, "tol": 0.0, "gamma": WEIGHT / d},
        "dcn": {"epochs_per_iter": clustering, "max_iter": 1, "lam": WEIGHT},
        "dkm": {"epochs_per_iter": 1, "max_iter": clustering, "lam": WEIGHT},
    }
    row = find_method(given.method)
    autoencoder = Autoencoder(
        architecture="mlp",
        n_epochs=given.pretraining,
        lr=LR_PRETRAINING,
        batch_size=BATCH,
        device=given.device,
    )
    settings = row.with_settings(own[given.method])
    common = {"lr": LR, "n_init": N_INIT, "device": given.device, "random_state": given.seed}
    return row.load()(k, autoencoder=autoencoder, **common, **settings)


def make_clustpy(given: argparse.Namespace, k: int, n: int, d: int) -> Any:
    """Estimator of ClustPy with its defaults for all other parameters."""
    from clustpy import deep

    if given.method == "dipdeck":  # it estimates the number of clusters
        return deep.DipDECK(device=given.device, random_state=given.seed)
    return getattr(deep, given.method.upper())(
        k,
        batch_size=BATCH,
        pretrain_epochs=given.pretraining,
        clustering_epochs=given.clustering,
        pretrain_optimizer_params={"lr": LR_PRETRAINING},
        clustering_optimizer_params={"lr": LR},
        initial_clustering_params={"n_init": N_INIT},
        device=given.device,
        random_state=given.seed,
        **({} if given.method == "dec" else {"clustering_loss_weight": WEIGHT}),
    )


LIBRARIES: dict[str, Callable[..., Any]] = {"dekm": make_dekm, "clustpy": make_clustpy}

if __name__ == "__main__":
    main()
