"""The files that name versions agree, and the commands of the README exist."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME = [
    Requirement(line) for line in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["workflow"])
]
DEVELOPMENT = [Requirement(line) for line in PROJECT["optional-dependencies"]["dev"]]


def conda_specifications() -> dict[str, str]:
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    return {name: version for name, _, version in (line.partition(" ") for line in lines)}


def pins() -> dict[str, str]:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def test_conda_and_pip_name_the_same_packages_and_ranges() -> None:
    expected = {CONDA_NAMES.get(req.name, req.name): str(req.specifier) for req in RUNTIME}
    expected |= {"python": PROJECT["requires-python"], "pip": ""}
    assert conda_specifications() == expected


@pytest.mark.parametrize("requirement", RUNTIME + DEVELOPMENT, ids=lambda requirement: requirement.name)
def test_the_pinned_version_is_in_the_range(requirement: Requirement) -> None:
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


def test_every_pin_is_a_plain_version() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.]*", line) for line in lines)


def test_the_readme_names_existing_targets_and_files() -> None:
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^make ([a-z]+)", readme, re.M)) | set(re.findall(r"`make ([a-z]+)`", readme))
    assert {"demo", "test", "paper", "ui", "check"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in targets)
    assert all((ROOT / link).exists() for link in re.findall(r"\]\(([a-z][^):]*)\)", readme))


def test_the_library_example_of_the_readme_runs(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", example]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.7
    assert (tmp_path / "dekm.safetensors").is_file()
