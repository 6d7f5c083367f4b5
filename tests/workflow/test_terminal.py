"""What `make demo` shows: the logger plugin, on records as Snakemake makes them."""

import io
import json
import logging
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from dekm.files.leftovers import temporary_path
from dekm.results.progress import WARNING, Progress
from tests.helpers.handmade import write_facts, write_seed, write_summary

TERMINAL = Path(__file__).parents[2] / "workflow/terminal"


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(TERMINAL)
    import snakemake_logger_plugin_dekm

    return snakemake_logger_plugin_dekm


@pytest.fixture
def handler(plugin: Any) -> Any:
    made = plugin.LogHandler(SimpleNamespace(stdout=False, dryrun=False), None)
    yield made
    made.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "results/paper/logs/pretrain/mnist/conv.log"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"line {i}\n" for i in range(30)) + "dekm: error: no memory\n")
    return file


def record(event: LogEvent | None = None, msg: str = "", level: int = logging.INFO, **fields: Any) -> Any:
    made = logging.LogRecord("snakemake", level, "", 0, msg, (), None)
    made.__dict__.update({"event": event} if event else {}, **fields)
    return made


def job(log: Path, /, **fields: Any) -> Any:
    known = {"jobid": 7, "rule_name": "pretrain", "rule_msg": "Pretrain mnist", "log": [str(log)]}
    known |= {"wildcards": {"dataset": "mnist", "architecture": "conv"}}
    return record(LogEvent.JOB_INFO, **known | fields)


def at_epoch_57(log: Path) -> None:
    part = temporary_path(log.parents[4] / "paper/pretrained/mnist/conv/seed1")
    part.mkdir(parents=True)
    Progress("a", 1, "epoch", 57, 200, False, 100.0, 2.0, {}).write(part / "progress.json")


def test_snakemake_finds_the_plugin(plugin: Any) -> None:
    registry = LoggerPluginRegistry()
    registry.collect_plugins()
    assert registry.is_installed("dekm")


def test_a_job_is_one_line_when_it_starts_and_one_when_it_ends(handler: Any, log: Path, capsys: Any) -> None:
    handler.console = Console(stderr=True, width=200)
    for shown in (
        record(LogEvent.RUN_INFO, stats={"pretrain": 5, "total": 5}),
        record(msg="Building DAG of jobs..."),
        job(log, reason="Missing output files: ..."),
        record(LogEvent.SHELLCMD, msg="python -m dekm pretrain"),
        record(LogEvent.PROGRESS, done=1, total=5),
        record(LogEvent.JOB_FINISHED, job_id=7),
        record(msg="a warning", level=logging.WARNING),
        record(msg="Complete log(s): x.log"),
    ):
        handler.emit(shown)
    lines = [line[9:] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "5 jobs",
        "start  Pretrain mnist",
        "done   Pretrain mnist, 0 s",
        "a warning",
        "Complete log(s): x.log",
    ]


def test_a_running_job_says_where_it_is(handler: Any, log: Path) -> None:
    handler.line(job(log))
    assert list(handler.board.running()) == ["Pretrain mnist"]
    at_epoch_57(log)
    assert list(handler.board.running()) == ["Pretrain mnist; seed 1: epoch 57/200, 5 min left"]
    text = io.StringIO()
    Console(file=text, width=100).print(handler.render())
    assert "seed 1: epoch 57/200, 5 min left" in text.getvalue()


def test_a_line_of_80_columns_keeps_the_time_left(handler: Any, log: Path) -> None:
    handler.console = Console(width=80)
    handler.line(job(log, rule_msg="Pretrain the conv autoencoders of mnist, seeds 0 1 2 3 4 5 6 7 8 9 10"))
    at_epoch_57(log)
    text = io.StringIO()
    Console(file=text, width=80).print(handler.render())
    assert "\n    seed 1: epoch 57/200, 5 min left" in text.getvalue()


def test_no_time_left_is_told_until_something_is_known_of_most_seeds(handler: Any, log: Path) -> None:
    results = log.parents[3]
    cells = [
        {"stage": "pretrain", "dataset": "mnist", "subject": name, "label": name, "seeds": [0, 1, 2, 3]}
        for name in ("conv", "mlp")
    ]
    (results / "plan.json").write_text(json.dumps({"cells": cells, "left_out": {}}))
    handler.line(job(log))
    at_epoch_57(log)
    assert handler.board.time_left() == ""
    (results / "plan.json").write_text(json.dumps({"cells": cells[:1], "left_out": {}}))
    handler.board._estimated = -math.inf
    assert handler.board.time_left().startswith("about")


def test_on_a_pipe_the_positions_come_at_a_humane_rate(
    handler: Any, log: Path, monkeypatch: Any, capsys: Any
) -> None:
    handler.console = Console(stderr=True, width=200)
    at_epoch_57(log)
    handler.line(job(log))
    handler.line(record(LogEvent.PROGRESS, done=3, total=44))
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) > 1

    monkeypatch.setattr(handler.ended, "wait", wait)
    handler.report()
    assert waits == [60.0, 60.0]
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].partition("... ")[2] == "3 of 44 jobs, about 5 min left"
    assert sum("... Pretrain mnist; seed 1: epoch 57/200" in line for line in lines) == 1


def test_a_failed_job_shows_the_end_of_its_log(handler: Any, log: Path) -> None:
    handler.line(job(log))
    failed = record(
        LogEvent.JOB_ERROR, jobid=7, rule_msg="Pretrain mnist", rule_name="pretrain", log=[str(log)]
    )
    lines = handler.line(failed).splitlines()
    assert lines[0] == "FAILED Pretrain mnist"
    assert lines[-2:] == ["       dekm: error: no memory", f"       Log: {log}"]
    assert len(lines) == 12
    assert list(handler.board.running()) == []


def test_after_failed_jobs_the_way_to_the_tables_of_the_others_is_told(handler: Any, log: Path) -> None:
    ended = record(msg="Exiting because a job execution failed. Look above.", level=logging.ERROR)
    assert handler.line(ended).endswith("continues without what is complete.")
    handler.line(job(log))
    results = log.parents[3]
    write_summary(results, "mnist", "dekm", [{"acc": 0.9}])
    assert handler.line(ended).endswith(f"python -m dekm publish {results} FOLDER")


def test_a_job_that_a_cluster_ended_shows_the_reason_and_both_logs(
    handler: Any, log: Path, tmp_path: Path
) -> None:
    of_slurm = tmp_path / "17.log"
    of_slurm.write_text("Building DAG\nslurmstepd: error: Exceeded job memory limit\nExiting\n")
    log.write_text("", encoding="utf-8")
    handler.line(job(log))
    reason = "SLURM-job '17' failed, SLURM status is: 'OUT_OF_MEMORY'."
    failed = record(
        LogEvent.JOB_ERROR, jobid=7, rule_msg=reason, rule_name="pretrain", log=[str(log), str(of_slurm)]
    )
    assert handler.line(failed).splitlines() == [
        "FAILED Pretrain mnist",
        f"       {reason}",
        "       slurmstepd: error: Exceeded job memory limit",
        f"       Log: {log}",
        f"       Log: {of_slurm}",
    ]


def test_a_group_of_jobs_that_failed_names_the_log_of_the_cluster(handler: Any) -> None:
    failed = record(LogEvent.GROUP_ERROR, groupid="figures", aux_logs=["18.log"], job_error_info=[])
    assert handler.line(failed).splitlines() == ["FAILED a job for several:", "       18.log"]


def test_a_warning_of_the_jobs_is_shown_once(handler: Any, log: Path) -> None:
    log.write_text(f"12:00:00 {WARNING}no GPU\n12:00:01 epoch 1\n", encoding="utf-8")
    lines = []
    for _ in range(2):
        handler.line(job(log))
        lines.append(handler.line(record(LogEvent.JOB_FINISHED, job_id=7)).splitlines())
    assert lines == [["done   Pretrain mnist, 0 s", f"       12:00:00 {WARNING}no GPU"], lines[1][:1]]


def test_a_finished_job_says_what_its_seeds_warn_of(handler: Any, tmp_path: Path) -> None:
    log = tmp_path / "paper" / "logs" / "cluster" / "mnist" / "dekm.log"
    write_seed(tmp_path / "paper", "mnist", "dekm", 0, {}, warnings=["The embedding has collapsed."])
    wildcards = {"dataset": "mnist", "method": "dekm"}
    handler.line(job(log, rule_msg="Run DEKM", wildcards=wildcards))
    line = handler.line(record(LogEvent.JOB_FINISHED, job_id=7))
    warned = "       1 of 1 seeds warn, seed 0: The embedding has collapsed"
    assert line.splitlines() == ["done   Run DEKM, 0 s", warned]


def test_a_finished_preparation_says_what_it_warned_of(handler: Any, tmp_path: Path) -> None:
    log = tmp_path / "paper" / "logs" / "prepare" / "mine.log"
    write_facts(tmp_path / "paper", "mine", warnings=["3 of 9 texts are copies of others"])
    handler.line(job(log, rule_msg="Prepare mine", wildcards={"dataset": "mine"}))
    line = handler.line(record(LogEvent.JOB_FINISHED, job_id=7))
    assert line.splitlines() == ["done   Prepare mine, 0 s", "       3 of 9 texts are copies of others"]


def test_an_interruption_says_what_is_kept(handler: Any, log: Path) -> None:
    at_epoch_57(log)
    (log.parents[4] / "paper/pretrained/mnist/conv/.seed1.checkpoint.safetensors").touch()
    handler.line(job(log))
    line = handler.line(record(msg="Terminating processes on user request, this might take some time."))
    assert line.startswith(
        "Interrupted: 0 of 1 seeds are complete and 1 have a checkpoint; run the same command"
    )


def test_a_dry_run_is_one_line_a_job(handler: Any, log: Path) -> None:
    handler.common_settings.dryrun = True
    assert handler.line(job(log)) == "would  Pretrain mnist"
    assert handler.line(record(LogEvent.RUN_INFO, stats={"total": 5})) == ""


@pytest.mark.parametrize("wildcards", [{}, {"dataset": "mnist"}, {"dataset": "mnist", "figure": "x"}])
def test_other_jobs_have_no_position(handler: Any, log: Path, wildcards: dict[str, str]) -> None:
    handler.line(job(log, wildcards=wildcards))
    handler.line(job(log, jobid=8, log=[]))
    assert list(handler.board.running()) == ["Pretrain mnist"] * 2
