"""Another user of the machine, who takes the name of the folder of GPU locks before its owner does."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dekm.experiment import gpus
from dekm.experiment.gpus import VARIABLE, reserved_gpu
from tests.helpers.gpus import fake_gpus

NOBODY = 65534
TRAPS = {
    "folder": "mkdir -m 777 {name}; ln -s {victim} {name}/.GPU-a.lock",
    "link": "ln -s {folder} {name}",
    "file": "touch {name}",
    "folder that is closed": "mkdir -m 000 {name}",
}


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder of temporary files in which every user can write."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_a_trap_of_another_user_stops_no_job_and_overwrites_nothing(
    trap: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs the right to act as another user")
    victim = tmp_path / "victim"
    victim.write_text("of the victim")
    name = shared / f"dekm-gpus-{os.geteuid()}"
    command = trap.format(name=name, victim=victim, folder=tmp_path)
    subprocess.run(["sh", "-c", command], user=NOBODY, group=NOBODY, extra_groups=[], check=True)
    monkeypatch.setattr(gpus, "LOCKS", shared)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", f"{fake_gpus(tmp_path / 'bin', {'GPU-a': 0})}{os.pathsep}{os.environ['PATH']}")
    with reserved_gpu("auto", "test"):
        assert os.environ[VARIABLE] == "GPU-a"
    assert victim.read_text() == "of the victim"
    assert (tmp_path / "home/.cache/dekm/gpus/.GPU-a.lock").is_file()
    assert not (tmp_path / ".GPU-a.lock").exists()
