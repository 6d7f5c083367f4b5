"""A method whose fit fails with one seed, through the whole workflow."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.workspace import ROOT, TINY, Workspace

FRAGILE = """
from sklearn.cluster import KMeans


class Fragile(KMeans):
    def __init__(self, n_clusters=8, random_state=None):
        super().__init__(n_clusters, n_init=1, random_state=random_state)

    def fit(self, X, y=None, sample_weight=None):
        if self.random_state == 0:
            raise FloatingPointError("the loss is nan")
        return super().fit(X.reshape(len(X), -1))
"""
CONFIG = TINY | {
    "methods": {"k_means": {"n_init": 2}, "fragile": {"estimator": "fragile:Fragile", "label": "Fragile"}}
}
FAILURE = "seed 0 failed: the loss is nan"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = Workspace(tmp_path_factory.mktemp("failed"))
    (made.folder / "fragile.py").write_text(FRAGILE)
    made.run(config=CONFIG)
    return made


def dekm(workspace: Workspace, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dekm", *arguments],
        cwd=workspace.folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_tables_count_the_other_seeds_and_say_why_one_is_missing(workspace: Workspace) -> None:
    table = (workspace.results / "tables/table3.md").read_text()
    assert "| Fragile" in table
    assert f"1 of 2 seeds; {FAILURE}" in table
    summary = json.loads((workspace.results / "runs/digits/fragile/summary.json").read_text())
    assert (list(summary["seeds"]), list(summary["failed"])) == (["1"], ["0"])


def test_figures_and_the_page_are_those_of_the_first_seed_that_counts(workspace: Workspace) -> None:
    assert (workspace.results / "figures/runs/digits/fragile/embedding.png").is_file()
    facts = json.loads((workspace.results / "runs/digits/fragile/seed1/facts.json").read_text())
    page = (workspace.results / "explore/digits_fragile.html").read_text()
    assert facts["id"] in page[:1000]


def test_status_and_mlflow_show_the_failure(workspace: Workspace) -> None:
    assert f"warning  digits fragile: {FAILURE}" in dekm(workspace, "status", "results/tiny")
    assert FAILURE in (workspace.results / "logs/cluster/digits/fragile.log").read_text()
    runs = {run.info.run_name: run for run in workspace.stored_runs()}
    failed = runs["digits/fragile/s0"]
    assert failed.info.status == "FAILED"
    assert FAILURE in failed.data.tags["warnings"]
    assert "acc" not in failed.data.metrics
    assert runs["digits/fragile/s1"].info.status == "FINISHED"
    ids = {run.info.run_id for run in runs.values()}
    dekm(workspace, "sync", "results/tiny")
    assert ids <= {run.info.run_id for run in workspace.stored_runs()}  # the failed one is not logged again


def test_a_published_set_keeps_the_failure_when_it_is_extended(workspace: Workspace) -> None:
    dekm(workspace, "publish", "results/tiny", "published")
    with (workspace.folder / "published/runs.csv").open(newline="") as stream:
        rows = {(row["subject"], row["seed"]): row for row in csv.DictReader(stream)}
    assert rows["fragile", "0"]["failed"] == "the loss is nan"
    assert rows["fragile", "0"]["acc"] == rows["fragile", "1"]["failed"] == ""
    page = (workspace.folder / "published/README.md").read_text()
    assert page.endswith("## Failed\n\n- fragile on digits, seed 0: the loss is nan\n")
    table = (workspace.folder / "published/table3.md").read_text()
    assert f"1 of 2 seeds; {FAILURE}" in table

    for part in ("data", "runs/digits/k_means"):
        shutil.copytree(workspace.results / part, workspace.folder / "less" / part)
    shutil.copy(workspace.results / "plan.json", workspace.folder / "less")
    dekm(workspace, "publish", "less", "published", "--extend")
    assert f"1 of 2 seeds; {FAILURE}" in (workspace.folder / "published/table3.md").read_text()


def test_a_failed_seed_is_kept_and_the_workflow_is_complete(workspace: Workspace) -> None:
    assert workspace.planned(config=CONFIG) == {}
    ids = workspace.ids("fragile")
    told = [str(path) for path in (workspace.results / "settings/cluster/digits").glob("fragile-*.json")]
    dekm(workspace, "cluster", "digits", "fragile", "--results", "results/tiny", "--seeds", "0", "1",
         "--device", "cpu", "--settings", *told)  # fmt: skip
    assert workspace.ids("fragile") == ids


def test_a_run_that_failed_has_no_partition_to_look_at(workspace: Workspace) -> None:
    run = Path("results/tiny/runs/digits/fragile/seed0")
    with pytest.raises(AssertionError, match=FAILURE):
        dekm(workspace, "explore", str(run))
