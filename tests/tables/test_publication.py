import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dekm import KMeans
from dekm.cli import main
from dekm.errors import InputError
from dekm.files import read_json, write_manifest
from dekm.tables.compare import compare
from dekm.tables.loading import Labels
from dekm.tables.model_cards import publish_models
from dekm.tables.publication import publish
from tests.helpers.handmade import make_history, write_facts, write_run, write_summary

PAPER = Path(__file__).parents[2] / "resources" / "paper"
METHODS = ["k_means", "dekm"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    results = tmp_path / "usps_only"
    write_facts(results, "usps")
    for method, acc in (("k_means", 0.6), ("dekm", 0.8)):
        runs = [{"acc": acc + seed / 100, "nmi": acc, "seconds": 1.0} for seed in (0, 1)]
        for seed, run in enumerate(runs):
            write_run(results, "usps", method, [0], [[0.0]], make_history([0.1, run["acc"]]), seed)
        write_summary(results, "usps", method, runs)
    cells = [
        {"stage": "cluster", "dataset": "usps", "subject": method, "label": method, "seeds": [0, 1]}
        for method in ("k_means", "dekm", "dec")
    ]
    (results / "plan.json").write_text(json.dumps({"written": "now", "cells": cells, "left_out": {}}))
    (results / "figures").mkdir()
    (results / "figures" / "fig2.png").write_bytes(b"png")
    (results / "figures" / "fig2.pdf").write_bytes(b"pdf")
    return results


def test_a_published_set_has_its_tables_figures_histories_and_records(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "published"
    publish(results, out, PAPER, METHODS)
    runs = pd.read_csv(out / "runs.csv")
    assert runs[["subject", "seed"]].values.tolist() == [
        ["dekm", 0],
        ["dekm", 1],
        ["k_means", 0],
        ["k_means", 1],
    ]
    assert set(runs["commit"]) == {"c0ffee"}
    assert runs["acc"].tolist() == pytest.approx([0.8, 0.81, 0.6, 0.61])
    assert pd.read_csv(out / "history" / "usps-dekm-s1.csv")["acc"].tolist() == pytest.approx([0.1, 0.81])
    assert [file.name for file in (out / "figures").iterdir()] == ["fig2.png"]
    assert "80.50" in (out / "table3.md").read_text()
    text = (out / "README.md").read_text()
    assert "commit: c0ffee" in text
    assert all((out / name).is_file() for name in re.findall(r"\]\(([^)]+)\)", text))
    assert "- usps: dec: 0 of 2 seeds\n" in text
    assert not [file for file in out.rglob("*") if file.suffix in {".npy", ".npz", ".safetensors"}]


def test_a_set_of_results_is_compared_with_a_published_one(results: Path, tmp_path: Path) -> None:
    publish(results, tmp_path / "published", PAPER, METHODS)
    assert set(compare(results, tmp_path / "published")["verdict"]) == {"no difference found"}


def test_a_published_model_can_be_loaded_and_has_a_card(results: Path, tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((20, 3))
    fitted = KMeans(2, device="cpu", random_state=0).fit(X)
    fitted.save(results / "runs" / "usps" / "k_means" / "seed0" / "model.safetensors")
    write_manifest(results / "runs" / "usps" / "k_means" / "seed0")
    (model,) = publish_models(results, tmp_path / "models", "k_means", {"usps": "none stated"})
    np.testing.assert_array_equal(KMeans.load(model, device="cpu").predict(X), fitted.labels_)
    text = model.with_suffix(".md").read_text()
    for part in (
        "3 vectors of 2, digest `usps`",
        "| licence of the data | none stated |",
        "acc 0.6",
        "`c0ffee`",
    ):
        assert part in text
    with pytest.raises(InputError, match="holds no model of 'dekm'"):
        publish_models(results, tmp_path / "none", "dekm", {})


def test_the_command_publishes_tables_with_labels_and_the_models(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = results / "runs" / "usps" / "k_means" / "seed0" / "model.safetensors"
    model.write_bytes(b"model")
    write_manifest(model.parent)
    out = tmp_path / "published"
    assert main(["publish", str(results), str(out), "--paper", str(PAPER), "--models", "k_means"]) == 0
    assert (out / "models" / "usps-k_means-s0.safetensors").read_bytes() == b"model"
    assert "| licence of the data |" in (out / "models" / "usps-k_means-s0.md").read_text()
    assert "| 20NEWS " in (out / "verdicts.md").read_text()
    assert "removed" not in capsys.readouterr().err
    assert {file.name for file in (out / "figures").iterdir()} == {"cost.png", "fig2.png", "ranks.png"}
    assert (out / "figures" / "cost.png").read_bytes().startswith(b"\x89PNG")
    assert {"models/usps-k_means-s0.safetensors", "runs.csv", "README.md"} <= set(
        read_json(out / "manifest.json")["files"]
    )
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    assert main(["publish", str(results), str(out), "--paper", str(PAPER), "--models", "k_means"]) == 0
    assert "removed" not in capsys.readouterr().err
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == before
    assert main(["publish", str(results), str(out), "--paper", str(PAPER), "--pretrained", "conv"]) == 1
    assert f"{results} holds no pretrained autoencoder 'conv'" in capsys.readouterr().err


def test_a_folder_without_runs_cannot_be_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="holds no complete run"):
        publish(tmp_path, tmp_path / "published", PAPER, METHODS)
    assert main(["publish", str(tmp_path), str(tmp_path / "published"), "--paper", str(PAPER)]) == 1
    assert "holds no complete run" in capsys.readouterr().err


def test_methods_of_the_user_are_in_the_tables_and_figure_1_is_not(results: Path, tmp_path: Path) -> None:
    write_facts(results, "fig1", n_classes=4)
    for dataset, method, in_table in (("usps", "mine", True), ("fig1", "dekm", False)):
        write_run(results, dataset, method, [0], [[0.0]], make_history([0.1, 0.7]))
        run = {"acc": 0.7, "nmi": 0.7, "seconds": 1.0}
        write_summary(results, dataset, method, [run], in_table=in_table, label="Label")
    publish(results, tmp_path / "published", PAPER, METHODS)
    table = pd.read_csv(tmp_path / "published" / "table3.csv")
    assert set(table["method"]) == {*METHODS, "mine"}
    assert set(table["dataset"]) == {"usps"}
    assert (tmp_path / "published" / "history" / "fig1-dekm-s0.csv").is_file()


def test_rows_stand_in_the_order_of_the_labels_and_then_those_of_the_user(
    results: Path, tmp_path: Path
) -> None:
    for method in ("a_mine", "umap_gmm", "spectral"):
        write_run(results, "usps", method, [0], [[0.0]], make_history([0.1, 0.7]))
        write_summary(results, "usps", method, [{"acc": 0.7, "nmi": 0.7, "seconds": 1.0}], in_table=True)
    labels = Labels(methods={name: name for name in ("k_means", "dekm", "spectral", "umap_gmm")})
    publish(results, tmp_path / "published", PAPER, METHODS, labels)
    table = pd.read_csv(tmp_path / "published" / "table3.csv")
    assert [*dict.fromkeys(table["method"])] == ["k_means", "dekm", "spectral", "umap_gmm", "a_mine"]


def test_a_seed_that_no_summary_counts_is_not_published(
    results: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for method in ("dekm", "dec"):  # of DEC there is no summary yet
        write_run(results, "usps", method, [0], [[0.0]], make_history([0.1, 0.2]), seed=7)
    publish(results, tmp_path / "published", PAPER, METHODS)
    runs = pd.read_csv(tmp_path / "published" / "runs.csv")
    assert runs.groupby("subject")["seed"].agg(list).to_dict() == {
        "dec": [7],
        "dekm": [0, 1],
        "k_means": [0, 1],
    }
    assert not (tmp_path / "published" / "history" / "usps-dekm-s7.csv").exists()
    assert caplog.messages == ["left out: usps/dekm/s7, which the summary of its cell does not count"]


def test_results_without_a_plan_may_lack_anything(results: Path, tmp_path: Path) -> None:
    (results / "plan.json").unlink()
    publish(results, tmp_path / "published", PAPER, METHODS)
    assert (tmp_path / "published" / "README.md").read_text().endswith("Not known: there is no plan.json.\n")


@pytest.mark.parametrize("out", ["", "../usps_only"])
def test_results_are_not_published_into_their_own_folder(results: Path, out: str) -> None:
    with pytest.raises(InputError, match="should be another folder"):
        publish(results, results / out, PAPER, METHODS)
    assert not (results / "runs.csv").exists()


def test_a_published_file_is_replaced_and_not_changed(results: Path, tmp_path: Path) -> None:
    publish(results, tmp_path / "published", PAPER, METHODS)
    figure, linked = tmp_path / "published" / "figures" / "fig2.png", tmp_path / "linked"
    linked.hardlink_to(figure)
    (results / "figures" / "fig2.png").write_bytes(b"new")
    publish(results, tmp_path / "published", PAPER, METHODS)
    assert (figure.read_bytes(), linked.read_bytes()) == (b"new", b"png")
