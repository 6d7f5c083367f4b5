"""The files that name versions agree, and the commands, links and code of the pages are right."""

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
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
RUNTIME = [Requirement(line) for line in (*PROJECT["dependencies"], *EXTRAS["workflow"])]
PATTERNS = ("*.md", "[a-z]*/README.md", "docs/**/*.md", "results/reference/*.md")
PAGES = sorted({page for pattern in PATTERNS for page in ROOT.glob(pattern)})
# The installation builds the package with what the environment has.
BUILD = PYPROJECT["build-system"]["requires"]
PINNED = [Requirement(line) for line in (*EXTRAS["dev"], *EXTRAS["docs"], *BUILD)]


def conda_specifications() -> dict[str, str]:
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    return {name: version for name, _, version in (line.partition(" ") for line in lines)}


def pins() -> dict[str, str]:
    files = (ROOT / "requirements.txt", ROOT / "docs" / "requirements.txt")
    lines = [line for file in files for line in file.read_text().splitlines()]
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def test_conda_and_pip_name_the_same_packages_and_ranges() -> None:
    expected = {CONDA_NAMES.get(req.name, req.name): str(req.specifier) for req in RUNTIME}
    expected |= {"python": PROJECT["requires-python"], "pip": ""}
    assert conda_specifications() == expected


@pytest.mark.parametrize("requirement", RUNTIME + PINNED, ids=lambda requirement: requirement.name)
def test_the_pinned_version_is_in_the_range(requirement: Requirement) -> None:
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


def test_every_pin_is_a_plain_version() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.]*", line) for line in lines)


def test_the_pages_name_existing_targets() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.M))
    assert {"demo", "test", "paper", "report", "ui", "check"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in targets)


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_of_a_page_resolves(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text)
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_images_of_the_pages_are_small() -> None:
    images = list((ROOT / "docs" / "images").iterdir())
    assert images
    assert all(image.stat().st_size <= 100_000 for image in images)


def test_the_library_example_of_the_readme_runs(tmp_path: Path) -> None:
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", example]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert float(done.stdout) > 0.7
    shown = re.search(r"^print\(.*\)  # ([0-9.]+)$", example, re.M).group(1)
    assert float(done.stdout) == pytest.approx(float(shown), abs=0.1)
    assert (tmp_path / "dekm.safetensors").is_file()
