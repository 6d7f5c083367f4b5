"""`dekm status`: what it reads from a folder of results, at any moment of its life."""

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from dekm.cli import main
from dekm.errors import InputError
from dekm.experiment.config import Experiment
from dekm.experiment.history import Epochs
from dekm.experiment.live import Live
from dekm.experiment.plan import write_plan
from dekm.files import write_json, write_manifest
from dekm.files.leftovers import temporary_path
from dekm.nn.stages import Epoch
from dekm.results.progress import SILENT_SECONDS, Progress, duration, read_progress
from dekm.results.seed import SeedFolder
from dekm.results.status import CellStatus, UnfinishedSeed, find_results, read_status, work_of
from dekm.results.status_text import describe_status, expected_seconds, seconds_left, time_left
from tests.helpers.handmade import MADE, write_facts
from tests.helpers.temporaries import written_by

NO_PROCESS = 2**22 + 1  # larger than any process number of Linux


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Planned: K-means and DEKM on two datasets with the seeds 0 and 1."""
    path = tmp_path / "paper"
    cells = [
        {"stage": stage, "dataset": dataset, "subject": subject, "label": subject, "seeds": [0, 1]}
        for dataset in ("mnist", "usps")
        for stage, subject in (("pretrain", "conv"), ("cluster", "k_means"), ("cluster", "dekm"))
    ]
    path.mkdir()
    plan = {"cells": cells, "left_out": {"frgc": "needs a licence (NIST)"}}
    (path / "plan.json").write_text(json.dumps(plan))
    for dataset, n_samples in (("mnist", 700), ("usps", 100)):
        write_facts(path, dataset, n_samples=n_samples, shape=[10])
    return path


def complete(results: Path, cell: str, seed: int, seconds: float = 10.0, **facts: Any) -> None:
    folder = results / cell / f"seed{seed}"
    folder.mkdir(parents=True)
    stage, dataset, subject = cell.split("/")
    known = {"dataset": dataset, "seed": seed, "data": dataset, "id": f"{cell}{seed}"}
    known["method" if stage == "runs" else "architecture"] = subject
    write_json(folder / "facts.json", MADE | known | facts)
    write_json(folder / "metrics.json", {"seconds": seconds})
    write_manifest(folder)


def begin(results: Path, cell: str, seed: int, writer: Any = None, **changes: Any) -> Path:
    """The file of the progress of an unfinished seed at epoch 57 of 200, made by this or another process."""
    folder = (written_by if writer else temporary_path)(results / cell / f"seed{seed}", **writer or {})
    folder.mkdir(parents=True)
    (folder / "facts.json").write_text("{}")
    known = {"host": socket.gethostname(), "pid": os.getpid(), "unit": "epoch", "done": 57, "total": 200}
    known |= {
        "may_stop_early": False,
        "seconds": 114.0,
        "seconds_per_unit": 2.0,
        "latest": {"loss": 12.34567},
    }
    Progress(**known | changes).write(folder / "progress.json")
    return folder / "progress.json"


def states(results: Path) -> dict[str, str]:
    return {cell.name: cell.state for cell in read_status(results).cells}


def test_before_the_first_job_all_cells_wait(results: Path) -> None:
    assert set(states(results).values()) == {"waiting"}
    text = describe_status(read_status(results))
    assert "0 of 12 seeds complete, 0 running" in text
    assert "Nothing is known yet of the time of 12 seeds." in text
    assert "left out frgc: it needs a licence (NIST)" in text


def test_in_the_middle_it_says_where_every_job_is(results: Path) -> None:
    complete(results, "pretrained/usps/conv", 0)
    complete(results, "pretrained/usps/conv", 1, seconds=20.0)
    complete(results, "runs/usps/k_means", 0, seconds=1.0)
    begin(results, "pretrained/mnist/conv", 1)
    log = results / "logs/cluster/usps/k_means.log"
    log.parent.mkdir(parents=True)
    log.write_text("12:00:00 iteration 1\ndekm: error: n_init=0 should be an integer >= 1.\n")
    assert states(results) == {
        "mnist conv": "running",
        "mnist k_means": "waiting",
        "mnist dekm": "waiting",
        "usps conv": "complete",
        "usps k_means": "failed",
        "usps dekm": "waiting",
    }
    lines = describe_status(read_status(results)).splitlines()
    assert "3 of 12 seeds complete, 1 running, 1 failed; 31 s of computation so far." in lines[0]
    table = {line[:13].strip(): line[13:].split("  ") for line in lines[3:7]}
    assert [text.strip() for text in table["pretrain conv"] if text] == ["0/2 running", "2/2 15 s"]
    assert f"running  mnist conv, seed 1 ({socket.gethostname()}, process {os.getpid()}): " in "".join(lines)
    assert "epoch 57/200, 5 min left loss=12.35" in "".join(lines)
    assert "failed   usps k_means: dekm: error: n_init=0 should be an integer >= 1." in lines


def test_a_killed_job_is_dead_at_once_on_its_own_host(results: Path) -> None:
    begin(results, "pretrained/mnist/conv", 0, {"pid": NO_PROCESS})
    (results / "pretrained/mnist/conv/.seed0.checkpoint.safetensors").touch()
    assert states(results)["mnist conv"] == "dead"
    assert "stopped at epoch 57/200 loss=12.35; a checkpoint is kept" in describe_status(read_status(results))


def test_a_job_of_another_host_is_dead_after_a_silence(results: Path) -> None:
    file = begin(results, "pretrained/mnist/conv", 0, {"pid": NO_PROCESS, "host": "another", "kernel": "abc"})
    assert states(results)["mnist conv"] == "running"
    os.utime(file, (0, time.time() - SILENT_SECONDS - 1))
    assert states(results)["mnist conv"] == "dead"


def test_an_interrupted_seed_waits_with_its_checkpoint(results: Path) -> None:
    (results / "pretrained/mnist/conv").mkdir(parents=True)
    (results / "pretrained/mnist/conv/.seed1.checkpoint.safetensors").touch()
    assert states(results)["mnist conv"] == "waiting"
    assert "waiting  mnist conv, seed 1: continues from its checkpoint" in describe_status(
        read_status(results)
    )


def test_what_finished_seeds_warn_of_is_shown(results: Path) -> None:
    complete(results, "runs/mnist/dekm", 0)
    complete(results, "runs/mnist/dekm", 1, warnings=["The embedding has collapsed."])
    expected = "warning  mnist dekm: 1 of 2 seeds warn, seed 1: The embedding has collapsed"
    assert expected in describe_status(read_status(results)).splitlines()


def test_what_the_preparation_warned_of_is_shown(results: Path) -> None:
    write_facts(results, "usps", warnings=["3 of 9 texts are copies of others"])
    lines = describe_status(read_status(results)).splitlines()
    assert "warning  usps: 3 of 9 texts are copies of others" in lines
    assert not any(line.startswith("warning  mnist") for line in lines)


def test_a_finished_result_has_no_time_left(results: Path) -> None:
    for dataset in ("mnist", "usps"):
        for cell in ("pretrained/{}/conv", "runs/{}/k_means", "runs/{}/dekm"):
            for seed in (0, 1):
                complete(results, cell.format(dataset), seed, seconds=3600.0)
    text = describe_status(read_status(results))
    assert "12 of 12 seeds complete, 0 running; 12 h 0 min of computation so far." in text
    assert "left." not in text


@pytest.mark.parametrize("content", ["", '{"host": "a"', '{"host": "a"}', "[]"])
def test_a_file_that_is_being_written_or_of_another_version_is_no_error(results: Path, content: str) -> None:
    file = begin(results, "pretrained/mnist/conv", 0)
    file.write_text(content)
    (file.parent / "facts.json").write_text(content)
    complete(results, "runs/mnist/dekm", 0)
    (results / "runs/mnist/dekm/seed0/metrics.json").write_text(content)
    (results / "data/mnist/facts.json").write_text(content)
    assert states(results)["mnist conv"] == "running"  # the folder has just changed
    os.utime(file.parent, (0, 0))
    assert states(results)["mnist conv"] == "dead"
    assert "at an unknown place" in describe_status(read_status(results))


@pytest.mark.parametrize("content", [{"shape": 3}, {"shape": []}, {"warnings": 3}, {"label": "D"}])
def test_damaged_facts_of_data_hide_no_seed(results: Path, content: dict[str, Any]) -> None:
    complete(results, "runs/mnist/dekm", 0)
    file = results / "data/mnist/facts.json"
    whole = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(whole | content))
    status = read_status(results)
    assert status.planned
    assert {cell.name: len(cell.seconds) for cell in status.cells}["mnist dekm"] == 1


@pytest.mark.parametrize("content", [None, "", "{}", '{"cells": [{"name": 3}]}', '{"cells": 3}'])
def test_a_result_without_a_plan_of_this_version_shows_what_has_begun(
    results: Path, content: str | None
) -> None:
    (results / "plan.json").unlink()
    if content is not None:
        (results / "plan.json").write_text(content)
    complete(results, "runs/mnist/dekm", 0)
    begin(results, "runs/mnist/dekm", 2)
    assert states(results) == {"mnist dekm": "running"}
    text = describe_status(read_status(results))
    assert "1 of 2 seeds complete" in text
    assert "cells that have not begun are not shown" in text


def test_a_folder_that_is_no_result_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        assert main(["status", str(folder)]) == 1
        error = capsys.readouterr().err
        reason = "it holds no plan.json, pretrained/ or runs/. They are there once an experiment has "
        reason += "begun, by make demo or make paper."
        assert error == f"dekm: error: {folder} should be a folder of results; {reason}\n"


def test_the_parent_of_results_shows_all_of_them(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    complete(results.with_name("demo"), "runs/digits/dekm", 0)
    (results.parent / "mlartifacts").mkdir()
    assert [path.name for path in find_results([results.parent])] == ["demo", "paper"]
    with pytest.raises(InputError, match="should be a folder of results"):
        list(find_results([results, results.parent / "mlartifacts"]))
    assert main(["status", str(results.parent)]) == 0
    shown = capsys.readouterr().out
    assert "demo: 1 of 1 seeds complete" in shown
    assert "paper: 0 of 12 seeds complete" in shown


def test_reading_writes_nothing(results: Path) -> None:
    begin(results, "pretrained/mnist/conv", 0)
    before = sorted(results.rglob("*"))
    describe_status(read_status(results))
    assert sorted(results.rglob("*")) == before


def test_texts_of_many_terms_take_little_longer_than_vectors_of_few_values() -> None:
    assert work_of(0, [0]) == work_of(0, [64]) == 0
    assert 1 < work_of(2000, [2000]) / work_of(2000, [64]) < 2
    assert work_of(10, [28, 28, 1]) == 7840


@pytest.mark.parametrize(("has_images", "expected"), [(True, 20.0), (False, None)])
def test_images_say_nothing_of_the_time_of_vectors(has_images: bool, expected: float | None) -> None:
    images = CellStatus("cluster", "a", "dec", "DEC", [0], {0: 10.0}, work=5, has_images=True)
    other = CellStatus("cluster", "b", "dec", "DEC", [0], work=10, has_images=has_images)
    assert expected_seconds(other, [images, other]) == expected


def test_the_time_left_follows_the_same_method_on_other_data_by_size(results: Path) -> None:
    complete(results, "runs/usps/dekm", 0, seconds=10.0)
    complete(results, "runs/usps/dekm", 1, seconds=30.0)
    begin(results, "runs/mnist/dekm", 0, may_stop_early=True)
    cells = read_status(results).cells
    usps, mnist = cells[5], cells[2]
    assert expected_seconds(usps, cells) == 20.0
    assert expected_seconds(mnist, cells) == 114.0 + 286.0  # of its running seed
    assert time_left(cells).seconds == 286.0 + 400.0
    assert time_left(cells).n_unknown == 8
    kmeans = next(cell for cell in cells if cell.name == "mnist k_means")
    complete(results, "runs/usps/k_means", 0, seconds=2.0)
    assert expected_seconds(kmeans, read_status(results).cells) == 14.0


def test_a_fit_that_failed_says_nothing_of_the_time_of_others(results: Path) -> None:
    complete(results, "runs/usps/dekm", 0, seconds=3.0, failed="it diverged")
    cell = next(cell for cell in read_status(results).cells if cell.name == "usps dekm")
    assert expected_seconds(cell, [cell]) is None
    complete(results, "runs/usps/dekm", 1, seconds=30.0)
    status = read_status(results)
    cell = next(cell for cell in status.cells if cell.name == "usps dekm")
    assert (cell.state, expected_seconds(cell, [cell])) == ("complete", 30.0)
    assert "2/2 30 s, 1 failed" in describe_status(status)
    assert "warning  usps dekm: seed 0 failed: it diverged" in describe_status(status)


def test_a_seed_that_takes_longer_than_expected_takes_nothing_from_the_others(results: Path) -> None:
    complete(results, "runs/usps/dekm", 0, seconds=10.0)
    begin(results, "runs/usps/dekm", 1, seconds=25.0, may_stop_early=True)
    cells = read_status(results).cells
    late = next(cell for cell in cells if cell.name == "usps dekm")
    assert seconds_left(late, 1, 10.0) == 0.0
    assert seconds_left(late, 1, 30.0) == 5.0
    assert time_left(cells).seconds == 2 * expected_seconds(
        next(c for c in cells if c.name == "mnist dekm"), cells
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5900, "98 min"), (7300, "2 h 2 min"), (200000, "2 d 8 h")],
)
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_plan_has_the_cells_of_tables_and_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = {
        "name": "small",
        "seeds": [0, 1],
        "datasets": {"digits": None, "topics": None, "frgc": None},
        "methods": {"k_means": None, "dekm": None, "dec": None},
        "figures": {"fig1": {"dataset": "digits"}, "fig4": {"dataset": "topics"}},
    }
    write_plan(Experiment(config))
    status = read_status(tmp_path / "results/small")
    assert list(status.left_out) == ["frgc"]
    seeds = {(cell.dataset, cell.subject): list(cell.seeds) for cell in status.cells}
    assert seeds["digits", "conv"] == seeds["digits", "mlp"] == seeds["topics", "strategy_5"] == [0, 1]
    assert seeds["fig1", "dekm"] == seeds["fig1", "conv"] == [0]
    assert ("topics", "conv") not in seeds
    assert ("fig1", "k_means") not in seeds
    assert not any(dataset == "frgc" for dataset, _ in seeds)


def test_a_seed_that_takes_longer_than_the_others_needs_no_negative_time() -> None:
    progress = Progress("host", 1, "iteration", 5, 0, True, 25.0, None, {})
    running = [UnfinishedSeed(1, progress, alive=True)]
    cell = CellStatus("cluster", "a", "dec", "DEC", [0, 1], {0: 10.0}, running)
    assert time_left([cell]).seconds == 0
    assert seconds_left(cell, 1, 40.0) == 15


def epochs_until(n: int, n_epochs: int = 10) -> Epochs:
    """The record of a pretraining after some epochs."""
    epochs = Epochs()
    for n_epoch in range(1, n + 1):
        epochs(Epoch(n_epoch, n_epochs, 0.5, None))
    return epochs


def test_a_running_job_writes_its_progress_and_removes_it(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("dekm.experiment.live.WRITE_SECONDS", 0.01)
    folder = SeedFolder(tmp_path)
    live = Live(folder, "digits conv, seed 0")
    with live.writing():
        live.follow(epochs_until(3))
        deadline = time.monotonic() + 10
        while not (folder.file("live").exists() and "3,0.5" in folder.file("live").read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        found = json.loads(folder.file("progress").read_text())
    assert (found["unit"], found["done"], found["total"], found["latest"]) == ("epoch", 3, 10, {"loss": 0.5})
    assert list(tmp_path.iterdir()) == []


def test_a_heartbeat_touches_the_file_without_news(tmp_path: Path) -> None:
    live = Live(SeedFolder(tmp_path), "digits conv, seed 0")
    live.flush()
    os.utime(live.file, (0, 0))
    live.flush()
    assert time.time() - live.file.stat().st_mtime < 5


def test_a_full_disk_does_not_end_a_job(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("dekm.experiment.live.WRITE_SECONDS", 0.01)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Progress, "write", full)
    live = Live(SeedFolder(tmp_path), "digits conv, seed 0")
    with live.writing():
        live.follow(epochs_until(1))
        time.sleep(0.05)


def test_the_curve_of_a_continued_job_has_every_row_once(tmp_path: Path) -> None:
    live = Live(SeedFolder(tmp_path), "digits conv, seed 0")
    epochs = epochs_until(1)
    live.follow(epochs)
    live.flush()
    kept = epochs_until(3)
    kept.points = [point | {"seconds": 100.0 * point["epoch"]} for point in kept.points]
    epochs.restore(kept.state())
    live.flush()
    epochs(Epoch(4, 10, 0.5, None))
    epochs.points[-1]["seconds"] = 302.0
    live.flush()
    assert [row.split(",")[0] for row in live.curve.read_text().splitlines()] == ["epoch", "1", "2", "3", "4"]
    found = read_progress(live.file)
    assert found is not None
    assert found.seconds_per_unit == 2.0  # of this process, not of the interrupted one
