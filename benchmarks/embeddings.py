"""Compare where the embeddings of deep methods start on vectors: at PCA, at UMAP, or at random weights.

    python benchmarks/embeddings.py FILE.npz [--init pca xavier] [--dims 10 50] [--epochs 0 20] [--out a.json]

FILE has the float32 array X of shape (n, d) and the labels y, and may have the number of clusters k. Each
line is a method, with ACC and NMI in percent, the silhouettes of the samples and of the method's own
embedding, iterations, the smallest and largest cluster, and the CPU seconds of a fit and of its autoencoder:
means over the seeds. Deep methods have the scores of iteration 0, where they start, before an arrow. The
labels are used for the scores only.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator

from dekm import Autoencoder, metrics
from dekm.methods import METHODS
from dekm.methods.iteration import Iteration

# 20 steps per update of the target, as for texts, and no more updates than the other methods take passes.
SETTINGS = {name: {"update_interval": 20, "max_iter": 100} for name in ("dec", "idec")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--methods", nargs="*", default=["k_means", "dekm"], choices=METHODS)
    parser.add_argument("--init", nargs="+", default=["pca"], help="starts: pca, umap, spectral, xavier")
    parser.add_argument("--dims", nargs="+", type=int, default=[50], help="dimensions of the embedding")
    parser.add_argument("--epochs", nargs="+", type=int, default=[0], help="epochs of the pretraining")
    parser.add_argument("--scaling", default="none", help="of the rows: none, mean_square")
    parser.add_argument("--hidden", nargs="*", type=int, default=[512], help="widths of the hidden layers")
    parser.add_argument("--set", type=json.loads, default={}, help="further parameters of the methods, JSON")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file of JSON for the rows")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for file in given.files:
        with np.load(file) as data:
            X, y = data["X"].astype(np.float32), data["y"]
            k = int(data["k"]) if "k" in data else len(np.unique(y))
        print(f"{file.stem}: {X.shape[0]} samples of {X.shape[1]} values, k={k}")
        for row in measure(X, y, k, given):
            rows.append({"file": file.stem, **row})
            print(describe(row), flush=True)
            if given.out:
                given.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def measure(X: np.ndarray, y: np.ndarray, k: int, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The rows of one file: methods without an autoencoder once, the others from each autoencoder."""
    for method in [name for name in given.methods if METHODS[name].autoencoder is None]:
        yield {
            "method": method,
            "start": "",
            **mean_of(fit(method, X, y, k, seed, given) for seed in range(given.seeds)),
        }
    deep = [name for name in given.methods if METHODS[name].autoencoder is not None]
    for init, e, n_epochs in product(given.init, given.dims, given.epochs if deep else []):
        starts = []
        for seed in range(given.seeds):
            autoencoder = Autoencoder(
                embedding_dim=e,
                hidden=given.hidden,
                init=init,
                scaling=given.scaling,
                n_epochs=n_epochs,
                device="cpu",
                random_state=seed,
            )
            starts.append(timed(lambda a=autoencoder: a.fit(X)))
        for method in deep:
            fits = (fit(method, X, y, k, seed, given, *start) for seed, start in enumerate(starts))
            start = f"{init}, e={e}, {n_epochs} epochs"
            yield {"method": method, "start": start, **mean_of(fits)}


def fit(
    method: str,
    X: np.ndarray,
    y: np.ndarray,
    k: int,
    seed: int,
    given: argparse.Namespace,
    start: Autoencoder | None = None,
    seconds_before: float = 0.0,
) -> dict[str, float]:
    """Measures of one fit."""
    row = METHODS[method]
    settings = {**SETTINGS.get(method, {}), **given.set.get(method, {})}
    if start is not None:
        settings["autoencoder"] = FrozenEstimator(start)
    iterations: list[Iteration] = []
    estimator = row.load()(
        k, random_state=seed, on_iteration=iterations.append, **row.with_settings(settings)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        fitted, seconds = timed(lambda: estimator.fit(X))
    sizes = np.bincount(fitted.labels_, minlength=k)
    return {
        "first_acc": metrics.accuracy(y, iterations[0].labels),
        "first_nmi": metrics.nmi(y, iterations[0].labels),
        "acc": metrics.accuracy(y, fitted.labels_),
        "nmi": metrics.nmi(y, fitted.labels_),
        "silhouette": metrics.silhouette(X, fitted.labels_) or np.nan,
        "own_silhouette": metrics.silhouette(fitted.embedding_, fitted.labels_) or np.nan,
        "iterations": fitted.n_iter_,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "warnings": len(caught),
        "seconds": seconds + seconds_before,
    }


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """The value of a call and its CPU time."""
    started = time.process_time()
    value = call()
    return value, time.process_time() - started


def mean_of(fits: Iterator[dict[str, float]]) -> dict[str, Any]:
    """Means over the seeds, and the scores of each."""
    found = list(fits)
    means = {name: fmean(one[name] for one in found) for name in found[0]}
    return {**means, "accs": [one["acc"] for one in found], "nmis": [one["nmi"] for one in found]}


def describe(row: dict[str, Any]) -> str:
    """One row as a line."""
    first = f"{100 * row['first_acc']:.1f}/{100 * row['first_nmi']:.1f} -> " if row["start"] else ""
    return (
        f"{row['method']:12} {row['start']:24} {first}{100 * row['acc']:.1f}/{100 * row['nmi']:.1f} "
        f"silhouette {row['silhouette']:.3f}, own {row['own_silhouette']:.3f}, "
        f"{row['iterations']:.0f} iterations, sizes {row['smallest']:.0f} to {row['largest']:.0f}, "
        f"{row['seconds']:.0f} s, {row['warnings']:.1f} warnings"
    )


if __name__ == "__main__":
    main()
