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
from dekm.results.published import read_published
from dekm.tables.publication import publish
from tests.helpers.handmade import (
    MADE,
    make_history,
    write_data,
    write_facts,
    write_run,
    write_seed,
    write_summary,
)

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
            if known["pretrained"]:
                write_autoencoder(results, dataset, seed)
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


def write_autoencoder(results: Path, dataset: str, seed: int, **facts: object) -> None:
    folder = results / "pretrained" / dataset / "mlp" / f"seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    known = {**MADE, "dataset": dataset, "architecture": "mlp", "seed": seed, "data": dataset, "id": "x"}
    (folder / "facts.json").write_text(json.dumps(known | {"key": f"ae{seed}"} | facts))
    (folder / "metrics.json").write_text(json.dumps({"seconds": 1.0, "loss": 0.1 + 0.2}))
    for name in ("loss.csv", "autoencoder.safetensors"):
        (folder / name).write_text(f"{name} of {facts}")
    write_manifest(folder)


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


def test_a_failed_seed_replaces_no_result(out: Path, tmp_path: Path) -> None:
    results = write_part(tmp_path / "paper", {("usps", "dekm"): [0]}, failed="it diverged")
    before = contents(out)
    with pytest.raises(InputError, match="has a result of seed 0 of dekm on usps, which failed here"):
        publish(results, out, PAPER, METHODS, extend=True)
    assert contents(out) == before


def test_a_failed_seed_stays_in_an_extended_set_until_there_is_a_result(out: Path, tmp_path: Path) -> None:
    failed = write_part(tmp_path / "first" / "paper", {("usps", "dekm"): [2]}, failed="it diverged")
    publish(failed, out, PAPER, METHODS, extend=True)
    assert "2 of 3 seeds; seed 2 failed: it diverged" in (out / "table3.md").read_text()
    publish(write_part(tmp_path / "second" / "paper", SECOND), out, PAPER, METHODS, extend=True)
    assert "diverged" not in (out / "table3.md").read_text()


def test_without_extending_the_set_is_replaced(out: Path, tmp_path: Path) -> None:
    publish(write_part(tmp_path / "paper", SECOND), out, PAPER, METHODS)
    assert set(pd.read_csv(out / "runs.csv")["subject"]) == {"dec", "dekm", "mlp"}
    assert not (out / "history" / "usps-k_means-s0.csv").exists()


def test_the_figures_are_those_of_the_tables_of_both(out: Path, tmp_path: Path) -> None:
    (out / "figures").mkdir()
    for name in ("cost", "ranks", "fig3"):
        (out / "figures" / f"{name}.png").write_bytes(b"old")
    results = write_part(tmp_path / "paper", {("usps", "dekm"): [0]})

    def draw(folder: Path) -> None:
        assert set(pd.read_csv(folder / "table3.csv")["dataset"]) == {"usps", "mnist"}
        (folder / "figures").mkdir()
        (folder / "figures" / "cost.png").write_bytes(b"new")

    publish(results, out, PAPER, METHODS, draw=draw, extend=True)
    found = {file.name: file.read_bytes() for file in (out / "figures").iterdir()}
    assert found == {"cost.png": b"new", "fig3.png": b"old"}


def test_a_seed_that_both_have_is_that_of_the_results(out: Path, tmp_path: Path) -> None:
    results = write_part(tmp_path / "paper", {("usps", "dekm"): [0]}, commit="facade")
    publish(results, out, PAPER, METHODS, extend=True)
    runs = pd.read_csv(out / "runs.csv").query("dataset == 'usps' and subject == 'dekm'")
    assert dict(zip(runs["seed"], runs["commit"], strict=True)) == {0: "facade", 1: "c0ffee"}
    text = (out / "README.md").read_text()
    assert "- commit: facade; " in text
    assert "- commit: c0ffee; " in text
    assert "- mnist: dekm: 1 of 3 seeds" in text


def test_the_order_of_settings_does_not_matter(tmp_path: Path) -> None:
    for seed, settings in enumerate(({"lr": 1, "tol": 2}, {"tol": 2, "lr": 1})):
        part = write_part(tmp_path / str(seed), {("usps", "dekm"): [seed]}, settings=settings)
        publish(part, tmp_path / "set", PAPER, METHODS, extend=bool(seed))
    assert sum(pd.read_csv(tmp_path / "set" / "runs.csv")["stage"] == "cluster") == 2


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


def test_the_run_of_figure_1_stays_without_its_data(tmp_path: Path) -> None:
    """A configuration without figures cannot prepare them, and no table needs them."""
    first, out = write_part(tmp_path / "first" / "paper", {("usps", "dec"): [0]}), tmp_path / "out"
    write_facts(first, "fig1", n_classes=4)
    write_run(first, "fig1", "dekm", [0], [[0.0]], make_history([0.1, 0.7]))
    write_summary(first, "fig1", "dekm", [{"acc": 0.7, "nmi": 0.7, "seconds": 1.0}], in_table=False)
    publish(first, out, PAPER, METHODS)
    second = write_part(tmp_path / "second" / "paper", {("usps", "dec"): [1]})
    publish(second, out, PAPER, METHODS, extend=True)
    assert (out / "history" / "fig1-dekm-s0.csv").is_file()
    assert set(pd.read_csv(out / "runs.csv").query("stage == 'cluster'")["dataset"]) == {"fig1", "usps"}
    assert set(pd.read_csv(out / "table3.csv")["dataset"]) == {"usps"}


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("warnings", None, "another version: it lacks the columns warnings"),
        ("warnings", '["a", 1]', "should be a JSON list of texts"),
        ("warnings", '["\\u202e"]', "should be a JSON list of texts"),
        ("settings", "[" * 5000, "should be a JSON object"),
        ("commit", "c\n# Heading", "should be one line of at most 300 characters"),
        ("created", "\x1b[0m", "should be one line"),
        ("settings", "[]", "settings='\\[]' should be a JSON object"),
        ("settings", "x" * 100_001, "should be a JSON object"),
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
    assert sum(pd.read_csv(out / "runs.csv")["stage"] == "cluster") == 12
    assert main([*command[:2], str(tmp_path / "none"), *command[3:]]) == 1
    assert "should be a published set of results; it holds no runs.csv" in capsys.readouterr().err


def test_a_run_of_a_cell_that_is_not_finished_counts_each_time(out: Path, tmp_path: Path) -> None:
    """As when the time of a machine ends in the middle of a cell."""
    results = write_part(tmp_path / "paper", {("usps", "dec"): [0]})
    (results / "runs" / "usps" / "dec" / "summary.json").unlink()
    for _ in range(2):
        publish(results, out, PAPER, METHODS, extend=True)
        table = pd.read_csv(out / "table3.csv").query("method == 'dec' and metric == 'acc'")
        assert table.set_index("dataset").loc["usps", ["mean", "n_seeds"]].tolist() == [73.0, 2]


def test_a_run_that_is_not_finite_does_not_count_once_it_stays(tmp_path: Path) -> None:
    first = write_part(tmp_path / "first", {("usps", "dekm"): [0, 1]})
    folder = first / "runs" / "usps" / "dekm" / "seed1"
    (folder / "metrics.json").write_text('{"seconds": 1.0, "acc": 0.1, "nmi": 0.1, "inertia": Infinity}')
    write_manifest(folder)
    publish(first, tmp_path / "set", PAPER, METHODS)
    second = write_part(tmp_path / "second", {("usps", "dec"): [0, 2]})
    publish(second, tmp_path / "set", PAPER, METHODS, extend=True)
    table = pd.read_csv(tmp_path / "set" / "table3.csv").query("method == 'dekm' and metric == 'acc'")
    assert table[["mean", "n_seeds"]].values.tolist() == [[79.0, 1]]
    assert ". 1 of 2 seeds: the others failed" in (tmp_path / "set" / "table3.md").read_text()
    assert read_published(tmp_path / "set").query("method == 'dekm'")["seed"].tolist() == [0]


def test_equal_seeds_of_two_machines_have_their_note_without_a_silhouette(tmp_path: Path) -> None:
    for seed in (0, 1):
        results = write_part(tmp_path / str(seed), {("usps", "k_means"): [seed]})
        folder = results / "runs" / "usps" / "k_means" / f"seed{seed}"
        (folder / "metrics.json").write_text('{"seconds": 1.0, "acc": 0.5, "nmi": 0.2, "silhouette": null}')
        write_manifest(folder)
        publish(results, tmp_path / "set", PAPER, METHODS, extend=bool(seed))
    assert "all 2 seeds agree to the last digit" in (tmp_path / "set" / "table3.md").read_text()


def test_a_start_that_neither_has_and_other_deviations_are_errors(out: Path, tmp_path: Path) -> None:
    before = contents(out)
    results = write_part(tmp_path / "paper", {("usps", "dec"): [0]})
    with pytest.raises(InputError, match="made with deviation '', not 'lr 1'"):
        publish(results, out, PAPER, METHODS, deviations={("usps", "dec"): "lr 1"}, extend=True)
    for seed in (0, 1):
        write_autoencoder(results, "usps", seed, key=f"other{seed}")
    with pytest.raises(InputError, match="seed 1 of dec on usps was made with an autoencoder that neither"):
        publish(results, out, PAPER, METHODS, extend=True)
    assert contents(out) == before


def test_models_and_autoencoders_of_seeds_that_are_replaced_do_not_stay(tmp_path: Path) -> None:
    first = write_part(tmp_path / "first", {("usps", "dekm"): [0], ("usps", "dec"): [1]})
    for method, seed in (("dekm", 0), ("dec", 1)):
        folder = first / "runs" / "usps" / method / f"seed{seed}"
        (folder / "model.safetensors").write_text("first")
        write_manifest(folder)
    for method in ("dekm", "dec"):
        known = {"models": method, "pretrained": "mlp", "extend": method == "dec"}
        publish(first, tmp_path / "set", PAPER, METHODS, **known)
    second = write_part(tmp_path / "second", {("usps", "dekm"): [0]})
    publish(second, tmp_path / "set", PAPER, METHODS, extend=True)
    kept = [file.name for file in (tmp_path / "set" / "models").iterdir()]
    assert sorted(kept) == ["usps-dec-s1.md", "usps-dec-s1.safetensors"]
    autoencoders = (tmp_path / "set" / "pretrained").rglob("*.safetensors")
    assert [file.parent.name for file in autoencoders] == ["seed1"]


@pytest.mark.parametrize("damage", ["truncated", "missing"])
def test_a_damaged_history_of_a_seed_that_would_stay_is_an_error(
    damage: str, out: Path, tmp_path: Path
) -> None:
    file = out / "history" / "usps-k_means-s0.csv"
    file.write_text("") if damage == "truncated" else file.unlink()
    expected = "is damaged" if damage == "truncated" else "does not exist"
    with pytest.raises(InputError, match=f"usps-k_means-s0.csv {expected}"):
        publish(write_part(tmp_path / "paper", SECOND), out, PAPER, METHODS, extend=True)


@pytest.mark.parametrize("cells", [None, [{"dataset": "usps"}], {}])
def test_a_plan_of_another_form_tells_nothing_of_what_is_missing(
    cells: object, out: Path, tmp_path: Path
) -> None:
    results = write_part(tmp_path / "paper", SECOND)
    (results / "plan.json").write_text(json.dumps({"cells": cells, "protocol": "paper-12345678"}))
    publish(results, out, PAPER, METHODS, extend=True)
    last = (out / "README.md").read_text().splitlines()[-1]
    assert last in ("Not known: there is no plan.json.", "Nothing.")


def test_an_error_on_the_way_leaves_the_set_as_it_was(out: Path, tmp_path: Path) -> None:
    before = contents(out)

    def fail(folder: Path) -> None:
        assert (folder / "table3.csv").is_file()
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        publish(write_part(tmp_path / "paper", SECOND), out, PAPER, METHODS, draw=fail, extend=True)
    assert contents(out) == before
    assert sorted(path.name for path in out.parent.iterdir()) == ["paper", "set"]


def test_texts_of_a_set_are_no_markup_and_labels_are_as_they_were(tmp_path: Path) -> None:
    first = write_part(
        tmp_path / "first", {("usps", "dekm"): [0]}, commit="<b>c", label="+Mine", in_table=True
    )
    publish(first, tmp_path / "set", PAPER, METHODS)
    second = write_part(tmp_path / "second", {("usps", "dec"): [0, 2]}, warnings=["a\tb\u200e"])
    for _ in range(2):
        publish(second, tmp_path / "set", PAPER, METHODS, extend=True)
    assert "commit: &lt;b>c" in (tmp_path / "set" / "README.md").read_text()
    assert "| +Mine " in (tmp_path / "set" / "table3.md").read_text()


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
        (results / "plan.json").write_text(json.dumps({"cells": [], "protocol": "paper-12345678"}))
        counted = {str(seed): {"key": "x", "id": f"minedekm{seed}"}}
        (run.parent / "summary.json").write_text(json.dumps({"seeds": counted}))
        publish(results, out, PAPER, ["dekm"], extend=name == "second")
        assert (out / "partitions.md").exists() == (name == "first")
    assert "0.250 ± 0.071" in (out / "table3.md").read_text()
