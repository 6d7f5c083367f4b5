"""Concurrent runs on one GPU, each on its own CUDA stream: the seeds of a cell.

The runs are threads, of which one at a time executes Python code; after every step it yields to the next one,
round robin. So only one thread at a time changes PyTorch's settings, captures a graph or writes a file, and
the order of execution is always the same. The work that the runs have sent to the GPU is what runs
concurrently.
"""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import torch

MAX_CONCURRENT = 4  # a fifth run hardly raises the throughput of the GPU

_current = threading.local()  # the scheduler, gate and capture streams of the current thread


class Stopped(BaseException):
    """Raised in the runs when the program is interrupted, so that they end and clean up."""


class RoundRobin:
    """Lets one of several threads run at a time, in turn. Every thread waits at a semaphore of its own."""

    def __init__(self) -> None:
        self.waiting: deque[threading.Semaphore] = deque()
        self.stopped = False

    @contextlib.contextmanager
    def scheduled(self, gate: threading.Semaphore) -> Iterator[None]:
        """Schedule the current thread within the block."""
        gate.acquire()
        _current.scheduler, _current.gate = self, gate
        try:
            self.check_stopped()
            yield
        finally:
            self.wake_next()

    def wake_next(self) -> None:
        """Wake the thread that has waited longest."""
        if self.waiting:
            self.waiting.popleft().release()

    def yield_turn(self, gate: threading.Semaphore) -> None:
        """Wait until every other thread has had a turn."""
        if self.waiting:
            self.waiting.append(gate)
            self.wake_next()
            gate.acquire()
        self.check_stopped()

    def check_stopped(self) -> None:
        """Raise `Stopped` if the program was interrupted."""
        if self.stopped:
            raise Stopped


def yield_turn() -> None:
    """Let the other runs of `run_round_robin` continue first; returns at once outside of it."""
    scheduler = getattr(_current, "scheduler", None)
    if scheduler is not None:
        scheduler.yield_turn(_current.gate)


def run_round_robin(
    runs: Sequence[Callable[[], None]],
    n_threads: int,
    context: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> None:
    """Execute runs in several threads, of which one at a time executes Python code.

    Each run calls `yield_turn` from time to time; a thread that has finished a run takes the next one, and
    each enters the context manager that `context` returns. The first error of a run is raised after the other
    threads have executed all remaining runs.
    """
    scheduler, remaining, errors = RoundRobin(), iter(runs), list[Exception]()
    ended: list[threading.Semaphore] = []

    def work(gate: threading.Semaphore) -> None:
        try:
            with contextlib.suppress(Stopped), scheduler.scheduled(gate):
                try:
                    with context():
                        for run in remaining:
                            run()
                except Exception as error:
                    errors.append(error)
        finally:
            ended.append(gate)

    def wait() -> None:
        # Not by Thread.join: an interrupt that comes just before it blocks does not wake it, and before
        # Python 3.13 it returns at once for a thread whose first join was interrupted.
        while len(ended) < n_threads:
            time.sleep(0.01)

    scheduler.waiting.extend(threading.Semaphore(0) for _ in range(n_threads))
    threads = [threading.Thread(target=work, args=(gate,)) for gate in scheduler.waiting]
    for thread in threads:
        thread.start()
    try:
        scheduler.wake_next()
        wait()
    except BaseException:
        scheduler.stopped = True
        wait()
        raise
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def run_concurrently(runs: Sequence[Callable[[], None]], device: torch.device, n_bytes: int) -> None:
    """Execute runs: concurrently on a GPU, one after the other on the CPU, whose cores one run keeps busy.

    Their results do not depend on one another. `n_bytes` is the size of the samples, which each copies to the
    device.
    """
    if device.type == "cpu" or len(runs) < 2:
        for run in runs:
            run()
        return

    @contextlib.contextmanager
    def own_stream() -> Iterator[None]:
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream(device)):
            yield

    free, _ = torch.cuda.mem_get_info(device)
    n_threads = max(1, min(MAX_CONCURRENT, len(runs), free // (3 * n_bytes)))
    run_round_robin(runs, n_threads, own_stream)


def capture_stream(device: torch.device) -> torch.cuda.Stream:
    """The stream on which the current thread captures its graphs.

    The graphs captured on one stream share the workspace of cuBLAS, so concurrent runs need different
    streams.
    """
    streams: dict[torch.device, torch.cuda.Stream] = _current.__dict__.setdefault("streams", {})
    if device not in streams:
        streams[device] = torch.cuda.Stream(device)
    return streams[device]
