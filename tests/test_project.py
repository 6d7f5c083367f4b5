"""The files around the code that reviewers ask for: their links, their versions, their descriptions."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "docs/checklists.md", "docs/releasing.md")
SCHEMA = yaml.safe_load((ROOT / "config" / "config.schema.yaml").read_text())


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:tests|dekm|docs|workflow|config)/[\w/.]+)`", text)
    assert not [path for path in paths if not (ROOT / path).exists()]


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


def test_hosted_checks_run_what_the_project_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert any(".ci/run" in step for step in steps)
    actions = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in actions)
