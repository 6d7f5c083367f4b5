"""A published set that grows: the runs of several machines in one set of tables."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dekm.cli import main
from dekm.errors import InputError
from dekm.files import write_manifest
from dekm.tables.publication import publish
from tests.helpers.handmade import make_history, write_data, write_facts, write_run, write_seed, write_summary

PAPER = Path(__file__).parents[2] / "resources" / "paper"
METHODS = ["k_means", "dec", "dekm"]
SCORES = {
    ("usps", "k_means"): [0.66, 0.67, 0.68],
    ("usps", "dec"): [0.71, 0.75, 0.73],
    ("usps", "dekm"): [0.79, 0.80, 0.78],
    ("mnist", "dekm"): [0.94, 0.95, 0.96],
}
WARNING = "UserWarning: the labels did not settle"
Part = dict[tuple[str, str], list[int]]


def write_part(results: Path, part: Part, **facts: object) -> Path:
    """The results of a machine that ran these seeds of these cells, with the data and the plan of all."""
    for dataset in ("usps", "mnist"):
        write_facts(results, dataset)
    for (dataset, method), seeds in part.items():
        cell = write_summary(results, dataset, method, [])
        for seed in seeds:
            acc = SCORES[dataset, method][seed]
            known = {"pretrained": "" if method == "k_means" else f"ae{seed}", **facts}
            known |= {"warnings": [WARNING]} if (method, seed) == ("dec", 1) else {}
            folder = write_seed(results, dataset, method, seed, {"acc": acc, "nmi": acc / 2}, **known)
            make_history([0.1, acc]).to_csv(folder / "history.csv", index=False)
            write_manifest(folder)
        counted = {str(seed): {"key": "x", "id": f"{dataset}{method}{seed}"} for seed in seeds}
        (cell / "summary.json").write_text(json.dumps({"seeds": counted}))
    cells = [
        {"stage": "cluster", "dataset": dataset, "subject": method, "label": method, "seeds": [0, 1, 2]}
        for dataset, method in SCORES
    ]
    plan = {"written": "now", "cells": cells, "left_out": {}, "protocol": "paper-12345678"}
    (results / "plan.json").write_text(json.dumps(plan))
    return results


ALL: Part = {cell: [0, 1, 2] for cell in SCORES}
FIRST: Part = {
    ("usps", "k_means"): [0, 1, 2],
    ("usps", "dec"): [1],
    ("usps", "dekm"): [0, 1],
    ("mnist", "dekm"): [0],
}
SECOND: Part = {("usps", "dec"): [0, 2], ("usps", "dekm"): [2], ("mnist", "dekm"): [1, 2]}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    publish(write_part(folder / "paper", FIRST), folder / "set", PAPER, METHODS)
    return folder / "set"


@pytest.fixture
def out(tmp_path: Path, first: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "set"))


def test_parts_of_two_machines_give_the_set_of_one(out: Path, tmp_path: Path) -> None:
    publish(write_part(tmp_path / "one" / "paper", ALL), tmp_path / "whole", PAPER, METHODS)
    publish(write_part(tmp_path / "two" / "paper", SECOND), out, PAPER, METHODS, extend=True)
    assert contents(out) == contents(tmp_path / "whole")
    table = (out / "table3.md").read_text()
    assert "79.00 ± 1.00" in table  # DEKM on USPS, of both machines
    assert f"1 of 3 seeds warn, seed 1: {WARNING}" in table
    assert (out / "README.md").read_text().endswith("## Missing\n\nNothing.\n")


def test_without_extending_the_set_is_replaced(out: Path, tmp_path: Path) -> None:
    publish(write_part(tmp_path / "paper", SECOND), out, PAPER, METHODS)
    assert set(pd.read_csv(out / "runs.csv")["subject"]) == {"dec", "dekm"}
    assert not (out / "history" / "usps-k_means-s0.csv").exists()


def test_a_seed_that_both_have_is_that_of_the_results(out: Path, tmp_path: Path) -> None:
    results = write_part(tmp_path / "paper", {("usps", "dekm"): [0]}, commit="facade")
    publish(results, out, PAPER, METHODS, extend=True)
    runs = pd.read_csv(out / "runs.csv").set_index(["dataset", "subject", "seed"])
    assert runs.loc["usps", "dekm"]["commit"].to_dict() == {0: "facade", 1: "c0ffee"}
    text = (out / "README.md").read_text()
    assert "- commit: facade; " in text
    assert "- commit: c0ffee; " in text
    assert "- mnist: dekm (1 of 3 seeds)" in text


def test_the_order_of_settings_does_not_matter(tmp_path: Path) -> None:
    for seed, settings in enumerate(({"lr": 1, "tol": 2}, {"tol": 2, "lr": 1})):
        part = write_part(tmp_path / str(seed), {("usps", "dekm"): [seed]}, settings=settings)
        publish(part, tmp_path / "set", PAPER, METHODS, extend=bool(seed))
    assert len(pd.read_csv(tmp_path / "set" / "runs.csv")) == 2


def test_a_cell_that_stays_keeps_its_note_on_other_settings(tmp_path: Path) -> None:
    deviations = {("usps", "dekm"): "lr 0.1 instead of 0.001"}
    first = write_part(tmp_path / "first", {("usps", "dekm"): [0]})
    publish(first, tmp_path / "set", PAPER, METHODS, deviations=deviations)
    publish(
        write_part(tmp_path / "second", {("usps", "dec"): [0]}), tmp_path / "set", PAPER, METHODS, extend=True
    )
    assert "lr 0.1 instead of 0.001" in (tmp_path / "set" / "table3.md").read_text()


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"settings": {"lr": 1}}, "seed 1 of dec on usps was made with settings {}, not {'lr': 1}"),
        ({"data": "other"}, "seed .* was made with data 'usps', not 'other'"),
        ({"protocol": "june2021-1"}, "with protocol 'paper-12345678', not 'june2021-1'"),
        ({"unprepared": "mnist"}, "has seeds on mnist, of which .* has no prepared data"),
    ],
)
def test_seeds_of_another_experiment_do_not_stay_and_nothing_changes(
    facts: dict, expected: str, out: Path, tmp_path: Path
) -> None:
    before = contents(out)
    results = tmp_path / "paper"
    known = {name: value for name, value in facts.items() if name in ("settings", "data")}
    write_part(results, {("usps", "dec"): [0, 2]}, **known)
    if "data" in facts:
        write_facts(results, "usps", digest=facts["data"])
    if "protocol" in facts:
        plan = json.loads((results / "plan.json").read_text())
        (results / "plan.json").write_text(json.dumps(plan | facts))
    if "unprepared" in facts:
        shutil.rmtree(results / "data" / facts["unprepared"])
    with pytest.raises(InputError, match=expected):
        publish(results, out, PAPER, METHODS, extend=True)
    assert contents(out) == before


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("warnings", None, "another version: it lacks the columns warnings"),
        ("warnings", '["a", 1]', "should be a JSON list of texts"),
        ("warnings", '["\\u202e"]', "should be a JSON list of texts"),
        ("settings", "[]", "settings='\\[]' should be a JSON object"),
        ("settings", "x" * 10_001, "should be a text of at most 10000 characters"),
        ("acc", 1.5, r"acc=1.5 should be in \[0, 1\]"),
    ],
)
def test_a_set_with_values_that_no_seed_has_is_not_extended(
    column: str, value: object, expected: str, out: Path, tmp_path: Path
) -> None:
    runs = pd.read_csv(out / "runs.csv")
    runs = runs.drop(columns=column) if value is None else runs.assign(**{column: value})
    runs.to_csv(out / "runs.csv", index=False)
    write_manifest(out)
    with pytest.raises(InputError, match=expected):
        publish(write_part(tmp_path / "paper", SECOND), out, PAPER, METHODS, extend=True)


def test_the_command_extends_a_set(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write_part(tmp_path / "paper", SECOND)
    command = ["publish", str(results), str(out), "--paper", str(PAPER), "--extend"]
    assert main(command) == 0
    assert len(pd.read_csv(out / "runs.csv")) == 12
    assert main([*command[:2], str(tmp_path / "none"), *command[3:]]) == 1
    assert "should be a published set of results; it holds no runs.csv" in capsys.readouterr().err


def test_partitions_of_a_dataset_of_which_seeds_stay_are_not_compared(tmp_path: Path) -> None:
    """A published set has no partitions, so measures of them would be of a part of the seeds."""
    labels, H, out = np.array([0, 0, 1, 1]), np.array([[0.0], [1.0], [8.0], [9.0]]), tmp_path / "set"
    for seed, name in enumerate(("first", "second")):
        results = tmp_path / name
        folder = write_data(results, "mine", H, None)
        facts = json.loads((folder / "facts.json").read_text()) | {"class_counts": None, "n_samples": 4}
        (folder / "facts.json").write_text(json.dumps(facts))
        history = make_history([0.1, 0.2])
        run = write_run(results, "mine", "dekm", labels, H, history, seed)
        (run / "metrics.json").write_text(json.dumps({"seconds": 1.0, "silhouette": 0.2 + seed / 10}))
        write_manifest(run)
        counted = {str(seed): {"key": "x", "id": f"minedekm{seed}"}}
        (run.parent / "summary.json").write_text(json.dumps({"seeds": counted}))
        publish(results, out, PAPER, ["dekm"], extend=name == "second")
        assert (out / "partitions.md").exists() == (name == "first")
    assert "0.250 ± 0.071" in (out / "table3.md").read_text()
