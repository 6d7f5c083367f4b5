"""Tests of the emulated GPU itself; `test_emulated_gpu.py` runs them with the plugin."""

import pytest
import torch

from dekm.concurrency import run_round_robin, yield_turn
from dekm.errors import InputError
from dekm.nn.networks import Network
from dekm.nn.training import Step


def step_on(loss, *, capture=True, **options):
    weight = torch.nn.Parameter(torch.ones(2).to("cuda"))
    network = Network()
    network.capture = capture
    step = Step(lambda index: loss(weight, index), [weight], lr=0.1, network=network, **options)
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
            lambda weight, index: ((weight.detach() - held["target"]) ** 2 + 0 * weight).sum(),
            after=after,
            changed=[held["target"]],
        )

    assert losses(copied)[-1] == 2 * (1 - 5) ** 2
    assert losses(rebound)[-1] != 2 * (1 - 5) ** 2


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda w, i: (w * float(w.detach()[0])).sum(), "waits for the device"),
        (lambda w, i: w[w > 0].sum(), "waits for the device"),
        (lambda w, i: (w * torch.ones(2).to("cuda")).sum(), "copy between devices"),
        (lambda w, i: (w * torch.tensor([1.0, 2.0], device="cuda")).sum(), "copy between devices"),
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
    with pytest.raises((RuntimeError, InputError), match=message):
        step_on(loss)


def test_a_loss_that_waits_for_the_device_names_the_way_out_and_is_trained_without_capture():
    def waits(weight, index):
        return (weight * float(weight.detach()[0])).sum()

    with pytest.raises(InputError, match=r"cannot be captured .* waits for the device. Set capture=False"):
        step_on(waits)
    assert len(set(step_on(waits, capture=False))) == 6


@pytest.mark.parametrize("capture", [True, False])
def test_a_temperature_that_python_counts_is_not_frozen(capture, caplog):
    calls = []

    def cooled(weight, index):
        calls.append(1)
        return (weight**2).sum() / (1 + 0.1 * len(calls))

    losses = step_on(cooled, capture=capture)
    assert ("does not repeat the step" in caplog.text) == capture
    assert len(calls) == 6 + capture  # the call of the capture counts
    assert losses == sorted(losses, reverse=True)


def test_a_captured_step_leaves_what_a_step_without_capture_leaves():
    found = []
    for capture in (True, False):
        generator, total = torch.Generator("cuda").manual_seed(0), torch.zeros(2).to("cuda")

        def noisy(weight, index, generator=generator):
            return ((weight + torch.rand(2, generator=generator, device="cuda")) ** 2).sum()

        def add(index, total=total):
            total.add_(index + 1)

        losses = step_on(noisy, capture=capture, generator=generator, after=add, changed=[total])
        found.append((losses, total.tolist(), generator.get_state().tolist()))
    assert found[0] == found[1]
    assert found[0][1] == [6, 12]


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
    monkeypatch.setattr("dekm.nn.capture.capture_stream", lambda device: shared)

    def run():
        weight = torch.nn.Parameter(torch.ones(2, 2).to("cuda"))
        step = Step(lambda index: (weight @ weight).sum(), [weight], lr=0.1)
        index = torch.tensor([0]).to("cuda")
        for _ in range(9):
            step(index)
            yield_turn()

    with pytest.raises(RuntimeError, match="without waiting for it"):
        run_round_robin([run, run], 2, lambda: torch.cuda.stream(torch.cuda.Stream()))
