"""The reference names everything, and every entry of the traceability exists."""

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytest.importorskip("numpydoc", reason="needs the packages of docs/requirements.txt")

from dekm.errors import InputError
from docs.extension import (
    api,
    command_line,
    configuration,
    links,
    results_files,
    sources,
    traceability,
    tracking,
)


@pytest.mark.parametrize("entry", traceability.entries(), ids=lambda entry: f"{entry.method}, {entry.place}")
def test_every_entry_of_the_traceability_exists(entry: traceability.Entry) -> None:
    entry.check()
    assert entry.code
    assert entry.tests


@pytest.mark.parametrize(
    ("code", "test", "named"),
    [
        ("dekm.metrics:accuracies", "tests/test_metrics.py::test_accuracy_by_hand", "accuracies"),
        ("dekm.metrics:accuracy", "tests/test_metrics.py::test_accuracy_by_foot", "test_accuracy_by_foot"),
        ("dekm.metrics:accuracy", "tests/test_metric.py::test_accuracy_by_hand", "test_metric.py"),
    ],
)
def test_a_renamed_function_or_test_is_named(code: str, test: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        traceability.Entry("DEKM", "Equation (9)", "", (code,), (test,)).check()


def test_every_public_name_and_parameter_is_described() -> None:
    assert api.undescribed() == []


def test_every_argument_of_the_command_line_is_described() -> None:
    assert command_line.undescribed() == []


def test_every_key_of_the_configuration_is_described() -> None:
    assert configuration.undescribed() == ""


def test_a_name_without_a_description_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(a: int) -> int:
        """Return it.

        Parameters
        ----------
        a : int
        """
        return a

    monkeypatch.setattr(api, "_load", lambda name: f)
    assert api.undescribed()[0] == "dekm.DCN does not describe a"


def test_a_result_that_the_reference_does_not_know_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "digits" / "dekm" / "seed0"
    folder.mkdir(parents=True)
    (folder / "history.csv").write_text("n_iter,loss,luck\n0,1,1\n")
    (folder / "labels.npy").touch()
    (folder / "guess.npy").touch()
    assert results_files.unknown(tmp_path) == [
        "runs/digits/dekm/seed0/guess.npy is not in results.yaml",
        "runs/digits/dekm/seed0/history.csv: the column luck is not in results.yaml",
    ]


def test_a_tag_that_the_reference_does_not_know_is_named() -> None:
    assert tracking.unknown("tags", ["key", "mlflow.user", "mood"]) == {"mood"}
    assert tracking.unknown("metrics", ["train/loss", "acc", "luck"], ["acc"]) == {"luck"}


def test_dead_links_and_loaded_addresses_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="#top"></a><a href="b.html"></a><a href="#end"></a><a href="https://x.org">'
        '<script src="https://x.org/y.js"></script>'
    )
    assert list(links.problems(tmp_path)) == [
        "a.html links to b.html, which does not exist",
        "a.html links to #end, which has no such heading",
        "a.html loads https://x.org/y.js",
    ]


def test_the_source_of_a_method_is_found_where_it_is_defined() -> None:
    file, line = sources.place("dekm", "DEKM.predict")
    assert file == "dekm/methods/base.py"
    assert "def predict" in (sources.ROOT / file).read_text(encoding="utf-8").splitlines()[line - 1]


def test_the_pins_of_the_site_are_in_the_ranges_of_what_it_needs() -> None:
    project = tomllib.loads((sources.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (sources.ROOT / "docs" / "requirements.txt").read_text(encoding="utf-8").split()
    pins = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    for requirement in map(Requirement, project["optional-dependencies"]["docs"]):
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement


def test_the_catalogues_have_a_meaning_for_every_name() -> None:
    for file in (results_files.CATALOGUE, tracking.CATALOGUE):
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        texts = [text for block in content.values() if isinstance(block, dict) for text in block.values()]
        assert all(isinstance(text, str) and text for text in texts)
