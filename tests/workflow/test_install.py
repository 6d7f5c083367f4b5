"""What `make` runs to install the project, with a script in place of Python that notes it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
echo "$@" >> commands
case "$*" in
*"-m venv"*) mkdir -p .venv/bin && rm -f .venv/bin/python && cp "$0" .venv/bin/python ;;
*"show --quiet torch"*) exit "$NO_TORCH" ;;
*"pip --version"*) exit "$NO_PIP" ;;
*"-r .venv/requirements.txt"*) exit "$NO_NETWORK" ;;
esac
"""
WORKS = {"NO_TORCH": "1", "NO_PIP": "0", "NO_NETWORK": "0"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project without .venv."""
    (tmp_path / "requirements.txt").write_text("numpy==2.4.6\ntorch==2.13.0\ntorchfoo==1\n")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def install(project: Path, **environment: str) -> list[str]:
    """Run the installation; what was run, without the check of the version of Python."""
    command = ["make", "--file", str(ROOT / "Makefile"), "PYTHON=./python", ".venv/installed"]
    environment = os.environ | WORKS | environment
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
    commands = (project / "commands").read_text().splitlines()
    return [line.replace(" --disable-pip-version-check", "") for line in commands if "sys.exit" not in line]


def test_an_environment_is_made_and_gets_the_locked_versions(project: Path) -> None:
    assert install(project) == [
        "-m venv --clear .venv",
        "-m pip --version",
        "-m pip show --quiet torch",
        "-m pip install --no-compile -r .venv/requirements.txt",
        "-W ignore -m compileall -q -j 0 .venv/lib",
        "-m pip install --no-build-isolation -c .venv/requirements.txt -e .",
    ]
    assert (project / ".venv/requirements.txt").read_text() == (project / "requirements.txt").read_text()
    assert (project / ".venv/installed").exists()


def test_a_pytorch_in_the_environment_is_kept(project: Path) -> None:
    assert "-m pip install --no-build-isolation -c .venv/requirements.txt -e ." in install(
        project, NO_TORCH="0"
    )
    assert (project / ".venv/requirements.txt").read_text() == "numpy==2.4.6\ntorchfoo==1\n"


def test_an_environment_without_pip_gets_it(project: Path) -> None:
    assert "-I -m ensurepip" in install(
        project, NO_PIP="1"
    )  # as uv makes it, or a Python that lacked ensurepip


def test_an_environment_whose_python_was_removed_is_made_again(project: Path) -> None:
    (project / ".venv/bin").mkdir(parents=True)
    (project / ".venv/bin/python").symlink_to("/usr/bin/python3.0")
    assert install(project)[0] == "-m venv --clear .venv"


def test_what_could_not_be_installed_is_tried_again(project: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        install(project, NO_NETWORK="1")
    assert not (project / ".venv/installed").exists()
    assert install(project)[-1].endswith("-e .")


@pytest.mark.parametrize(("target", "is_made"), [("/usr/bin/python3.0", True), (sys.executable, False)])
def test_make_installs_again_where_the_python_was_removed(tmp_path: Path, target: str, is_made: bool) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(target)
    for name in ("requirements.txt", "pyproject.toml", ".venv/installed"):
        (tmp_path / name).touch()
    make = ["make", "--dry-run", "--file", ROOT / "Makefile", ".venv/installed"]
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ("pip" in done.stdout) is is_made


def test_a_python_that_does_not_exist_is_one_line() -> None:
    make = ["make", "--always-make", "--no-print-directory", "PYTHON=no-such-python", ".venv/installed"]
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stdout.startswith("Python >= 3.11 is needed; no-such-python is ")
    assert done.stderr.count("\n") == 1  # that of make itself
