"""Run the cells of Table III from prepared data in one process, and print the seconds of each.

    python benchmarks/paper.py CONFIG RESULTS [--datasets mnist usps] [--methods dekm dec]

RESULTS/data must contain the prepared datasets. Neither Snakemake nor MLflow is needed. Complete cells are
not run again, and a cell that fails does not stop the others.
"""

import argparse
import logging
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dekm.experiment.config import Experiment
from dekm.experiment.config_file import read_config_file
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.experiment.plan import job_settings
from dekm.nn.device import device_name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--device", help="default: that of the configuration")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    experiment = Experiment(read_config_file(arguments.config))
    device = arguments.device or experiment.machine.device
    print(f"on {device_name(device)}", flush=True)
    started, failed = time.perf_counter(), 0
    methods = arguments.methods or experiment.methods
    for dataset in arguments.datasets or experiment.datasets:
        cell = {"results": arguments.results, "dataset": dataset, "seeds": experiment.seeds, "device": device}
        needed = {experiment.pretraining(dataset, method) for method in methods}
        for key in sorted(filter(None, needed)):
            told = job_settings(experiment, "pretrain", dataset, key)
            failed += not run_timed(pretrain_cell, architecture=key, **told, **cell)
        for method in methods:
            told = job_settings(experiment, "cluster", dataset, method)
            failed += not run_timed(cluster_cell, method=method, **told, **cell)
    print(f"{time.perf_counter() - started:8.1f} s in total, {failed} failed", flush=True)
    sys.exit(bool(failed))


def run_timed(run: Callable[..., None], *, dataset: str, **arguments: Any) -> bool:
    """Run a cell, print its seconds and return whether it succeeded."""
    started, subject = time.perf_counter(), arguments.get("method") or f"pretrain {arguments['architecture']}"
    try:
        run(dataset=dataset, **arguments)
    except Exception:
        traceback.print_exc()
        print(f"  failed {dataset} {subject}", flush=True)
        return False
    print(f"{time.perf_counter() - started:8.1f} s {dataset} {subject}", flush=True)
    return True


if __name__ == "__main__":
    main()
