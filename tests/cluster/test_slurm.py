"""The workflow on a real Slurm of two nodes, whose jobs, Snakemake and nodes die."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.helpers import slurm
from tests.helpers.workspace import ROOT

PLUGIN = importlib.util.find_spec("snakemake_executor_plugin_slurm")
pytestmark = [
    pytest.mark.skipif(bool(slurm.missing()), reason=f"no Slurm: {slurm.missing()}"),
    pytest.mark.skipif(PLUGIN is None, reason="Snakemake's plugin for Slurm is not installed: make cluster"),
    pytest.mark.timeout(3600),
]
DEKM = {"max_iter": 80, "tol": 0, "n_init": 2, "n_init_update": 1}  # long enough to be interrupted
CONFIG = {
    "name": "slurm",
    "seeds": [0, 1],
    "threads": 1,
    "pretraining": {"n_epochs": 2, "channels": [4, 8, 8]},
    "datasets": {"digits": {"subsample": 300}},
    "methods": {"k_means": {"n_init": 2}, "dekm": DEKM, "dekm_f": DEKM},
}
QUICK = ("--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "1")
PRETRAINED = "results/slurm/pretrained/digits/conv/summary.json"
DEKM_CELL = "results/slurm/runs/digits/dekm/summary.json"
SECONDS = 1200.0  # for which a test waits until something has happened, on a busy machine


class Workflow:
    """A working directory, and the workflow that runs in it on a cluster."""

    def __init__(self, cluster: slurm.Slurm, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        self.log = folder / "snakemake.log"
        folder.mkdir()
        (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))

    def command(self, *arguments: str) -> list[str]:
        options = ["--logger", "dekm", "-s", str(ROOT / "Snakefile"), "--configfile", "config.yaml"]
        options += ["--workflow-profile", str(ROOT / "profiles/slurm"), "--slurm-no-account", *QUICK]
        program = [sys.executable, "-m", "snakemake", *arguments, *options, "--latency-wait", "5"]
        return self.cluster.command(*program, directory=self.folder)

    def run(self, *arguments: str) -> str:
        with self.running(*arguments) as process:
            assert process.wait() == 0, self.log.read_text()
        return self.log.read_text()

    @contextlib.contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen]:
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'workflow/terminal'}:{ROOT}"}
        with self.log.open("w") as log:
            process = subprocess.Popen(self.command(*arguments), stdout=log, stderr=log, env=environment)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def seed(self, method: str, seed: int) -> Path:
        return self.folder / f"results/slurm/runs/digits/{method}/seed{seed}"

    def ids(self, method: str) -> dict[str, str]:
        """The identity of every run of a cell: it changes when the run is made again."""
        files = self.seed(method, 0).parent.glob("seed*/facts.json")
        return {file.parent.name: json.loads(file.read_text())["id"] for file in files}

    def wait_for_seed(self, method: str, seed: int) -> str:
        """Wait until a seed is being made; the job that makes it."""
        files, begin = f".seed{seed}.part.*/progress.json", time.time()

        def is_made() -> bool:
            parts = self.seed(method, seed).parent.glob(files)
            return any(file.stat().st_mtime > begin for file in parts)  # a cancelled job left some too

        self.wait(is_made)
        return self.cluster.job_of(f"digits_{method}")

    def wait(self, condition) -> None:
        slurm.wait(condition, SECONDS, self.folder)


def out_of_memory_is_tried_again_with_more(workflow: Workflow) -> None:
    output = workflow.run(PRETRAINED, "--set-resources", "pretrain:mem_mb=250*attempt**3")
    assert output.count("start  Pretrain") > 1, output
    for part in ("SLURM status is: 'FAILED'", "slurm_logs/rule_pretrain", "memory limit"):
        assert part in output, output


def a_cancelled_job_loses_no_finished_seed(workflow: Workflow) -> dict[str, str]:
    with workflow.running(DEKM_CELL, "--retries", "0") as process:
        job = workflow.wait_for_seed("dekm", 1)
        finished = workflow.ids("dekm")
        workflow.cluster.ask("scancel", job)
        assert process.wait(SECONDS) == 1
    assert "CANCELLED" in workflow.log.read_text(), workflow.log.read_text()
    assert set(finished) == {"seed0"}
    return finished


def jobs_outlive_a_killed_workflow(workflow: Workflow, finished: dict[str, str]) -> None:
    with workflow.running(DEKM_CELL) as process:
        job = workflow.wait_for_seed("dekm", 1)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert job in workflow.cluster.jobs()
    workflow.run("--unlock")
    workflow.run(DEKM_CELL)
    after = workflow.ids("dekm")
    assert after["seed0"] == finished["seed0"]
    log = (workflow.folder / "results/slurm/logs/cluster/digits/dekm.log").read_text()
    assert "digits dekm, seed 1: complete, kept" in log


def a_dead_node_costs_one_seed_at_most(workflow: Workflow) -> None:
    with workflow.running("digits") as process:
        job = workflow.wait_for_seed("dekm_f", 1)
        finished = workflow.ids("dekm_f")
        workflow.cluster.kill_node(workflow.cluster.jobs()[job])
        workflow.wait(lambda: job in workflow.cluster.jobs("PD"))
        for waiting in workflow.cluster.jobs("PD"):  # all that ran on the node, which Slurm holds for minutes
            with contextlib.suppress(subprocess.CalledProcessError):  # one that has just started
                workflow.cluster.ask("scontrol", "update", f"JobId={waiting}", "StartTime=now")
        assert process.wait(SECONDS) == 0, workflow.log.read_text()
    assert workflow.ids("dekm_f")["seed0"] == finished["seed0"]


def only_jobs_that_train_have_a_gpu(workflow: Workflow) -> None:
    gpus: dict[str, set[str]] = {}
    for step, comment, _, visible in workflow.cluster.started():
        if step == "0":
            gpus.setdefault(comment.removeprefix("Comment=rule_"), set()).add(visible)
    trains = {name: any(word in name for word in ("pretrain", "dekm")) for name in gpus}
    assert len(gpus) == 5, gpus
    assert gpus == {name: {"0"} if trains[name] else {"none"} for name in gpus}


def test_nothing_runs_twice_whatever_ends(tmp_path: Path) -> None:
    with slurm.running(tmp_path / "slurm") as cluster:
        workflow = Workflow(cluster, tmp_path / "work")
        out_of_memory_is_tried_again_with_more(workflow)
        finished = a_cancelled_job_loses_no_finished_seed(workflow)
        jobs_outlive_a_killed_workflow(workflow, finished)
        a_dead_node_costs_one_seed_at_most(workflow)
        only_jobs_that_train_have_a_gpu(workflow)
        assert "Nothing to be done" in workflow.run("digits")
        assert (workflow.folder / "results/slurm/tables/digits/table3.csv").read_text()
