"""How many clusters DipDECK estimates on the data of `partitions.py numbers`, with the defaults of ClustPy.

    python benchmarks/dipdeck.py --peer-python CLUSTPY/bin/python [--prepared RESULTS ...] [--seeds 0 1 2]

It starts from 35 clusters and merges those that Hartigan's dip test does not separate (Leiber et al., KDD
2021). All values are standardized by one mean and one standard deviation; each fit is a process of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from partitions import datasets, print_hits, some

FIT = Path(__file__).with_name("fit.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", required=True, help="Python of an environment with ClustPy")
    parser.add_argument("--prepared", nargs="*", type=Path, default=[])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    given = parser.parse_args()
    hits = []
    for name, X, k in datasets(given.prepared):
        found = [estimate(some(X), seed, given.peer_python) for seed in given.seeds]
        print(f"| {name} | {k} | {', '.join(map(str, found))} |", flush=True)
        hits.append((found[0], k))
    print_hits("DipDECK, first seed", hits)


def estimate(X: np.ndarray, seed: int, python: str) -> int:
    """Number of clusters of a fit, which is given the samples only."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "data.npz", Path(folder) / "out.npz"
        np.savez(file, X=((X - X.mean()) / X.std()).astype(np.float32), k=0)
        command = [python, FIT, "clustpy", "dipdeck", file, out, "--seed", str(seed)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            sys.exit(done.stderr)
        with np.load(out) as result:
            return len(np.unique(result["labels"]))


if __name__ == "__main__":
    main()
