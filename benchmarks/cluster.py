"""Simulate an experiment on a cluster: how long it takes with more GPUs, in jobs of a cell or of a seed each.

The times of the cells are those that ``python -m dekm estimate`` measures on this device; ``--faster``
divides them, for a device that is so many times faster. A GPU takes the next job of the queue whose
pretraining is complete. Methods that train no network do not queue for a GPU and are left out.
"""

import argparse
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dekm.experiment.checks import read_experiment
from dekm.experiment.config_file import read_config_file
from dekm.experiment.estimate import PlannedCell, planned_cells

SCHEMA = Path(__file__).parents[1] / "config" / "config.schema.yaml"
SIDE_BY_SIDE = 1.6  # throughput of the seeds of a cell on one GPU, by that of one seed at a time


@dataclass(frozen=True)
class Job:
    """A job: its name, the pretraining that it waits for (or its own name), and its seconds on a GPU."""

    name: str
    start: str
    seconds: float

    @property
    def pretrains(self) -> bool:
        """Whether other jobs wait for this one."""
        return self.name == self.start


def jobs_of(cell: PlannedCell, per_seed: bool, faster: float, overhead: float) -> Iterator[Job]:
    """The jobs of a cell: one, with its seeds side by side, or one per seed."""
    start, name = f"{cell.block.name} {cell.start}", f"{cell.block.name} {cell.subject}"
    name = start if cell.stage == "pretrain" else name
    seconds = cell.seconds / faster
    if not per_seed:
        yield Job(name, start, overhead + cell.n_seeds * seconds / min(SIDE_BY_SIDE, cell.n_seeds))
        return
    for seed in range(cell.n_seeds):
        yield Job(f"{name} {seed}", f"{start} {seed}", overhead + seconds)


def simulate(jobs: Sequence[Job], n_gpus: int) -> float:
    """Seconds until all jobs are complete."""
    waiting, complete = sorted(jobs, key=lambda job: not job.pretrains), set[str]()
    running: list[tuple[float, int, Job]] = []
    now = 0.0
    while waiting or running:
        for job in [job for job in waiting if job.pretrains or job.start in complete]:
            if len(running) == n_gpus:
                break
            waiting.remove(job)
            heapq.heappush(running, (now + job.seconds, id(job), job))
        now, _, ended = heapq.heappop(running)
        complete.add(ended.name)
    return now


def longest_chain(jobs: Sequence[Job]) -> tuple[float, str]:
    """The longest pretraining with a job that starts from it: seconds, and its name."""
    starts = {job.name: job.seconds for job in jobs if job.pretrains}
    return max((starts[job.start] + job.seconds * (not job.pretrains), job.name) for job in jobs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 4, 32])
    parser.add_argument("--faster", type=float, default=1.0, help="divides the times measured here")
    parser.add_argument("--overhead", type=float, default=60.0, help="seconds of queue and start-up per job")
    arguments = parser.parse_args()
    experiment = read_experiment(
        read_config_file(arguments.config), SCHEMA, arguments.config.absolute().parent
    )
    cells = [cell for cell in planned_cells(experiment) if cell.start is not None and cell.is_known]
    print(
        "| a job is | jobs | GPU hours | longest chain, h | " + " | ".join(f"{n}, h" for n in arguments.gpus)
    )
    for unit, per_seed in (("a cell", False), ("a seed", True)):
        jobs = [
            job for cell in cells for job in jobs_of(cell, per_seed, arguments.faster, arguments.overhead)
        ]
        chain, name = longest_chain(jobs)
        hours = [simulate(jobs, n) / 3600 for n in arguments.gpus]
        total = sum(job.seconds for job in jobs) / 3600
        shown = " | ".join(f"{value:.2f}" for value in hours)
        print(f"| {unit} | {len(jobs)} | {total:.2f} | {chain / 3600:.2f} ({name}) | {shown} |")


if __name__ == "__main__":
    main()
