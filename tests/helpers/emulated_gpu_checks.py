"""Tests of the emulated GPU itself; `test_emulated_gpu.py` runs them with the plugin."""

import pytest
import torch

from dekm.concurrency import run_round_robin, yield_turn
from dekm.nn.training import Step


def step_on(loss, **options):
    weight = torch.nn.Parameter(torch.ones(2).to("cuda"))
    step = Step(lambda index: loss(weight, index), [weight], lr=0.1, **options)
    index = torch.tensor([0, 1]).to("cuda")
    return [float(step(index)) for _ in range(6)]


def test_a_replay_reads_the_captured_memory_and_not_a_new_tensor_of_the_same_name():
    held = {"target": torch.zeros(2).to("cuda")}

    def rebound(index):
        held["target"] = held["target"] + 1

    def copied(index):
        held["target"].copy_(held["target"] + 1)

    def losses(after):
        held["target"] = torch.zeros(2).to("cuda")
        return step_on(
            lambda weight, index: ((weight.detach() - held["target"]) ** 2 + 0 * weight).sum(), after=after
        )

    assert losses(copied)[-1] == 2 * (1 - 5) ** 2
    assert losses(rebound)[-1] != 2 * (1 - 5) ** 2


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda w, i: (w * float(w.detach()[0])).sum(), "waits for the device"),
        (lambda w, i: w[w > 0].sum(), "waits for the device"),
        (lambda w, i: (w * torch.ones(2).to("cuda")).sum(), "copy between devices"),
        (lambda w, i: (w * torch.ones(2)).sum(), "on the CPU beside those on the GPU"),
        (
            lambda w, i: (w * torch.rand(2, generator=torch.Generator("cuda"), device="cuda")).sum(),
            "not registered",
        ),
        (
            lambda w, i: (w * torch.rand(2, generator=torch.Generator(), device="cuda")).sum(),
            "on the other device",
        ),
    ],
)
def test_an_error_of_a_gpu_is_raised(loss, message):
    with pytest.raises(RuntimeError, match=message):
        step_on(loss)


def test_a_stream_that_does_not_wait_for_another_raises():
    stream = torch.cuda.Stream()
    x = torch.ones(3).to("cuda")
    with torch.cuda.stream(stream), pytest.raises(RuntimeError, match="without waiting for it"):
        x.add_(1)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        x.add_(1)


def test_graphs_of_two_runs_captured_on_one_stream_raise(monkeypatch):
    shared = torch.cuda.Stream()
    monkeypatch.setattr("dekm.nn.training.capture_stream", lambda device: shared)

    def run():
        weight = torch.nn.Parameter(torch.ones(2, 2).to("cuda"))
        step = Step(lambda index: (weight @ weight).sum(), [weight], lr=0.1)
        index = torch.tensor([0]).to("cuda")
        for _ in range(9):
            step(index)
            yield_turn()

    with pytest.raises(RuntimeError, match="without waiting for it"):
        run_round_robin([run, run], 2, lambda: torch.cuda.stream(torch.cuda.Stream()))
