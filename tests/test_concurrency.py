import signal
import threading
from functools import partial

import pytest
import torch

from dekm.concurrency import in_turns, pass_the_turn, side_by_side


def count_to(n, name, seen, fail_at=None):
    for i in range(n):
        if i == fail_at:
            raise ValueError(f"{name} fails")
        seen.append(name + str(i))
        pass_the_turn()


def test_the_runs_take_turns_round_and_round():
    seen = []
    in_turns([partial(count_to, n, name, seen) for name, n in (("a", 3), ("b", 1), ("c", 2))], 3)
    assert seen == ["a0", "b0", "c0", "a1", "c1", "a2"]


def test_a_thread_that_is_done_takes_the_next_run():
    seen = []
    in_turns([partial(count_to, 1, name, seen) for name in "abcde"], 2)
    assert seen == ["a0", "b0", "c0", "d0", "e0"]


def test_runs_in_turns_are_runs_alone(blobs, tiny):
    alone = [tiny(random_state=seed).fit(blobs.X).loss_curve_ for seed in range(3)]
    beside = [tiny(random_state=seed) for seed in range(3)]
    in_turns([partial(autoencoder.fit, blobs.X) for autoencoder in beside], 3)
    assert [autoencoder.loss_curve_ for autoencoder in beside] == alone


def test_one_error_is_raised_when_all_else_is_done():
    seen = []
    runs = [partial(count_to, 2, "a", seen), partial(count_to, 2, "b", seen, fail_at=1)]
    with pytest.raises(ValueError, match="b fails"):
        in_turns([*runs, partial(count_to, 1, "c", seen), partial(count_to, 1, "d", seen)], 2)
    assert seen == ["a0", "b0", "a1", "c0", "d0"]


def test_the_threads_are_within_the_given_surroundings():
    opened = []

    class Surroundings:
        def __enter__(self):
            opened.append(threading.get_ident())

        def __exit__(self, *error):
            opened.remove(threading.get_ident())

    within = []
    in_turns([lambda: within.append(threading.get_ident() in opened)] * 2, 2, Surroundings)
    assert within == [True, True]
    assert opened == []


@pytest.mark.timeout(30)
def test_an_interrupted_program_ends_every_run_and_lets_it_clean_up():
    ended = []

    def run(name):
        try:
            for i in range(10**9):
                if (name, i) == ("b", 5):
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                pass_the_turn()
        finally:
            ended.append(name)

    with pytest.raises(KeyboardInterrupt):
        in_turns([partial(run, name) for name in "abc"], 2)
    assert sorted(ended) == ["a", "b"]


def test_on_the_cpu_runs_follow_each_other_and_an_error_ends_them():
    seen = []
    runs = [partial(count_to, 2, "a", seen), partial(count_to, 1, "b", seen, fail_at=0)]
    with pytest.raises(ValueError, match="b fails"):
        side_by_side([*runs, partial(count_to, 1, "c", seen)], torch.device("cpu"), 1)
    assert seen == ["a0", "a1"]
