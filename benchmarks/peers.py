"""Compare complete fits of DEC, IDEC, DCN and DKM with those of ClustPy.

    python benchmarks/peers.py RESULTS --peer-python CLUSTPY/bin/python [--datasets digits mnist]

Both libraries use the same data, network, batches, epochs and threads. RESULTS/data must contain the prepared
datasets; at most `--samples` of each are used. Every fit runs in a separate process, the libraries alternate,
and only the fit is timed: pretraining, K-means, clustering.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import describe, save

from dekm.datasets import prepared
from dekm.datasets.subsets import stratified_rows
from dekm.metrics import accuracy, nmi

FIT = Path(__file__).with_name("fit.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--peer-python", default=sys.executable, help="Python of an environment with ClustPy")
    parser.add_argument("--libraries", nargs="+", default=["dekm", "clustpy"])
    parser.add_argument("--datasets", nargs="+", default=["digits", "mnist"])
    parser.add_argument("--methods", nargs="+", default=["dec", "idec", "dcn", "dkm"])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, default=10, help="epochs of pretraining, and of clustering")
    parser.add_argument(
        "--repeats", type=int, default=3, help="number of seeds, of which the median is reported"
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    machine = describe(torch.device(given.device))
    print(machine, flush=True)
    rows = []
    for dataset in given.datasets:
        folder = given.results / "data" / dataset
        X, y, data = prepared.load(folder / "data.npz", folder / "facts.json")
        if given.samples < len(X):
            part = stratified_rows(len(X), y, given.samples)
            X, y = X[part], None if y is None else y[part]
        X = np.asarray(X).reshape(len(X), -1)
        for method in given.methods:
            rows.append(compare(X, y, data["n_clusters"], method, given) | {"dataset": dataset})
            print_row(rows[-1])
    save({"machine": machine, "epochs": given.epochs, "rows": rows}, given.out)


def compare(X: np.ndarray, y: np.ndarray, k: int, method: str, given: argparse.Namespace) -> dict[str, Any]:
    """Median seconds and scores of each library over the seeds."""
    found: dict[str, list[tuple[float, float, float]]] = {library: [] for library in given.libraries}
    versions = {}
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "data.npz", Path(folder) / "out.npz"
        np.savez(file, X=X.astype(np.float32), k=k)
        for seed in range(given.repeats):
            for library, runs in found.items():
                labels, seconds, versions[library] = fit(library, method, file, out, seed, given)
                runs.append((seconds, accuracy(y, labels), nmi(y, labels)))
    medians = {
        library: dict(
            zip(("seconds", "acc", "nmi"), map(statistics.median, zip(*runs, strict=True)), strict=True)
        )
        for library, runs in found.items()
    }
    return {"method": method, "n": len(X), "d": X.shape[1], "libraries": medians, "versions": versions}


def fit(
    library: str, method: str, file: Path, out: Path, seed: int, given: argparse.Namespace
) -> tuple[np.ndarray, float, list[str]]:
    """Labels, seconds and versions of one fit in a separate process."""
    python = sys.executable if library == "dekm" else given.peer_python
    epochs = ["--pretraining", str(given.epochs), "--clustering", str(given.epochs)]
    done = subprocess.run(
        [python, FIT, library, method, file, out, *epochs, "--seed", str(seed), "--device", given.device],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())},
    )
    if done.returncode:
        sys.exit(done.stderr)
    with np.load(out) as result:
        return result["labels"].astype(np.int64), float(result["seconds"]), result["versions"].tolist()


def print_row(row: dict[str, Any]) -> None:
    ours, *others = row["libraries"].items()
    ratio = "".join(
        f"{other['seconds'] / ours[1]['seconds']:5.2f} times as fast as {name}; " for name, other in others
    )
    scores = ", ".join(
        f"{name} {found['seconds']:.1f} s {100 * found['acc']:.1f}/{100 * found['nmi']:.1f}"
        for name, found in row["libraries"].items()
    )
    print(f"{row['dataset']} {row['n']}x{row['d']} {row['method']}: {ratio}{scores}", flush=True)


if __name__ == "__main__":
    main()
