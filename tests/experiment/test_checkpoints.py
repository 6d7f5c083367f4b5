"""Checkpoints of the jobs: files that continue a seed, and what becomes of them."""

import csv
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open

from dekm.datasets import DATASETS, preparation
from dekm.experiment import cells, checkpoints
from dekm.experiment.checkpoints import SeedCheckpoint, read_checkpoint
from dekm.experiment.jobs import cluster_cell, pretrain_cell
from dekm.files import read_json
from dekm.nn.checkpoint import State
from tests.helpers.prepared_files import files

PRETRAINING = {"channels": (4, 8, 8), "hidden": (16, 8), "n_epochs": 6, "batch_size": 32}
DEKM = {"n_init": 2, "n_init_update": 2, "max_iter": 5, "tol": 0.0, "n_batches": 3}
ROOT = Path(__file__).parents[2]
# Makes a seed with a checkpoint after every epoch, and dies after some of them.
KILLED = """
import os, signal, sys
from pathlib import Path
from dekm.experiment import checkpoints, jobs

checkpoints.SECONDS = 0.0
checkpoints.COST = 1e9
write, n_written = checkpoints.write_checkpoint, 0

def write_and_die(*arguments):
    global n_written
    write(*arguments)
    n_written += 1
    if n_written == 4:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoints.write_checkpoint = write_and_die
jobs.pretrain_cell(Path(sys.argv[1]), "digits", sys.argv[2], [0], eval(sys.argv[3]), device="cpu")
"""

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class KilledError(Exception):
    """Stands for the death of a process."""


@pytest.fixture
def results(tmp_path):
    preparation.prepare(
        DATASETS["digits"], tmp_path / "raw", **files(tmp_path / "data/digits"), subsample=100
    )
    return tmp_path


@pytest.fixture
def often(monkeypatch):
    """Checkpoints after every epoch."""
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "COST", 1e9)


@pytest.fixture
def die_after(monkeypatch, often):
    """A function that lets the next jobs die after some checkpoints, or live if it is given None."""
    write = checkpoints.write_checkpoint

    def set_number(number):
        written = []

        def write_and_die(file, key, state):
            if len(written) == number:
                raise KilledError
            written.append(file)
            write(file, key, state)

        monkeypatch.setattr(checkpoints, "write_checkpoint", write_and_die)

    return set_number


def pretrain(results, seeds=(0,), architecture="conv", settings=PRETRAINING, **options):
    pretrain_cell(results, "digits", architecture, list(seeds), settings, device="cpu", **options)
    return results / "pretrained/digits" / architecture


def cluster(results, method="dekm", settings=DEKM, **options):
    cluster_cell(results, "digits", method, [0], settings, device="cpu", **options)
    return results / "runs/digits" / method / "seed0"


def weights(seed):
    with safe_open(seed / "autoencoder.safetensors", framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def assert_same_pretraining(first, second):
    assert (first / "loss.csv").read_text() == (second / "loss.csv").read_text()
    assert all(torch.equal(value, weights(second)[name]) for name, value in weights(first).items())


def checkpoint_of(cell, seed=0):
    return cell / f".seed{seed}.checkpoint.safetensors"


@pytest.mark.parametrize("architecture", ["conv", "mlp"])
def test_a_killed_process_is_continued(results, architecture, caplog):
    expected = pretrain(results, architecture=architecture)
    reference = expected.rename(results / "reference")
    arguments = [str(results), architecture, repr(PRETRAINING)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], env=environment, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    cell = expected
    assert not (cell / "seed0").exists()
    assert len(read_checkpoint(checkpoint_of(cell))[1].values["losses"][0]) == 3
    with caplog.at_level(logging.INFO, "dekm"):
        pretrain(results, architecture=architecture)
    assert "continued from" in caplog.text
    assert_same_pretraining(cell / "seed0", reference / "seed0")
    assert sorted(path.name for path in cell.iterdir() if path.suffix != ".lock") == ["seed0", "summary.json"]


def test_a_run_is_continued_with_its_history_and_frames(results, die_after):
    pretrain(results, settings=PRETRAINING | {"embedding_dim": 2})
    reference = cluster(results).rename(results / "reference")
    die_after(3)
    with pytest.raises(KilledError):
        cluster(results, fresh=True)
    die_after(None)
    found = cluster(results)
    for name in ("labels.npy", "embedding.npy"):
        np.testing.assert_array_equal(np.load(found / name), np.load(reference / name))
    with np.load(found / "iterations.npz") as first, np.load(reference / "iterations.npz") as second:
        assert set(first) == set(second)
        for name in first:
            np.testing.assert_array_equal(first[name], second[name])
    histories = []
    for folder in (found, reference):
        with (folder / "history.csv").open(newline="") as stream:
            histories.append([row | {"seconds": ""} for row in csv.DictReader(stream)])
    assert histories[0] == histories[1]
    same = [
        {
            name: value
            for name, value in read_json(folder / "metrics.json").items()
            if name not in ("seconds", "peak_memory")
        }
        for folder in (found, reference)
    ]
    assert same[0] == same[1]


def test_a_changed_setting_does_not_continue_another_training(results, die_after, caplog):
    die_after(2)
    with pytest.raises(KilledError):
        pretrain(results)
    die_after(None)
    changed = PRETRAINING | {"lr": 0.01}
    cell = pretrain(results, settings=changed)
    assert "is ignored: it is a checkpoint of other settings" in caplog.text
    first = (cell / "seed0/loss.csv").read_text()
    pretrain(results, settings=changed, fresh=True)
    assert (cell / "seed0/loss.csv").read_text() == first


def test_a_changed_record_does_not_continue(results, die_after, monkeypatch, caplog):
    die_after(2)
    with pytest.raises(KilledError):
        pretrain(results)
    die_after(None)
    monkeypatch.setattr(cells, "source_digest", lambda *_: "of another version")
    pretrain(results)
    assert "is ignored: it is a checkpoint of other settings, code or device" in caplog.text


def test_fresh_starts_from_the_beginning(results, die_after, caplog):
    die_after(2)
    with pytest.raises(KilledError):
        pretrain(results)
    die_after(None)
    with caplog.at_level(logging.INFO, "dekm"):
        cell = pretrain(results, fresh=True)
    assert "continued" not in caplog.text
    assert not checkpoint_of(cell).exists()


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text"])
def test_a_damaged_checkpoint_is_named_and_ignored(results, die_after, caplog, damage):
    die_after(2)
    with pytest.raises(KilledError):
        pretrain(results)
    die_after(None)
    file = checkpoint_of(results / "pretrained/digits/conv")
    content = bytearray(file.read_bytes())
    if damage == "flipped":
        content[-100] ^= 1
    damaged = {"cut": content[:-9], "empty": b"", "text": b"no checkpoint", "flipped": content}
    file.write_bytes(damaged[damage])
    cell = pretrain(results)
    assert f"{file} is ignored: the checkpoint is damaged" in caplog.text
    assert len((cell / "seed0/loss.csv").read_text().splitlines()) == 7
    assert not file.exists()


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_training(results, monkeypatch, often, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "write_checkpoint", full)
    cell = pretrain(results)
    assert "could not be written" in caplog.text
    assert (cell / "seed0/facts.json").is_file()


def test_a_checkpoint_is_written_at_most_once_in_its_time(tmp_path, monkeypatch):
    file, part = tmp_path / "checkpoint", tmp_path / "part"
    part.mkdir()
    SeedCheckpoint(file, part, "key").save(lambda: pytest.fail("not due"))
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    checkpoint = SeedCheckpoint(file, part, "key")
    checkpoint.save(lambda: State({}, {"n": 1}))
    monkeypatch.setattr(checkpoints, "SECONDS", 60.0)
    checkpoint._due = 0.0
    checkpoint.save(lambda: State({}, {"n": 2}))
    checkpoint.save(lambda: pytest.fail("not due"))
    assert checkpoint.load().values == {"n": 2}
    assert list(part.iterdir()) == []


def test_a_checkpoint_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: written.append(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    (tmp_path / "part").mkdir()
    SeedCheckpoint(tmp_path / "checkpoint", tmp_path / "part", "key").save(lambda: State({}, {"n": 1}))
    assert (tmp_path / "checkpoint").stat().st_ino in written


def test_a_slow_disk_gets_fewer_checkpoints(tmp_path, monkeypatch):
    now = iter(
        [0.0, 1.0, 11.0, 2010.0, 2012.0, 2013.0]
    )  # made; begin and end of a save of 10 s; then two more
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(checkpoints, "write_checkpoint", lambda file, key, state: file.touch())
    checkpoint, written = SeedCheckpoint(tmp_path / "checkpoint", tmp_path / "part", "key"), []
    (tmp_path / "part").mkdir()
    for _ in range(3):
        checkpoint.save(lambda: written.append(1))
    assert len(written) == 2


def test_an_interrupt_says_what_is_kept(results, monkeypatch, often, caplog):
    write, written = checkpoints.write_checkpoint, []

    def write_or_interrupt(*arguments):
        if len(written) == 8:  # six epochs of the first seed, two of the second
            raise KeyboardInterrupt
        written.append(arguments)
        write(*arguments)

    monkeypatch.setattr(checkpoints, "write_checkpoint", write_or_interrupt)
    with pytest.raises(KeyboardInterrupt):
        pretrain(results, seeds=(0, 1, 2))
    assert (
        "interrupted: complete seeds: 0, seeds with a checkpoint: 1; run the same command again to continue"
        in caplog.text
    )


def test_methods_without_a_checkpoint_say_so(results, caplog):
    with caplog.at_level(logging.INFO, "dekm"):
        cluster(results, "k_means", {"n_init": 2})
    assert "no checkpoints: an interrupted run of this method starts from its beginning" in caplog.text
