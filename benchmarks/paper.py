"""Run the cells of Table III from prepared data in one process, and print the seconds of each.

    python benchmarks/paper.py CONFIG RESULTS [--datasets mnist usps] [--methods dekm dec]

RESULTS/data must contain the prepared datasets. Neither Snakemake nor MLflow is needed. Complete cells are
not run again.
"""

import argparse
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from dekm.experiment.config import Experiment
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.nn.device import device_name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--methods", nargs="+")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    experiment = Experiment(yaml.safe_load(arguments.config.read_text(encoding="utf-8")))
    device = experiment.get("device", "auto")
    print(f"on {device_name(device)}", flush=True)
    started = time.perf_counter()
    methods = arguments.methods or experiment.methods
    for dataset in arguments.datasets or experiment.datasets:
        cell = {"results": arguments.results, "dataset": dataset, "seeds": experiment.seeds, "device": device}
        needed = {experiment.pretraining(dataset, method) for method in methods}
        for architecture in sorted(filter(None, needed)):
            settings = experiment.pretraining_settings(dataset, architecture)
            run_timed(pretrain_cell, architecture=architecture, settings=settings, **cell)
        for method in methods:
            settings = experiment.method_settings(dataset, method)
            start = experiment.pretraining(dataset, method)
            run_timed(cluster_cell, method=method, settings=settings, pretrained=start, **cell)
    print(f"{time.perf_counter() - started:8.1f} s in total", flush=True)


def run_timed(run: Callable[..., None], *, dataset: str, **arguments: Any) -> None:
    started = time.perf_counter()
    run(dataset=dataset, **arguments)
    subject = arguments.get("method") or f"pretrain {arguments['architecture']}"
    print(f"{time.perf_counter() - started:8.1f} s {dataset} {subject}", flush=True)


if __name__ == "__main__":
    main()
