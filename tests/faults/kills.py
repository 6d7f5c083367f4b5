"""Kills at random moments: of a job that makes a seed, and of the creation of the MLflow store."""

import random
import shutil
import time
from pathlib import Path

from tests.faults.material import (
    PRETRAIN,
    RUN,
    Report,
    labels,
    leftovers,
    repair,
    restore,
    run_command,
    start,
)


def kill_jobs(pristine: Path, folder: Path, n: int, seed: int) -> Report:
    """Kill jobs that make a new seed or replace an old one; a rerun has to give the same results."""
    report, rng, expected = Report(f"kills of jobs, seed {seed}"), random.Random(seed), labels(pristine)
    results = folder / "results"
    durations: dict[str, float] = {}
    for i in range(n):
        restore(pristine, results)
        name = rng.choice(["k_means", "dekm", "pretrain"])
        arguments = [*(RUN.get(name) or PRETRAIN), "--fresh"]
        if name not in durations:
            durations[name] = _duration(arguments, results)
        if rng.random() < 0.3:
            shutil.rmtree(results / "runs" / "digits")
        seconds = rng.uniform(0, 1.1 * durations[name])
        _kill(arguments, results, seconds)
        problem = repair(results)
        if not problem and labels(results) != expected:
            problem = "the rerun gives other labels"
        report.add(f"{i}: {name} after {seconds:.3f} s", problem)
    return report


def _duration(arguments: list[str], results: Path) -> float:
    begin = time.monotonic()
    start(run_command, arguments, results).join()
    return time.monotonic() - begin


def _kill(arguments: list[str], results: Path, seconds: float) -> None:
    child = start(run_command, arguments, results)
    child.join(seconds)
    child.kill()
    child.join()


def kill_syncs(pristine: Path, folder: Path, n: int, seed: int) -> Report:
    """Kill the creation of the MLflow store; the next update has to log every run exactly once."""
    from mlflow import MlflowClient

    from dekm.tracking.database import tracking_uri

    report, rng = Report(f"kills of the creation of the store, seed {seed}"), random.Random(seed)
    seconds_of_creation = 0.0
    for i in range(n + 1):
        store = folder / f"store{i}"
        shutil.copytree(pristine, store / "tiny")
        sync = ["sync", str(store / "tiny"), "--store", str(store)]
        if i == 0:
            seconds_of_creation = _duration(sync, store)
            continue
        seconds = rng.uniform(0, 1.05 * seconds_of_creation)
        _kill(sync, store, seconds)
        outcome = run_command(sync, store)
        problem = outcome.problem() or (outcome.stderr if outcome.status else "")
        if not problem:
            client = MlflowClient(tracking_uri(store))
            experiment = client.get_experiment_by_name("tiny")
            ids = [run.data.tags["id"] for run in client.search_runs([experiment.experiment_id])]
            if len(ids) != 4 or len(set(ids)) != 4:
                problem = f"{len(ids)} runs instead of 4"
            elif left := leftovers(store):
                problem = f"left behind: {left}"
        report.add(f"{i}: after {seconds:.3f} s", problem)
    return report
