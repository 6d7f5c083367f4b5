"""The workflow as a module of another one, as snakedeploy sets it up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.helpers.workspace import ROOT, TINY

SNAKEFILE = """
configfile: "config/config.yaml"


module dekm:
    snakefile:
        gitfile("{repository}", path="workflow/Snakefile", commit="{commit}")
    config:
        config


use rule * from dekm{names}
"""


def git(*command: str) -> str:
    return subprocess.run(["git", *command], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a clone of the project")
@pytest.mark.parametrize("names", ["", " as dekm_*"])
def test_a_module_from_git_runs_with_the_package_of_its_commit(names: str, tmp_path: Path) -> None:
    repository, folder = tmp_path / "repository", tmp_path / "mine"
    git("clone", "-q", "--no-checkout", str(ROOT), str(repository))
    commit = git("-C", str(repository), "rev-parse", "HEAD")
    (folder / "config").mkdir(parents=True)
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(TINY), encoding="utf-8")
    snakefile = SNAKEFILE.format(repository=repository, commit=commit, names=names)
    (folder / "Snakefile").write_text(snakefile, encoding="utf-8")
    target = folder / "results/tiny/data/digits/facts.json"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--workflow-profile", "none"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*command, str(target.relative_to(folder))],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert json.loads(target.read_text(encoding="utf-8"))["subsample"] == 300
    (clone,) = (folder / ".snakemake").glob("dekm-*")
    assert clone.name == f"dekm-{commit}"
    assert git("-C", str(clone), "status", "--porcelain") == ""
    assert (
        json.loads(next((folder / "results").glob("*/settings/prepare/*.json")).read_text())["subsample"]
        == 300
    )
