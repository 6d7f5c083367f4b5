"""Jobs on a machine whose list of GPUs is faked; the locks and the processes are real."""

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dekm.errors import InputError
from dekm.experiment import gpus
from dekm.experiment.gpus import (
    VARIABLE,
    count_gpus,
    describe_unseen_gpu,
    find_gpus,
    has_gpu_build,
    reserved_gpu,
)
from dekm.results.progress import WARNING
from tests.helpers.gpus import fake_gpus

TWO = {"GPU-a": 0, "GPU-b": 0}
JOB = """
import logging, os, sys, time
from pathlib import Path
from dekm.errors import InputError
from dekm.experiment import gpus
logging.basicConfig(level="INFO", format="%(message)s")
gpus.LOCKS, gpus.PAUSE = Path(sys.argv[1]), 0.02
with gpus.reserved_gpu("auto", f"job {sys.argv[2]}"):
    assert "torch" not in sys.modules
    print(os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
    sys.stdin.read()
"""


class RunningJob:
    """A process that holds a GPU until it is told to end."""

    def __init__(self, locks: Path, number: int) -> None:
        command = [sys.executable, "-c", JOB, str(locks), str(number)]
        self.log = locks / f"{number}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )

    def gpu(self) -> str:
        """The GPU that it has reserved; waits for it."""
        return self.process.stdout.readline().strip()

    def waits(self) -> str:
        """What its log says that it waits for, once it does."""
        deadline = time.monotonic() + 30
        while "waiting" not in self.log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return self.log.read_text()

    def end(self) -> None:
        self.process.communicate("")
        assert self.process.returncode == 0


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the GPUs of the machine, and their used memory."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(gpus, "LOCKS", tmp_path)
    path = os.environ["PATH"]

    def set_gpus(used: dict[str, int | str]) -> None:
        monkeypatch.setenv("PATH", f"{fake_gpus(tmp_path / 'bin', used)}{os.pathsep}{path}")

    return set_gpus


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], RunningJob]]:
    """Start jobs, which end with the test."""
    jobs: list[RunningJob] = []

    def start_one() -> RunningJob:
        jobs.append(RunningJob(tmp_path, len(jobs)))
        return jobs[-1]

    yield start_one
    for job in jobs:
        job.process.kill()
        job.process.communicate()


def test_four_jobs_on_two_gpus_never_share_one(machine, start) -> None:
    machine(TWO)
    first, second = start(), start()
    assert {first.gpu(), second.gpu()} == {"GPU-a", "GPU-b"}
    third = start()
    waits = third.waits()
    for number, job in enumerate((first, second)):
        assert f"by process {job.process.pid} on " in waits
        assert f"(job {number})" in waits
    fourth = start()
    fourth.waits()
    first.process.send_signal(signal.SIGKILL)
    second.end()
    assert {third.gpu(), fourth.gpu()} == {"GPU-a", "GPU-b"}
    third.end()
    fourth.end()


def test_a_gpu_with_a_foreign_process_comes_last(machine, start) -> None:
    machine({"GPU-a": 40_000, "GPU-b": 3, "GPU-c": 500})
    assert [start().gpu() for _ in range(3)] == ["GPU-b", "GPU-c", "GPU-a"]


def test_the_gpu_is_free_again_after_the_block(machine) -> None:
    machine({"GPU-a": "[N/A]"})
    for _ in range(2):
        with reserved_gpu("auto", "test"):
            assert os.environ[VARIABLE] == "GPU-a"
        assert VARIABLE not in os.environ


@pytest.mark.parametrize("value", ["1", "", "-1", "GPU-b", "MIG-7"])
def test_a_gpu_that_is_already_chosen_is_left_alone(machine, monkeypatch, tmp_path, value: str) -> None:
    machine(TWO)
    monkeypatch.setenv(VARIABLE, value)
    with reserved_gpu("auto", "test"):
        assert os.environ[VARIABLE] == value
    assert not list(tmp_path.glob("dekm-gpus-*"))


@pytest.mark.parametrize(("value", "chosen"), [("0,2", {"0", "2"}), (" GPU-b, GPU-c ", {"GPU-b", "GPU-c"})])
def test_jobs_share_the_gpus_of_an_allocation(machine, monkeypatch, value: str, chosen: set[str]) -> None:
    machine({"GPU-a": 0, "GPU-b": 0, "GPU-c": 0})
    monkeypatch.setenv(VARIABLE, value)
    assert count_gpus("auto") == 2
    with reserved_gpu("auto", "first"):
        first = os.environ[VARIABLE]
        monkeypatch.setenv(VARIABLE, value)
        with reserved_gpu("auto", "second"):
            assert {first, os.environ[VARIABLE]} == chosen


def test_an_index_reserves_its_gpu_and_changes_nothing(machine, start) -> None:
    machine(TWO)
    with reserved_gpu("cuda:1", "test"):
        assert VARIABLE not in os.environ
        assert start().gpu() == "GPU-a"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder, in which nothing is yet."""
    monkeypatch.setattr(gpus, "LOCKS", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_folder_of_the_locks_is_open_to_its_user_only(home, tmp_path) -> None:
    folder = tmp_path / f"dekm-gpus-{os.geteuid()}"
    assert gpus.lock_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert gpus.lock_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not home.exists()


@pytest.mark.parametrize("kind", ["link to a folder", "link to nothing", "file"])
def test_a_name_that_another_user_has_taken_stops_no_job_and_is_not_written(
    machine, home, tmp_path, kind: str, caplog
) -> None:
    machine(TWO)
    taken, victim = tmp_path / f"dekm-gpus-{os.geteuid()}", tmp_path / "victim"
    victim.mkdir()
    (victim / ".GPU-a.lock").write_text("of the victim")
    if kind == "file":
        taken.write_text("of another user")
    else:
        taken.symlink_to(victim if kind == "link to a folder" else tmp_path / "nothing")
    with reserved_gpu("auto", "test"):
        assert os.environ[VARIABLE] == "GPU-a"
        assert [path.name for path in (home / ".cache/dekm/gpus").iterdir()] == [".GPU-a.lock"]
    assert [path.name for path in victim.iterdir()] == [".GPU-a.lock"]
    assert (victim / ".GPU-a.lock").read_text() == "of the victim"
    assert f"{taken} is of another user, or no folder" in caplog.text


def test_a_folder_of_another_user_is_not_used(home, monkeypatch) -> None:
    other = os.geteuid() + 1
    monkeypatch.setattr(
        os, "geteuid", lambda: other
    )  # all that this test makes is of another user than this one
    with pytest.raises(InputError, match="no folder for the locks of GPUs can be made in"):
        gpus.lock_folder()


def test_a_lock_that_is_a_link_is_neither_followed_nor_truncated(machine, home, tmp_path) -> None:
    machine({"GPU-a": 0})
    victim = tmp_path / "victim"
    victim.write_text("of the victim")
    (gpus.lock_folder() / ".GPU-a.lock").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"), reserved_gpu("auto", "test"):
        pass
    assert victim.read_text() == "of the victim"


def test_without_gpus_nothing_is_locked(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(gpus, "LOCKS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    for device in ("auto", "cuda:0", "cpu", "nonsense"):
        with reserved_gpu(device, "test"):
            assert VARIABLE not in os.environ
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("script", ["exit 9", "echo 'NVIDIA-SMI has failed'", "kill -9 $$"])
def test_an_nvidia_smi_that_fails_lists_nothing(machine, tmp_path, script: str) -> None:
    machine(TWO)
    (tmp_path / "bin/nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    assert find_gpus() == []


COUNTS = {
    ("auto", None): 2,
    ("cuda", None): 2,
    ("cpu", None): None,
    ("cuda:1", None): 1,
    ("auto", "0"): 1,
    ("auto", "1,0"): 2,
    ("auto", ""): None,
    ("auto", "-1"): None,
}


@pytest.mark.parametrize(("device", "value"), COUNTS)
def test_as_many_jobs_train_as_there_are_gpus(machine, monkeypatch, device: str, value: str | None) -> None:
    machine(TWO)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    assert count_gpus(device) == COUNTS[device, value]


@pytest.mark.parametrize(
    ("device", "value", "told"), [("auto", "3", True), ("auto", "", False), ("cpu", "3", False)]
)
def test_a_gpu_that_pytorch_does_not_see_is_told(monkeypatch, device: str, value: str, told: bool) -> None:
    def is_available() -> bool:
        warnings.warn("CUDA initialization: unknown error.\nMore lines.", stacklevel=1)
        return False

    monkeypatch.setenv(VARIABLE, value)
    monkeypatch.setattr("torch.cuda.is_available", is_available)
    text = describe_unseen_gpu(device)
    assert bool(text) is told
    assert not told or text.startswith(f"{WARNING}CUDA_VISIBLE_DEVICES=3 gives this job a GPU")


def test_a_gpu_that_only_pytorch_can_list_takes_one_job(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(gpus, "DRIVERS", (tmp_path / "kfd",))
    assert count_gpus("auto") is None
    (tmp_path / "kfd").touch()
    assert count_gpus("auto") == 1


@pytest.mark.parametrize(("text", "expected"), [("cuda = None", False), ("cuda: str = '12.8'", True)])
def test_the_build_of_pytorch_is_read_from_its_files(monkeypatch, tmp_path, text, expected) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("raise AssertionError('imported')\n")
    (tmp_path / "torch/version.py").write_text(text)
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.syspath_prepend(tmp_path)
    assert has_gpu_build() is expected
