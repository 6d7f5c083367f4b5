"""The workflow, run for real on a tiny configuration."""

import json
import re
import subprocess
import sys
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from dekm.markup import latex, markdown
from tests.helpers.workspace import ROOT, TINY, Workspace


def changed(**changes: object) -> dict:
    return TINY | changes


def test_every_run_is_in_the_table_and_in_the_store(workspace: Workspace) -> None:
    table = pd.read_csv(workspace.results / "tables" / "table3.csv")
    assert set(table["method"]) == set(TINY["methods"])
    assert (table["n_seeds"] == 2).all()
    cell = workspace.results / "runs" / "digits" / "dekm"
    scores = [json.loads((cell / f"seed{seed}" / "metrics.json").read_text())["acc"] for seed in (0, 1)]
    mean = 100 * sum(scores) / 2
    row = table.query("method == 'dekm' and metric == 'acc'").iloc[0]
    assert row["mean"] == pytest.approx(mean, abs=1e-3)

    runs = workspace.stored_runs()
    assert {run.info.status for run in runs} == {"FINISHED"}
    names = sorted(run.info.run_name for run in runs)
    expected = [f"digits/{what}/s{seed}" for what in ("conv", *TINY["methods"]) for seed in (0, 1)]
    assert names == sorted([*expected, "tables and figures"])
    dekm = next(run for run in runs if run.info.run_name == "digits/dekm/s0")
    assert dekm.data.params["max_iter"] == "2"
    assert dekm.data.metrics["acc"] == pytest.approx(scores[0])
    assert {"train/loss", "train/inertia", "acc", "nmi"} <= set(dekm.data.metrics)
    assert {"dataset", "method", "seed", "commit", "device", "key", "data_digest"} <= set(dekm.data.tags)


def test_facts_reproduce_a_run(workspace: Workspace) -> None:
    folder = workspace.results / "runs" / "digits" / "dekm" / "seed0"
    facts = json.loads((folder / "facts.json").read_text())
    settings = {"max_iter": 2, "n_init": 2, "init_update": "fresh", "n_init_update": "2n_iter", "tol": 0.001}
    assert facts["settings"] == settings
    assert facts["data"] == json.loads((workspace.results / "data/digits/facts.json").read_text())["digest"]
    assert {"key", "seed", "commit", "versions", "device", "pretrained"} <= set(facts)
    assert {file.name for file in folder.iterdir()} == {
        "facts.json",
        "manifest.json",
        "metrics.json",
        "clusters.csv",
        "history.csv",
        "labels.npy",
        "embedding.npy",
        "iterations.npz",
        "model.safetensors",
    }


def test_the_reference_knows_every_file_and_every_name_in_the_store(workspace: Workspace) -> None:
    pytest.importorskip("sphinx", reason="needs the packages of docs/requirements.txt")
    from docs.extension import results_files, tracking

    assert results_files.unknown(workspace.results) == []
    data = [run.data for run in workspace.stored_runs()]
    files = [file.read_text() for file in workspace.results.glob("*/*/*/seed*/metrics.json")]
    final = {name for text in files for name in json.loads(text)}
    assert tracking.unknown("metrics", {name for run in data for name in run.metrics}, final) == set()
    assert tracking.unknown("tags", {name for run in data for name in run.tags}) == set()


def test_a_job_is_repeated_by_hand_with_its_file_of_settings(workspace: Workspace) -> None:
    before = workspace.ids("dekm")
    (settings,) = (workspace.results / "settings" / "cluster" / "digits").glob("dekm-*.json")
    command = [sys.executable, "-m", "dekm", "cluster", "digits", "dekm", "--results", workspace.results]
    command += ["--seeds", "0", "1", "--device", "cpu", "--settings", settings]
    done = subprocess.run(command, cwd=workspace.folder, capture_output=True, text=True)
    assert "digits dekm, seed 1: complete, kept" in done.stderr, done.stderr
    assert workspace.ids("dekm") == before


def test_no_cell_starts_before_the_last_pretraining(tmp_path: Path) -> None:
    config = yaml.safe_load((ROOT / "config" / "demo.yaml").read_text()) | {"threads": 2}  # one job at a time
    workspace = Workspace(tmp_path)
    table = workspace.run("--summary", "--quiet", "all", config=config)
    for line in table.splitlines():
        output = tmp_path / line.partition("\t")[0]
        if output.suffix:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.touch()
        else:
            output.mkdir(parents=True)
    log = workspace.run("--touch", "--forceall", config=config)
    jobs = re.findall(r"^Job \d+: (Prepare|Pretrain|Cluster)", log, re.MULTILINE)
    assert jobs == sorted(jobs, key=["Prepare", "Pretrain", "Cluster"].index)


def test_the_root_snakefile_plans_the_same_jobs_as_that_of_the_workflow(tmp_path: Path) -> None:
    empty = Workspace(tmp_path)
    root, inner = empty.planned(), empty.planned(snakefile="workflow/Snakefile")
    assert root.pop("everything") == inner.pop("all") == 1
    assert (
        root
        == inner
        == {
            "prepare": 1,
            "pretrain": 1,
            "cluster": 3,
            "table2": 1,
            "table": 1,
            "track": 1,
            "figure_samples": 1,
            "figure_cost": 1,
            "figures_of_run": 1,
            "explore": 1,
        }
    )


def test_a_changed_parameter_reruns_its_method_and_nothing_else(workspace: Workspace) -> None:
    methods = TINY["methods"] | {"dekm": {"max_iter": 3, "n_init": 2}}
    plan = workspace.planned(config=changed(methods=methods))
    pages = {"figures_of_run": 1, "figure_cost": 1, "explore": 1}
    assert plan == {"cluster": 1, "table": 1, "track": 1, "everything": 1} | pages


def test_a_finished_run_has_nothing_to_do_after_a_change_of_the_mirror_too(workspace: Workspace) -> None:
    assert workspace.planned(config=changed(mirror="http://127.0.0.1:9/")) == {}


def test_the_store_is_updated_after_the_table_of_one_dataset_and_nothing_of_others(tmp_path: Path) -> None:
    config = changed(datasets=TINY["datasets"] | {"topics": {"subsample": 200}})
    plan = Workspace(tmp_path).planned("results/tiny/logs/track/digits.done", config=config)
    assert plan == {"prepare": 1, "pretrain": 1, "cluster": 3, "table_of_dataset": 1, "track_dataset": 1}


@pytest.mark.parametrize(("threads", "shown"), [("auto", "2 1"), (8, "8 8")])
def test_the_jobs_of_a_stage_share_the_cores(tmp_path: Path, threads: int | str, shown: str) -> None:
    text = f'include: "{ROOT}/Snakefile"\nprint("threads", threads_of("pretrain"), threads_of("cluster"))\n'
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")  # one pretraining and three cells
    output = Workspace(tmp_path).run(
        "-n", config=TINY | {"threads": threads}, snakefile=tmp_path / "Snakefile"
    )
    assert f"threads {shown}\n" in output


def test_mistakes_in_the_configuration_are_named_before_anything_runs(tmp_path: Path) -> None:
    methods = {"dekn": {}, "dekm": {"maxiter": 3}}
    mistakes = changed(datasets={"digit": {}}, methods=methods, seeds=["a"])
    output = Workspace(tmp_path).run(config=mistakes, ok=False)
    for text in (
        "datasets.digit: unknown name; did you mean 'digits'?",
        "methods.dekn: unknown name; did you mean 'dekm'?",
        "methods.dekm.maxiter: unknown name; did you mean 'max_iter'?",
        "seeds.0='a' should be an integer >= 0",
    ):
        assert text in output, output
    assert "Traceback" not in output
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("name", ["table", "everything"])  # of a rule, and of the Snakefile that includes it
def test_a_dataset_cannot_have_the_name_of_a_target(tmp_path: Path, name: str) -> None:
    np.save(tmp_path / "x.npy", np.zeros((20, 5)))
    datasets = {name: {"path": str(tmp_path / "x.npy"), "n_clusters": 2}}
    output = Workspace(tmp_path).run("-n", config=changed(datasets=datasets), ok=False)
    assert f"datasets.{name}: give it another name" in output


def test_a_failed_job_shows_its_reason_and_keeps_the_rest(tmp_path: Path) -> None:
    config = changed(datasets={"digits": {"subsample": 3}}, methods={"k_means": {"n_init": 2}})
    output = Workspace(tmp_path).run("--show-failed-logs", config=config, ok=False)
    assert "dekm: error: subsample=3 should be from 10 (classes) to 1797 (samples)." in output
    assert "Traceback" not in output


def test_text_of_the_configuration_reaches_the_jobs_unchanged(tmp_path: Path) -> None:
    text = 'it\'s a "word" $(touch pwned) `touch pwned`; touch pwned ü'
    np.save(tmp_path / f"{text}.npy", np.random.default_rng(0).random((20, 5)))
    (tmp_path / text).mkdir()
    own = {"path": f"{text}.npy", "n_clusters": 2, "label": f"{text} {{x}}"}
    config = TINY | {"datasets": {"own": own}, "raw_dir": f"{text} {{x}}", "mirror": text, "seeds": "3"}
    workspace = Workspace(tmp_path)
    workspace.run("results/tiny/runs/own/k_means/summary.json", "-p", config=config)
    facts = json.loads((workspace.results / "data/own/facts.json").read_text(encoding="utf-8"))
    assert facts["label"] == f"{text} {{x}}"
    assert facts["options"] == {"path": f"{text}.npy"}
    assert (workspace.results / "runs/own/k_means/seed3").is_dir()
    assert not (tmp_path / "pwned").exists()


def test_a_label_with_markup_is_plain_text_in_tables_and_in_the_report(tmp_path: Path) -> None:
    label = "</script><script>alert(1)</script> {x} {{y}} [link](http://host) *a* $x$ 'q' \"q\""
    method = {"estimator": "sklearn.cluster:KMeans", "label": label}
    np.save(tmp_path / "own.npy", np.random.default_rng(0).random((20, 5)))
    own = {"path": "own.npy", "n_clusters": 2, "label": label}
    config = changed(datasets={"own": own}, methods={"mine": method}, seeds=[0])
    workspace = Workspace(tmp_path)
    workspace.run(config=config)
    tables = {name: workspace.results / f"tables/table3.{name}" for name in ("html", "md", "tex", "csv")}
    shown = {name: file.read_text(encoding="utf-8") for name, file in tables.items()}
    assert escape(label) in shown["html"]
    assert markdown(label) in shown["md"]
    assert latex(label) in shown["tex"]
    assert label in pd.read_csv(tables["csv"]).to_string(max_colwidth=None)
    workspace.run("--report", str(tmp_path / "report.html"), config=config)
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in report
    assert "alert(1)" in report


def test_a_file_that_snakemake_reads_silently_is_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    command = workspace.command("-n")
    (tmp_path / "config.yaml").write_text("name: tiny\nname: other", encoding="utf-8")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "'name' is already in line 1" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
