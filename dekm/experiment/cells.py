"""A cell over its seeds, each made whole or not at all, and never twice.

Every seed has a folder under a key: the digest of everything that decides the result. A seed whose folder
has its key is not run again.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dekm.concurrency import run_concurrently
from dekm.errors import InputError
from dekm.experiment.checkpoints import SeedCheckpoint
from dekm.experiment.gpus import describe_unseen_gpu
from dekm.experiment.live import Live
from dekm.experiment.provenance import describe_changes, facts, source_digest, versions
from dekm.files import atomic_folder, digest, locked, recover, set_aside, write_json
from dekm.nn.checkpoint import Checkpoint
from dekm.nn.device import device_name, hardware, resolve_device
from dekm.results.folders import CellFolder
from dekm.results.seed import SeedFolder

logger = logging.getLogger(__name__)

FORMAT = 5  # of the run folders: raise it when their content changes


@dataclass(frozen=True)
class Cell:
    """The seeds of one pretraining, or of one method on one dataset."""

    folder: CellFolder  # above the seeds
    identity: Mapping[str, str]  # dataset, and method or architecture
    inputs: Mapping[int, Mapping[str, Any]]  # for each seed, everything else that decides its result
    n_values: int  # of all samples together, float32 on the device
    # for the facts: what decides no result, or follows from settings and code, such as the defaults
    more_facts: Mapping[str, Any] = field(default_factory=dict)
    # whether its seeds may run at the same time on a GPU; not with code of a user, which may use the global
    # generators
    concurrent: bool = True
    # keys of the seeds that are taken from another folder of results, where they were made under them
    taken: Mapping[int, str] = field(default_factory=dict)

    def parts(self, seed: int) -> dict[str, Any]:
        """Everything that decides the result of a seed."""
        return {**self.identity, **self.inputs[seed], "format": FORMAT}

    def key(self, seed: int) -> str:
        """Digest of everything that decides the result of a seed."""
        return self.taken.get(seed) or digest(self.parts(seed))

    def run(self, make: Callable[["Job"], None], *, device: str, fresh: bool) -> None:
        """Make the seeds that are not complete, or all of them if `fresh`, then write which seeds count.

        `make` runs a seed and writes its files into the folder of its job.
        """
        if unseen := describe_unseen_gpu(device):
            logger.warning("%s", unseen)
        self._remove_leftovers()
        # In one order, so that two processes that hold locks of a cell never wait for each other.
        runs = [partial(self._run_seed, seed, make, device, fresh) for seed in sorted(self.inputs)]
        try:
            if self.concurrent:
                run_concurrently(runs, resolve_device(device), 4 * self.n_values)
            else:
                for run in runs:
                    run()
        except KeyboardInterrupt:
            logger.warning("interrupted: %s; run the same command again to continue", self._describe_kept())
            raise
        self._summarize()

    def _describe_kept(self) -> str:
        """Which seeds are complete, and which have a checkpoint."""
        seeds = sorted(self.inputs)
        folders = {seed: self.folder.seed(seed) for seed in seeds}
        known = {seed: folder.facts["key"] for seed, folder in folders.items() if folder.has_facts()}
        complete = [seed for seed in seeds if known.get(seed) == self.key(seed)]
        begun = [seed for seed in seeds if self.folder.checkpoint_file(seed).exists()]
        kept = {"complete seeds": complete, "seeds with a checkpoint": begun}
        return ", ".join(f"{name}: {', '.join(map(str, found)) or 'none'}" for name, found in kept.items())

    def _run_seed(self, seed: int, make: Callable[["Job"], None], device: str, fresh: bool) -> None:
        target, key = self.folder.seed(seed), self.key(seed)
        name = f"{' '.join(self.identity.values())}, seed {seed}"
        checkpoint_file = self.folder.checkpoint_file(seed)
        # A job that outlived its killed workflow may still be writing the seed; it is waited for, unless it
        # has other settings.
        with locked(target.path, lambda: target.is_made_under_other_key(key)):
            recover(target.path)
            if not fresh and target.is_complete(key):
                checkpoint_file.unlink(missing_ok=True)
                logger.info("%s: complete, kept", name)
                return
            if problem := target.find_damage(key):
                logger.warning("%s It is kept as %s and made again", problem, set_aside(target.path))
            if target.has_facts() and (changes := describe_changes(target.facts, self.parts(seed))):
                logger.info("%s: made again, since these have changed: %s", name, changes)
            if fresh:
                checkpoint_file.unlink(missing_ok=True)
            logger.info("%s, on %s", name, device_name(device))
            started = time.time()
            with atomic_folder(target.path) as path:
                folder = SeedFolder(path)
                known = {"key": key, **self.parts(seed), **self.more_facts}
                # Written twice: at first so that the run can be followed while it is made, at the end with
                # the identity of the finished run and the time at which it ended.
                write_json(folder.file("facts"), known | facts(hardware(device)))
                checkpoint = SeedCheckpoint(checkpoint_file, path, checkpoint_key(key, device))
                live = Live(folder, name)
                job = Job(seed, folder, live, checkpoint)
                with live.writing():
                    make(job)
                write_json(folder.file("facts"), known | job.found | facts(hardware(device)))
                self._check_superseded(seed, started)
            self.folder.summary_file.unlink(missing_ok=True)  # it counts the seed that was replaced
            checkpoint_file.unlink(missing_ok=True)

    def _check_superseded(self, seed: int, started: float) -> None:
        """Raise `InputError` if a job that began later has made the seed with other settings."""
        other = self.folder.seed(seed)
        is_later = other.has_facts() and other.file("facts").stat().st_mtime > started
        if is_later and other.facts["key"] != self.key(seed):
            raise InputError(f"{other.path} was made by a later job with other settings, and is kept.")

    def _remove_leftovers(self) -> None:
        """Recover or remove what killed processes left of any seed, unless a process makes it now."""
        for path in self.folder.started_seeds():
            lock = locked(path)
            if lock.try_acquire():
                recover(path)
                lock.release()

    def _summarize(self) -> None:
        """Write which seeds count and which have failed; `InputError` if all have.

        Their ids make the file, and so what is made of it, new with a new run.
        """
        folders = {seed: self.folder.seed(seed) for seed in self.inputs}
        failures = [folder.failure for folder in folders.values() if folder.failure]
        lists: dict[str, dict[str, Any]] = {"seeds": {}, "failed": {}}
        for seed, folder in folders.items():
            entry = {"key": self.key(seed), "id": folder.facts["id"]}
            lists["failed" if folder.failure else "seeds"][str(seed)] = entry
        for failure in failures:
            logger.warning("%s", failure)
        if not lists["seeds"]:
            others = f" So did the other {len(failures) - 1}." if len(failures) > 1 else ""
            again = "They are fitted again under other settings, or with fresh=true."
            raise InputError(f"{failures[0]}.{others} {again}")
        write_json(self.folder.summary_file, lists)


@dataclass(frozen=True)
class Job:
    """One seed that is being made."""

    seed: int
    folder: SeedFolder  # to write its files into
    live: Live  # shows where the job is
    checkpoint: Checkpoint  # keeps the state of the training
    found: dict[str, Any] = field(default_factory=dict)  # what is known at the end, for the facts


def checkpoint_key(key: str, device: str) -> str:
    """Digest of all that the states of a training depend on, bit for bit, and of the code of its record."""
    record = source_digest("dekm.experiment.history")
    return digest({"key": key, "device": device_name(device), "versions": versions(), "record": record})
