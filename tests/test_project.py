"""The files around the code that reviewers ask for: their links, their versions, their descriptions."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dekm.cli.parser import make_parser
from dekm.experiment.schema import read_schema
from tests.mutants.planted import MUTANTS

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "docs/checklists.md", "docs/releasing.md")
SCHEMA = read_schema(ROOT / "config" / "config.schema.yaml")


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:tests|dekm|docs|workflow|config)/[\w/.]+)`", text)
    assert not [path for path in paths if not (ROOT / path).exists()]


def commands_of_pages() -> list[str]:
    """Every command of the package in the blocks of the pages."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md"), *ROOT.glob("[a-z]*/README.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages).replace("\\\n", " ")
    return sorted(set(re.findall(r"^python -m dekm (.+)$", text, re.M)))


@pytest.mark.parametrize("command", commands_of_pages())
def test_every_command_of_a_page_has_arguments_that_exist(command: str) -> None:
    make_parser("python -m dekm").parse_args(shlex.split(command, comments=True))


def fragments(message: str) -> Iterator[str]:
    """The parts of a message that are the same in each of its forms."""
    for part in re.split(r"\.\.\.|'[^']*'|\w+=", message):
        if " " in part.strip(" :,.;"):
            yield part.strip(" :,.;")


def test_the_page_on_messages_quotes_those_of_the_code() -> None:
    files = [*(ROOT / "dekm").rglob("*.py"), *(ROOT / "workflow").rglob("*.py")]
    source = re.sub(r'"\s*\n\s*f?"', "", "\n".join(file.read_text(encoding="utf-8") for file in files))
    page = (ROOT / "docs" / "how-to" / "messages.md").read_text(encoding="utf-8")
    quoted = re.findall(r"`([^`]+)`", "\n".join(re.findall(r"^\| (.+?) \| ", page, re.M)))
    foreign = ("command not found", "cannot be locked", "No space left", "File too large")
    own = [message for message in quoted if not any(part in message for part in foreign)]
    assert len(own) > 30
    assert [part for message in own for part in fragments(message) if part not in source] == []


def test_the_catalogue_of_workflows_knows_what_the_workflow_offers() -> None:
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    offered = usage["software-stack-deployment"]
    rules = "\n".join(file.read_text() for file in (ROOT / "workflow").rglob("*.smk"))
    assert offered["conda"] == ("conda:" in rules)
    assert offered["apptainer"] == ("container:" in rules + (ROOT / "workflow" / "Snakefile").read_text())
    assert offered["report"] == ("report(" in rules)


def undescribed(schema: Any, place: str = "") -> Iterator[str]:
    """Every property of a schema that has neither a description nor a reference."""
    if isinstance(schema, dict):
        for name, part in (schema.get("properties") or {}).items():
            if not {"description", "$ref"} & part.keys():
                yield f"{place}.{name}"
        for name, part in schema.items():
            yield from undescribed(part, f"{place}.{name}")
    elif isinstance(schema, list):
        for part in schema:
            yield from undescribed(part, place)


def test_every_key_of_the_configuration_has_a_description() -> None:
    assert not list(undescribed(SCHEMA))


def test_classifiers_nox_and_hosted_checks_name_the_same_pythons() -> None:
    found = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (line,) = re.findall(r"^PYTHONS = (.*)$", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.M)
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    assert found == json.loads(line) == workflow["jobs"]["linux"]["strategy"]["matrix"]["python"]


def test_hosted_checks_run_what_the_project_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert any(".ci/run" in step for step in steps)


@pytest.mark.parametrize(("links", "version"), [("", "2.13.0"), ("/wheels", "2.13.0+cu130")])
def test_the_lower_bounds_are_tested_with_a_pytorch_that_the_index_has(
    links: str, version: str, tmp_path: Path
) -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (script,) = re.findall(r"^    (label=.*?^PYTHON)$", script, re.M | re.S)
    (tmp_path / "torch.py").write_text("__version__ = '2.13.0+cu130'")
    (tmp_path / ".nox").mkdir()
    script = script.replace(".venv/bin/python", shlex.quote(sys.executable))
    environment = {"PIP_FIND_LINKS": links, "PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / ".nox/constraint.txt").read_text() == f"torch=={version}\n"


def test_every_planted_change_applies_to_the_code_and_names_tests_that_exist() -> None:
    for mutant in MUTANTS:
        text = (ROOT / "dekm" / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, mutant
        compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")
        assert mutant.tests, mutant
        assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.tests), mutant


def test_hosted_checks_run_pinned_actions_and_sessions_that_exist() -> None:
    sessions = re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(encoding="utf-8"), re.M)
    for file in (ROOT / ".github" / "workflows").iterdir():
        jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values()
        steps = [step for job in jobs for step in job["steps"]]
        actions = [step["uses"] for step in steps if "uses" in step]
        assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in actions), file
        named = [name for step in steps for name in re.findall(r"nox -s (\w+)", step.get("run", ""))]
        assert set(named) <= set(sessions), file


def test_the_workflow_needs_the_snakemake_of_the_package() -> None:
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [text for texts in metadata["optional-dependencies"].values() for text in texts]
    (needed,) = [found[1] for text in texts if (found := re.fullmatch(r"snakemake\[\w+\]>=([0-9.]+)", text))]
    for file in ("Snakefile", "workflow/Snakefile"):
        found = re.findall(r'min_version\("([0-9.]+)"\)', (ROOT / file).read_text(encoding="utf-8"))
        assert found == ([needed] if file.startswith("workflow") else [])


def test_the_help_of_make_fits_a_terminal_of_80_columns() -> None:
    text = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "make demo" in text
    assert [line for line in text.splitlines() if len(line) > 79] == []
