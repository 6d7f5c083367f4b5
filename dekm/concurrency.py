"""Runs side by side on one GPU, each on streams of its own: the seeds of a cell.

Their Python code takes turns. One thread at a time has the turn and passes it on after every step, round and
round, so no setting of PyTorch, no capture of a graph and no file is ever in the hands of two, and the order
is always the same. Only what the runs have sent to the GPU goes on at the same time.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import torch

AT_ONCE = 4  # a fifth run gains next to nothing

_own = threading.local()


class Stopped(BaseException):
    """The program was interrupted: a run that waits for its turn ends here, and cleans up as it does."""


class Turns:
    """Who of some threads has the turn."""

    def __init__(self) -> None:
        self.waiting: deque[threading.Semaphore] = deque()
        self.stopped = False

    @contextlib.contextmanager
    def taking_part(self, gate: threading.Semaphore) -> Iterator[None]:
        """From the first turn of this thread to its last."""
        gate.acquire()
        _own.turns, _own.gate = self, gate
        try:
            self.check()
            yield
        finally:
            self.wake_next()

    def wake_next(self) -> None:
        """Give the turn to the thread that has waited longest."""
        if self.waiting:
            self.waiting.popleft().release()

    def pass_on(self, gate: threading.Semaphore) -> None:
        """Let every other thread have a turn first."""
        if self.waiting:
            self.waiting.append(gate)
            self.wake_next()
            gate.acquire()
        self.check()

    def check(self) -> None:
        """Raise `Stopped` if the program was interrupted."""
        if self.stopped:
            raise Stopped


def pass_the_turn() -> None:
    """Let the runs beside this one go on; a run that is alone goes on itself."""
    turns = getattr(_own, "turns", None)
    if turns is not None:
        turns.pass_on(_own.gate)


def in_turns(
    runs: Sequence[Callable[[], None]],
    at_once: int,
    surroundings: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> None:
    """Do the runs in `at_once` threads, whose Python code takes turns; each thread is within `surroundings`.

    A run that fails ends its thread; the other threads do all that is left, then the first error is raised.
    """
    turns, remaining, errors = Turns(), iter(runs), list[Exception]()

    def work(gate: threading.Semaphore) -> None:
        with contextlib.suppress(Stopped), turns.taking_part(gate):
            try:
                with surroundings():
                    for run in remaining:
                        run()
            except Exception as error:
                errors.append(error)

    turns.waiting.extend(threading.Semaphore(0) for _ in range(at_once))
    threads = [threading.Thread(target=work, args=(gate,)) for gate in turns.waiting]
    for thread in threads:
        thread.start()
    try:
        turns.wake_next()
        for thread in threads:
            thread.join()
    except BaseException:
        turns.stopped = True
        for thread in threads:
            thread.join()
        raise
    if errors:
        raise errors[0]


def side_by_side(runs: Sequence[Callable[[], None]], device: torch.device, n_bytes: int) -> None:
    """Do the runs: on a GPU several at once, on the CPU, whose cores one keeps busy, one after the other.

    Parameters
    ----------
    runs : take the same steps as alone, and give the same results
    device : where they work
    n_bytes : of the samples, of which each run has a copy on the device
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
    in_turns(runs, max(1, min(AT_ONCE, len(runs), free // (3 * n_bytes))), own_stream)


def capture_stream(device: torch.device) -> torch.cuda.Stream:
    """The stream on which a run captures its graphs, no other's.

    Graphs captured on one stream share cuBLAS's workspace, and disturb each other when replayed at once.
    """
    streams: dict[torch.device, torch.cuda.Stream] = _own.__dict__.setdefault("streams", {})
    if device not in streams:
        streams[device] = torch.cuda.Stream(device)
    return streams[device]
