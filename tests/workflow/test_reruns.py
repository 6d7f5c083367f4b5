"""A finished workflow that is run again: what is computed again, and what is kept."""

import os
import shutil
import signal
import subprocess
import time

import pandas as pd
import pytest

from tests.helpers.workspace import TINY, Workspace

DEKM = {"dekm": TINY["methods"]["dekm"]}


def test_an_added_seed_runs_alone(workspace: Workspace) -> None:
    before, n_stored = workspace.ids("dekm"), len(workspace.stored_runs())
    workspace.run("digits", config=TINY | {"seeds": [0, 1, 2], "methods": DEKM})
    after = workspace.ids("dekm")
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"seed2"}
    assert len(workspace.stored_runs()) == n_stored + 2  # its pretraining, and the run
    table = pd.read_csv(workspace.results / "tables" / "digits" / "table3.csv")
    assert (table["n_seeds"] == 3).all()


def test_a_seed_whose_folder_was_deleted_runs_alone(workspace: Workspace) -> None:
    before = workspace.ids("dekm")
    cell = workspace.results / "runs" / "digits" / "dekm"
    (cell / "summary.json").unlink()
    shutil.rmtree(cell / "seed1")
    workspace.run("results/tiny/runs/digits/dekm/summary.json")
    after = workspace.ids("dekm")
    assert after["seed0"] == before["seed0"]
    assert after["seed1"] != before["seed1"]


def test_a_fresh_run_of_one_dataset_recomputes_it_once(workspace: Workspace) -> None:
    before, n_stored = workspace.ids("dekm"), len(workspace.stored_runs())
    scores = (workspace.results / "runs/digits/dekm/seed0/labels.npy").read_bytes()
    config = TINY | {"methods": DEKM}
    workspace.run("digits", "--forceall", "--config", "fresh=true", config=config)
    after = workspace.ids("dekm")
    assert not set(before.values()) & set(after.values())
    assert (workspace.results / "runs/digits/dekm/seed0/labels.npy").read_bytes() == scores
    assert len(workspace.stored_runs()) == n_stored
    assert workspace.planned("digits", config=config) == {}


def test_a_killed_run_goes_on_with_the_unfinished_seed(workspace: Workspace) -> None:
    methods = TINY["methods"] | {"dekm": {"max_iter": 12, "n_batches": 20, "n_init": 2, "tol": 0}}
    config = TINY | {"methods": methods}
    before = workspace.ids("dekm")
    process = subprocess.Popen(
        workspace.command("digits", config=config),
        cwd=workspace.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while workspace.ids("dekm").get("seed0") in (None, before["seed0"]):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = workspace.ids("dekm")["seed0"]
    assert workspace.ids("dekm")["seed1"] == before["seed1"]
    assert not (workspace.results / "runs/digits/dekm/summary.json").exists()

    workspace.run("--unlock", config=config)
    workspace.run("digits", "--rerun-incomplete", config=config)
    after = workspace.ids("dekm")
    assert after["seed0"] == done
    assert after["seed1"] != before["seed1"]
    assert not list((workspace.results / "runs/digits/dekm").glob(".*.part.*"))
    assert {run.info.status for run in workspace.stored_runs()} == {"FINISHED"}


def test_a_store_that_cannot_be_updated_is_not_marked_as_done(workspace: Workspace) -> None:
    done, lock = workspace.results / "logs" / "track.done", workspace.folder / "results" / ".mlflow.lock"
    lock.unlink()
    lock.mkdir()
    output = workspace.run("-R", "track", ok=False)
    assert ".mlflow.lock: Is a directory." in output
    assert not done.exists()
    lock.rmdir()
    workspace.run()
    assert done.exists()


def test_a_server_that_is_down_costs_a_warning_and_is_tried_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    config = TINY | {"tracking": "http://127.0.0.1:9"}
    output = workspace.run(config=config)
    assert "the MLflow server http://127.0.0.1:9 could not be updated: Connection refused." in output
    assert workspace.planned(config=config) == {"track": 1, "everything": 1}
