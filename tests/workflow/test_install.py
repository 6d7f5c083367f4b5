"""What the installation shows, and what it says when something is missing."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "workflow/terminal/install.py"


@pytest.fixture(scope="module")
def script() -> Any:
    specification = spec_from_file_location("install", SCRIPT)
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


OUTPUT = """\
Collecting numpy==2.4.6
  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl (16.9 MB)
Collecting wcwidth==0.9.4
  Downloading wcwidth-0.9.4-py3-none-any.whl (500 kB)
Collecting torch==2.13.0
  Using cached torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (190.1 MB)
"""


def test_the_progress_tells_packages_megabytes_and_what_is_fetched(script: Any) -> None:
    progress = script.Progress(177)
    for line in OUTPUT.splitlines():
        progress.read(line)
    assert progress.describe() == "  3 of 177 packages, 17 MB; fetching wcwidth, 500 kB"
    progress.read("Installing collected packages: numpy, wcwidth, torch\n")
    assert progress.describe().endswith("; all are fetched and are being unpacked")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "disk is full",
        ),
        ("ERROR: No matching distribution found for torch==2.13.0", "does not resolve on this platform"),
        ("  error: command 'gcc' failed: No such file or directory", "a C compiler"),
        (
            "  ERROR: Failed building wheel for immutables",
            "headers (gcc, python3-dev) are needed: ERROR: Failed",
        ),
        ("ERROR: Something new", "pip failed: ERROR: Something new"),
    ],
)
def test_a_failure_is_one_line(script: Any, line: str, text: str) -> None:
    explained = script.explain(["Collecting scipy", line, "note: see above"])
    assert text in explained
    assert "\n" not in explained


NO_INDEX = """\
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError('Failed to \
establish a new connection: [Errno -2] Name or service not known')': /simple/numpy/
ERROR: Could not find a version that satisfies the requirement numpy==2.4.6 (from versions: none)
ERROR: No matching distribution found for numpy==2.4.6
"""
CRASH = "ERROR: Exception:\nTraceback (most recent call last):\nReadTimeoutError: Read timed out.\n"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (NO_INDEX, "could not be fetched: 'NewConnectionError('Failed to establish a new connection: [Errno"),
        (CRASH, "pip failed: ReadTimeoutError: Read timed out."),
        ("/home/.venv/bin/python: No module named pip\n", "pip failed: /home/.venv/bin/python: No module"),
        ("", "pip failed: it printed nothing"),
    ],
)
def test_a_failure_is_explained_by_what_pip_printed_before(script: Any, output: str, text: str) -> None:
    assert text in script.explain(output.splitlines())


@pytest.fixture
def folder(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of .venv in an empty project."""
    monkeypatch.setattr(script, "FOLDER", tmp_path / ".venv")
    monkeypatch.setattr(script, "PYTHON", tmp_path / ".venv/bin/python")
    return tmp_path / ".venv"


@pytest.fixture
def ran(script: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was run in .venv, in place of which nothing happens; there is no pip."""
    found: list[Any] = []

    def run(command: list[Any], **_: Any) -> SimpleNamespace:
        found.append(command[-1])
        return SimpleNamespace(returncode=command[-1] == "import pip")

    monkeypatch.setattr(script.subprocess, "run", run)
    return found


def test_an_environment_without_pip_gets_it(script: Any, folder: Path, ran: list[Any]) -> None:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()  # as uv makes it, or a Python that lacked ensurepip
    script.make_environment()
    assert ran == ["import pip", "--default-pip"]
    assert (folder / "bin" / "python").read_text() == ""


def test_an_environment_whose_python_was_removed_is_made_again(
    script: Any, folder: Path, ran: list[Any]
) -> None:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to("/usr/bin/python3.0")
    script.make_environment()
    assert (folder / "bin" / "python").exists()


@pytest.mark.parametrize(("target", "is_made"), [("/usr/bin/python3.0", True), (sys.executable, False)])
def test_make_installs_again_where_the_python_was_removed(tmp_path: Path, target: str, is_made: bool) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(target)
    for name in ("requirements.txt", "pyproject.toml", ".venv/installed"):
        (tmp_path / name).touch()
    make = ["make", "--dry-run", "--file", SCRIPT.parents[2] / "Makefile", ".venv/installed"]
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ("install.py" in done.stdout) is is_made


@pytest.mark.parametrize("name", ["a:b", "file"])
def test_a_place_that_can_hold_no_environment_is_one_line(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(script, "FOLDER", tmp_path / name)
    monkeypatch.setattr(script, "PYTHON", tmp_path / name / "bin" / "python")
    with pytest.raises(script.InstallError, match=r"^\S+ cannot be made: [^\n]+$"):
        script.make_environment()


def test_a_python_that_does_not_exist_is_one_line() -> None:
    make = ["make", "--always-make", "--no-print-directory", "PYTHON=no-such-python", ".venv/installed"]
    done = subprocess.run(make, cwd=SCRIPT.parents[2], capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stdout.startswith("Python >= 3.11 is needed; no-such-python is ")
    assert done.stderr.count("\n") == 1  # that of make itself


@pytest.mark.parametrize("torch", ["", "2.13.0+cpu"])
def test_an_environment_without_pytorch_needs_disk_for_it(
    script: Any, monkeypatch: pytest.MonkeyPatch, torch: str
) -> None:
    def go_on() -> None:
        raise script.InstallError("the disk suffices")

    monkeypatch.setattr(script, "installed_torch", lambda: torch)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=5 * 10**9))
    monkeypatch.setattr(script, "make_environment", go_on)
    message = "the disk suffices" if torch else "The installation needs 6 GB of disk; 5.0 GB are free in"
    with pytest.raises(SystemExit, match=message):
        script.main()


def test_no_environment_has_no_pytorch(script: Any, folder: Path) -> None:
    assert not folder.exists()
    assert script.installed_torch() == ""


@pytest.mark.parametrize(("installed", "n"), [("", 2), ("2.1.0", 2), ("2.20.1+cpu", 1), ("3.0.0", 1)])
def test_a_pytorch_within_the_bounds_is_kept(script: Any, installed: str, n: int) -> None:
    assert len(script.without_kept_torch(["numpy==2.4.6", "torch==2.13.0"], installed)) == n
