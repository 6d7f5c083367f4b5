import signal
import threading
from functools import partial

import pytest
import torch

from dekm.concurrency import run_concurrently, run_round_robin, yield_turn


def count_to(n, name, seen, fail_at=None):
    for i in range(n):
        if i == fail_at:
            raise ValueError(f"{name} fails")
        seen.append(name + str(i))
        yield_turn()


def test_runs_take_turns_round_robin():
    seen = []
    run_round_robin([partial(count_to, n, name, seen) for name, n in (("a", 3), ("b", 1), ("c", 2))], 3)
    assert seen == ["a0", "b0", "c0", "a1", "c1", "a2"]


def test_a_thread_that_has_finished_a_run_takes_the_next():
    seen = []
    run_round_robin([partial(count_to, 1, name, seen) for name in "abcde"], 2)
    assert seen == ["a0", "b0", "c0", "d0", "e0"]


def test_round_robin_runs_give_the_results_of_separate_runs(blobs, tiny):
    separate = [tiny(random_state=seed).fit(blobs.X).loss_curve_ for seed in range(3)]
    concurrent = [tiny(random_state=seed) for seed in range(3)]
    run_round_robin([partial(autoencoder.fit, blobs.X) for autoencoder in concurrent], 3)
    assert [autoencoder.loss_curve_ for autoencoder in concurrent] == separate


def test_an_error_is_raised_after_the_other_runs():
    seen = []
    runs = [partial(count_to, 2, "a", seen), partial(count_to, 2, "b", seen, fail_at=1)]
    with pytest.raises(ValueError, match="b fails"):
        run_round_robin([*runs, partial(count_to, 1, "c", seen), partial(count_to, 1, "d", seen)], 2)
    assert seen == ["a0", "b0", "a1", "c0", "d0"]


def test_the_threads_enter_the_given_context():
    opened = []

    class Context:
        def __enter__(self):
            opened.append(threading.get_ident())

        def __exit__(self, *error):
            opened.remove(threading.get_ident())

    within = []
    run_round_robin([lambda: within.append(threading.get_ident() in opened)] * 2, 2, Context)
    assert within == [True, True]
    assert opened == []


@pytest.fixture
def heeded_interrupt():
    """Ctrl-C raises KeyboardInterrupt, also in a job of a script, which may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.timeout(30)
@pytest.mark.usefixtures("heeded_interrupt")
def test_an_interrupt_ends_every_run_and_lets_it_clean_up():
    ended = []

    def run(name):
        try:
            for i in range(10**9):
                if (name, i) == ("b", 5):
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                yield_turn()
        finally:
            ended.append(name)

    with pytest.raises(KeyboardInterrupt):
        run_round_robin([partial(run, name) for name in "abc"], 2)
    assert sorted(ended) == ["a", "b"]


def test_on_the_cpu_runs_are_sequential_and_an_error_ends_them():
    seen = []
    runs = [partial(count_to, 2, "a", seen), partial(count_to, 1, "b", seen, fail_at=0)]
    with pytest.raises(ValueError, match="b fails"):
        run_concurrently([*runs, partial(count_to, 1, "c", seen)], torch.device("cpu"), 1)
    assert seen == ["a0", "a1"]
