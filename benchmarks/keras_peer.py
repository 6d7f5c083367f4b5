"""Compare training steps and whole pretrainings with those of Keras.

    python benchmarks/keras_peer.py --peer-python KERAS/bin/python [--threads 1] [--shapes 28x28x1 784]

Each library runs in a process of its own, and the two take turns: one waits while the other computes. The
ratio is the median over the turns, of CPU time with one thread and of wall time with more.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
from machine import describe, save

TRAIN = Path(__file__).with_name("train.py")
SHAPES = ["28x28x1", "16x16x1", "8x8x1", "32x32x3", "784"]
BATCHES = {"8x8x1": 128}  # the others: 256
WARM_UP = 3  # steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", default=sys.executable, help="Python of an environment with Keras")
    parser.add_argument("--libraries", nargs="+", default=["dekm", "keras"])
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--steps", type=int, default=3, help="steps per turn")
    parser.add_argument("--epochs", type=int, default=0, help="epochs of a whole pretraining; 0 for none")
    parser.add_argument("--samples", type=int, default=2048, help="samples of a whole pretraining")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    machine = describe(torch.device("cpu")) | {"threads": given.threads}
    print(machine, flush=True)
    rows = [compare(shape, given) for shape in given.shapes]
    save({"machine": machine, "rows": rows}, given.out)


def compare(shape: str, given: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of a step, and seconds of a pretraining, of each library."""
    batch = min(BATCHES.get(shape, 256), given.samples)
    workers = {library: start(library, shape, batch, given) for library in given.libraries}
    for worker in workers.values():
        ask(worker, "steps", WARM_UP, given.threads)
    row: dict[str, Any] = {"shape": shape, "batch": batch}
    row["step_ms"] = take_turns(workers, "steps", given.steps, given.turns, given.threads, 1e3 / given.steps)
    if given.epochs:
        row["pretraining_s"] = take_turns(workers, "epochs", given.epochs, 1, given.threads, 1.0)
    for worker in workers.values():
        worker.communicate()
    print_row(row)
    return row


def start(library: str, shape: str, batch: int, given: argparse.Namespace) -> subprocess.Popen[str]:
    python = sys.executable if library == "dekm" else given.peer_python
    sizes = {"batch": batch, "threads": given.threads, "samples": given.samples}
    options = [text for name, value in sizes.items() for text in (f"--{name}", str(value))]
    return subprocess.Popen(
        [python, TRAIN, library, shape, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": str(given.threads)},
    )


def take_turns(
    workers: dict[str, subprocess.Popen[str]], what: str, number: int, turns: int, threads: int, unit: float
) -> dict[str, list[float]]:
    """The times of each library, one a turn, in `unit`."""
    times: dict[str, list[float]] = {library: [] for library in workers}
    for _ in range(turns):
        for library, worker in workers.items():
            times[library].append(unit * ask(worker, what, number, threads))
    return times


def ask(worker: subprocess.Popen[str], what: str, number: int, threads: int) -> float:
    """CPU seconds with one thread, otherwise wall seconds."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{what} {number}\n")
    worker.stdin.flush()
    answer = worker.stdout.readline().split()
    if not answer:
        sys.exit(f"{worker.args!r} failed.")
    return float(answer[0 if threads == 1 else 1])


def print_row(row: dict[str, Any]) -> None:
    parts = []
    for what in ("step_ms", "pretraining_s"):
        times = row.get(what, {})
        ratio = [other / ours for ours, other in zip(*times.values(), strict=True)] if len(times) == 2 else []
        faster = f"{statistics.median(ratio):5.2f} times as fast; " if ratio else ""
        medians = [f"{library} {statistics.median(found):.1f}" for library, found in times.items()]
        parts += [f"{what} {faster}{', '.join(medians)}"] if times else []
    print(f"{row['shape']:>8}, batch {row['batch']}: {'; '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
