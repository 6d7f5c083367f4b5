import errno
import json
import shutil
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.entities import Metric, ViewType

from dekm.cli import main
from dekm.errors import InputError
from dekm.files import locked, read_json, write_json, write_manifest
from dekm.files.leftovers import temporary_path
from dekm.results.progress import Progress
from dekm.results.record import read_record
from dekm.results.result_set import RUN_OF_PAGE, ResultSet, result_folders
from dekm.tracking.artifacts import link_or_copy
from dekm.tracking.database import local_path, tracking_uri
from dekm.tracking.runs import POINTS_PER_CURVE, curves, log_progress, note, start_run
from dekm.tracking.store import sync_all
from dekm.tracking.ui import check_port, follow_runs
from dekm.tracking.views import view_path, view_paths
from tests.faults.material import start as start_process
from tests.helpers.handmade import write_facts, write_summary

pytestmark = pytest.mark.usefixtures("copied_databases")

FACTS = {
    "dataset": "digits",
    "method": "dekm",
    "label": "DEKM",
    "settings": {"max_iter": 3},
    "data": "d1",
    "commit": "c0ffee",
    "device": "cpu",
    "versions": {"python": "3"},
    "created": "2026-01-01T00:00:00.000+00:00",
}


def write_run(results: Path, seed: int, *, key: str = "k", id_: str | None = None, n_rows: int = 3) -> Path:
    folder = results / "runs" / "digits" / "dekm" / f"seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    facts = FACTS | {"seed": seed, "key": f"{key}{seed}", "id": id_ or f"id{key}{seed}"}
    (folder / "facts.json").write_text(json.dumps(facts))
    (folder / "metrics.json").write_text(json.dumps({"acc": 0.9, "silhouette": 0.2, "seconds": 2.5}))
    rows = [f"{i},{'' if i == 0 else 0.5 / i},{i / 10},{0.5 + i / 1000}" for i in range(n_rows)]
    (folder / "history.csv").write_text("\n".join(["n_iter,loss,seconds,acc", *rows]) + "\n")
    write_manifest(folder)
    return folder


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    write_run(folder, 0)
    write_run(folder, 1)
    return folder


def stored(store: Path, name: str = "demo") -> list:
    client = MlflowClient(tracking_uri(store))
    return list(client.search_runs([client.get_experiment_by_name(name).experiment_id]))


def test_a_run_whose_fit_failed_has_curves_and_no_score(results: Path, tmp_path: Path) -> None:
    folder = write_run(results, 1)
    write_json(folder / "facts.json", read_json(folder / "facts.json") | {"failed": "it diverged"})
    write_manifest(folder)
    sync_all([results], tmp_path)
    runs = {run.info.run_name: run for run in stored(tmp_path)}
    failed = runs["digits/dekm/s1"]
    assert failed.info.status == "FAILED"
    assert failed.data.tags["warnings"] == "seed 1 failed: it diverged"
    assert set(failed.data.metrics) == {"train/loss", "train/acc"}  # the view averages acc and seconds
    sync_all([results], tmp_path)
    assert {run.info.run_id for run in stored(tmp_path)} == {run.info.run_id for run in runs.values()}


def test_a_run_has_its_parameters_curves_and_files(results: Path, tmp_path: Path) -> None:
    sync_all([results], tmp_path)
    client = MlflowClient(tracking_uri(tmp_path))
    run = next(run for run in stored(tmp_path) if run.info.run_name == "digits/dekm/s1")
    assert run.data.params == {"dataset": "digits", "method": "dekm", "seed": "1", "max_iter": "3"}
    assert run.data.metrics["acc"] == 0.502  # of the last iteration
    assert set(run.data.metrics) == {"acc", "seconds", "train/loss", "partition/silhouette"}
    assert [data.dataset.name for data in run.inputs.dataset_inputs] == ["digits"]
    history = client.get_metric_history(run.info.run_id, "acc")
    assert [(point.step, point.value) for point in history] == [(0, 0.5), (1, 0.501), (2, 0.502)]
    assert [point.step for point in client.get_metric_history(run.info.run_id, "train/loss")] == [1, 2]
    assert run.info.end_time - run.info.start_time == 2500
    assert {file.path for file in client.list_artifacts(run.info.run_id)} == {
        "facts.json",
        "history.csv",
        "manifest.json",
        "metrics.json",
    }


def test_a_run_gets_its_page_when_there_is_one(results: Path, tmp_path: Path) -> None:
    sync_all([results], tmp_path)
    page = ResultSet(results).page_of_run("digits", "dekm")
    page.parent.mkdir()
    client = MlflowClient(tracking_uri(tmp_path))
    for content in ("first", "second"):
        page.unlink(missing_ok=True)
        page.write_text(RUN_OF_PAGE.format("idk1") + content)
        sync_all([results], tmp_path)
        runs = {run.data.tags["id"]: run.info for run in stored(tmp_path)}
        paths = {
            id_: {file.path for file in client.list_artifacts(info.run_id)} for id_, info in runs.items()
        }
        assert page.name in paths["idk1"]
        assert page.name not in paths["idk0"]
        assert (local_path(runs["idk1"].artifact_uri) / page.name).read_text() == page.read_text()


def test_the_first_run_of_a_cell_has_its_figures(results: Path, tmp_path: Path) -> None:
    entries = {str(seed): {"key": f"k{seed}", "id": f"idk{seed}"} for seed in range(2)}
    write_json(results / "runs" / "digits" / "dekm" / "summary.json", {"seeds": entries})
    folder = ResultSet(results).figures_of_run("digits", "dekm")
    folder.mkdir(parents=True)
    (folder / "curves.png").write_bytes(b"drawn")
    for _ in range(2):
        sync_all([results], tmp_path)
    infos = {run.data.tags.get("id"): run.info for run in stored(tmp_path)}
    assert (local_path(infos["idk0"].artifact_uri) / "curves.png").read_bytes() == b"drawn"
    assert not (local_path(infos["idk1"].artifact_uri) / "curves.png").exists()


def test_a_damaged_summary_costs_the_figures_of_its_cell_only(results: Path, tmp_path: Path) -> None:
    (results / "runs" / "digits" / "dekm" / "summary.json").write_text('{"seeds": 3}')
    folder = ResultSet(results).figures_of_run("digits", "dekm")
    folder.mkdir(parents=True)
    (folder / "curves.png").write_bytes(b"drawn")
    write_run(tmp_path / "later", 0)
    sync_all([results, tmp_path / "later"], tmp_path)
    assert {run.data.tags.get("id") for run in stored(tmp_path)} >= {"idk0"}
    assert len(stored(tmp_path, "later")) == 1


def test_runs_beyond_the_first_page_are_logged_once_although_others_are_deleted(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(1, 6):
        write_run(results, seed)
    sync_all([results], tmp_path)
    whole = MlflowClient.search_runs
    monkeypatch.setattr(
        MlflowClient,
        "search_runs",
        lambda self, *given, **more: whole(self, *given, **{"max_results": 2} | more),
    )
    for run in stored(tmp_path)[:2]:  # of seeds that were made again
        MlflowClient(tracking_uri(tmp_path)).set_tag(run.info.run_id, "id", "old")
    sync_all([results], tmp_path)
    monkeypatch.undo()
    assert sorted(run.data.tags["id"] for run in stored(tmp_path)) == [f"idk{seed}" for seed in range(6)]


@pytest.mark.parametrize("tag", ["stage", "current"])
def test_a_tag_that_somebody_has_deleted_stops_no_update(tag: str, results: Path, tmp_path: Path) -> None:
    sync_all([results], tmp_path)
    before = stored(tmp_path)
    for run in before:
        MlflowClient(tracking_uri(tmp_path)).delete_tag(run.info.run_id, tag)
    sync_all([results], tmp_path)
    assert len(stored(tmp_path)) == len(before)


def test_what_a_run_warns_of_is_a_tag(results: Path, tmp_path: Path) -> None:
    folder = write_run(results, 1)
    facts = json.loads((folder / "facts.json").read_text())
    lost = ["The embedding has collapsed.", "A cluster holds 4 samples."]
    (folder / "facts.json").write_text(json.dumps(facts | {"warnings": lost}))
    write_manifest(folder)
    sync_all([results], tmp_path)
    tags = {run.info.run_name: run.data.tags.get("warnings") for run in stored(tmp_path)}
    assert tags == {"digits/dekm/s0": None, "digits/dekm/s1": " ".join(lost)}


def test_what_the_preparation_warned_of_is_a_tag_of_its_runs(results: Path, tmp_path: Path) -> None:
    write_facts(results, "digits", warnings=["3 of 9 texts are copies of others"])
    sync_all([results], tmp_path)
    tags = {run.data.tags.get("warnings") for run in stored(tmp_path)}
    assert tags == {"3 of 9 texts are copies of others"}


def test_syncing_again_adds_nothing(results: Path, tmp_path: Path) -> None:
    for _ in range(3):
        sync_all([results], tmp_path)
    assert len(stored(tmp_path)) == 2


def test_a_run_made_again_under_its_key_takes_the_place_of_the_old_one(results: Path, tmp_path: Path) -> None:
    sync_all([results], tmp_path)
    write_run(results, 0, id_="again")
    sync_all([results], tmp_path)
    assert sorted(run.data.tags["id"] for run in stored(tmp_path)) == ["again", "idk1"]


def test_a_run_of_another_configuration_stays_and_is_marked_as_past(results: Path, tmp_path: Path) -> None:
    sync_all([results], tmp_path)
    write_run(results, 0, key="other")
    sync_all([results], tmp_path)
    current = {run.data.tags["id"]: run.data.tags["current"] for run in stored(tmp_path)}
    assert current == {"idk0": "no", "idk1": "yes", "idother0": "yes"}


def test_a_run_left_open_by_a_killed_sync_is_made_whole(results: Path, tmp_path: Path) -> None:
    sync_all([results], tmp_path)
    client = MlflowClient(tracking_uri(tmp_path))
    experiment_id = client.get_experiment_by_name("demo").experiment_id
    finished = next(run for run in stored(tmp_path) if run.data.tags["id"] == "idk0")
    client.delete_run(finished.info.run_id)
    half = client.create_run(experiment_id, tags={"key": "k0", "id": "idk0", "current": "yes"})
    client.log_batch(half.info.run_id, metrics=[Metric("acc", 0.1, 0, 0)])
    sync_all([results], tmp_path)
    runs = stored(tmp_path)
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert sorted(run.data.metrics["acc"] for run in runs) == [0.502, 0.502]


def test_a_long_curve_is_thinned_but_keeps_its_ends(tmp_path: Path) -> None:
    folder = write_run(tmp_path, 0, n_rows=1001)
    points = [step for name, _, _, step in curves(read_record(folder)) if name == "acc"]
    assert len(points) <= POINTS_PER_CURVE
    assert (points[0], points[-1]) == (0, 1000)


def test_a_run_that_is_being_made_shows_its_points_and_ends_with_its_maker(
    results: Path, tmp_path: Path
) -> None:
    part = temporary_path(results / "runs" / "digits" / "dekm" / "seed2")
    shutil.copytree(write_run(results, 2), part)
    shutil.rmtree(part.with_name("seed2"))
    (part / "history.csv").rename(part / "live.csv")
    (part / "manifest.json").unlink()
    with locked(part.with_name("seed2")):
        for n_points in (3, 4):
            sync_all([results], tmp_path)
            run = next(run for run in stored(tmp_path) if run.info.status == "RUNNING")
            assert run.info.run_name == "digits/dekm/s2"
            points = MlflowClient(tracking_uri(tmp_path)).get_metric_history(run.info.run_id, "acc")
            assert [point.step for point in points] == list(range(n_points))
            with (part / "live.csv").open("a") as live:
                live.write("3,0.1,0.3,0.6\n")
    sync_all([results], tmp_path)
    assert {run.info.status for run in stored(tmp_path)} == {"FINISHED"}
    assert len(stored(tmp_path)) == 2


def write_pretraining(folder: Path, n_epochs: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    facts = {name: value for name, value in FACTS.items() if name not in ("method", "label")}
    facts |= {"architecture": "conv", "seed": 0, "key": "p0", "id": f"id{n_epochs}"}
    (folder / "facts.json").write_text(json.dumps(facts))
    rows = [f"{epoch},{1 / epoch}" for epoch in range(1, n_epochs + 1)]
    (folder / "loss.csv").write_text("\n".join(["epoch,loss", *rows]) + "\n")
    (folder / "metrics.json").write_text(json.dumps({"loss": 1 / n_epochs, "seconds": 8.0}))
    write_manifest(folder)


def test_a_pretraining_grows_while_it_is_made(tmp_path: Path) -> None:
    part = temporary_path(tmp_path / "demo/pretrained/digits/conv/seed0")
    write_pretraining(part, 4)
    (part / "loss.csv").unlink()
    (part / "manifest.json").unlink()
    (part / "live.csv").write_text("epoch,loss,seconds\n1,0.5,2.0\n")
    known = {"host": "a", "pid": 1, "unit": "epoch", "total": 4, "may_stop_early": False, "latest": {}}
    with locked(part.with_name("seed0")):
        for epoch in (2, 3):
            with (part / "live.csv").open("a") as live:
                live.write(f"{epoch},0.25,{2.0 * epoch}\n")
            progress = Progress(**known, done=epoch, seconds=2.0 * epoch, seconds_per_unit=2.0)
            progress.write(part / "progress.json")
            sync_all([tmp_path / "demo"], tmp_path)
            (run,) = stored(tmp_path)
            assert (run.info.run_name, run.info.status) == ("digits/conv/s0", "RUNNING")
            points = MlflowClient(tracking_uri(tmp_path)).get_metric_history(run.info.run_id, "pretrain/loss")
            assert [point.step for point in points] == list(range(1, epoch + 1))
            assert run.data.tags["progress"] == f"epoch {epoch}/4, {2 * (4 - epoch)} s left"


@pytest.mark.parametrize("is_refused", [False, True])
def test_the_store_links_the_files_of_the_runs_where_it_can(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    (results / "tables").mkdir()
    (results / "tables" / "table3.md").write_text("table")
    if is_refused:
        monkeypatch.setattr("os.link", refuse)
    sync_all([results], tmp_path)
    originals = [file for file in results.rglob("*") if file.is_file()]
    assert {file.stat().st_nlink for file in originals} == {1 if is_refused else 2}
    for run in stored(tmp_path):
        folder = (
            results
            if "table" in run.info.run_name
            else results / f"runs/digits/dekm/seed{run.data.params['seed']}"
        )
        copies = [file for file in local_path(run.info.artifact_uri).rglob("*") if file.is_file()]
        assert copies
        for copy in copies:
            original = folder / copy.relative_to(local_path(run.info.artifact_uri))
            assert copy.read_bytes() == original.read_bytes()


def test_a_run_and_its_pretraining_link_to_each_other(results: Path, tmp_path: Path) -> None:
    write_pretraining(results / "pretrained/digits/conv/seed0", 4)
    facts = results / "runs/digits/dekm/seed0/facts.json"
    facts.write_text(json.dumps(json.loads(facts.read_text()) | {"pretrained": "p0"}))
    write_manifest(facts.parent)
    sync_all([results], tmp_path)
    runs = {run.info.run_name: run for run in stored(tmp_path)}
    start, run = runs["digits/conv/s0"], runs["digits/dekm/s0"]
    assert f"/runs/{start.info.run_id})" in run.data.tags["mlflow.note.content"]
    assert "started from" not in runs["digits/dekm/s1"].data.tags["mlflow.note.content"]
    assert "tags.pretrained%20%3D%20%22p0%22" in start.data.tags["mlflow.note.content"]
    client = MlflowClient(tracking_uri(tmp_path))
    found = client.search_runs([start.info.experiment_id], "tags.pretrained = 'p0'")
    assert [started.info.run_name for started in found] == ["digits/dekm/s0"]
    losses = client.get_metric_history(start.info.run_id, "pretrain/loss")
    assert [point.timestamp - start.info.start_time for point in losses] == [2000, 4000, 6000, 8000]


def test_tables_and_figures_are_one_run_that_newer_ones_replace(results: Path, tmp_path: Path) -> None:
    write_summary(results, "mine", "k_means", [{}])
    for text in ("old", "newer"):
        (results / "tables").mkdir(exist_ok=True)
        (results / "tables" / "table3.md").write_text(text)
        for _ in range(2):
            sync_all([results], tmp_path)
        outputs = [run for run in stored(tmp_path) if run.info.run_name == "tables and figures"]
        assert len(outputs) == 1
        artifacts = Path(outputs[0].info.artifact_uri.removeprefix("file://"))
        assert (artifacts / "tables" / "table3.md").read_text() == text
        assert "mine: only K-means has been run" in outputs[0].data.tags["mlflow.note.content"]


def test_half_written_folders_are_not_runs(results: Path) -> None:
    folder = results / "runs" / "digits" / "dekm"
    shutil.copytree(folder / "seed0", folder / ".seed2.123")
    (folder / "seed3").mkdir()
    assert len(ResultSet(results).seeds()) == 2


def test_eight_processes_at_once_on_a_fresh_store_lose_and_double_nothing(tmp_path: Path) -> None:
    folders = [tmp_path / f"set{i}" for i in range(4)]
    for folder in folders:
        write_run(folder, 0)
    processes = [start_process(sync_all, [folder], tmp_path) for folder in folders + folders]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    assert [len(stored(tmp_path, folder.name)) for folder in folders] == [1] * 4


def test_the_command_line_reports_a_store_that_cannot_be_written(results: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    command = [sys.executable, "-m", "dekm", "sync", str(results), "--store", str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "is not a folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_label_in_the_description_of_a_run_is_no_markup(results: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(FACTS, "label", "[click](http://host) <img src=x>")
    shown = note(read_record(write_run(results, 5)))
    assert shown.startswith(r"\[click\](http&#58;//host) &lt;img src=x> on digits, seed 5")


def test_the_ui_without_runs_says_how_to_make_some(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dekm", "ui", "--store", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "make demo" in done.stderr


def test_a_run_without_an_iteration_yet_is_shown_without_points(results: Path, tmp_path: Path) -> None:
    part = temporary_path(results / "runs" / "digits" / "dekm" / "seed2")
    shutil.copytree(write_run(results, 2), part)
    shutil.rmtree(part.with_name("seed2"))
    (part / "history.csv").unlink()
    (part / "manifest.json").unlink()
    with locked(part.with_name("seed2")):
        sync_all([results], tmp_path)
        assert [run.info.run_name for run in stored(tmp_path) if run.info.status == "RUNNING"] == [
            "digits/dekm/s2"
        ]


def test_a_run_that_ends_while_it_is_read_is_left_to_the_next_time(results: Path, tmp_path: Path) -> None:
    whole = write_run(results, 2)
    part = temporary_path(whole)
    shutil.copytree(whole, part)
    with locked(whole):
        (unfinished,) = ResultSet(results).unfinished_seeds()
        shutil.rmtree(part)
        assert list(ResultSet(results).unfinished_seeds()) == []
    client = MlflowClient(tracking_uri(tmp_path))
    run = start_run(client, client.create_experiment("demo"), unfinished, start=0)
    log_progress(client, run.info.experiment_id, unfinished, run)
    assert client.get_run(run.info.run_id).data.metrics == {}


def test_a_port_whose_server_has_just_stopped_can_be_used_again() -> None:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        with pytest.raises(InputError, match=rf"port {port} cannot be used .* make ui PORT=(?!{port}\b)"):
            check_port(port)
        with socket.create_connection(("127.0.0.1", port)) as client:
            connection, _ = server.accept()
            connection.close()
            assert client.recv(1) == b""
    check_port(port)


def test_a_deleted_experiment_comes_back_and_the_runs_of_others_are_left_alone(
    results: Path, tmp_path: Path
) -> None:
    sync_all([results], tmp_path)
    client = MlflowClient(tracking_uri(tmp_path))
    experiment_id = client.get_experiment_by_name("demo").experiment_id
    foreign = client.create_run(experiment_id, run_name="foreign")
    client.delete_experiment(experiment_id)
    sync_all([results], tmp_path)
    runs = stored(tmp_path)
    assert foreign.info.run_id in [run.info.run_id for run in runs]
    assert len(runs) == 3


DAMAGE = {
    "history.csv": b"n_iter,loss\n0,word\n",
    "facts.json": b"",
    "metrics.json": b"{}",
}


def test_damaged_runs_are_named_and_stop_nothing_else(
    results: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = [write_run(results, seed) / name for seed, name in enumerate(DAMAGE)]
    for file in damaged:
        file.write_bytes(DAMAGE[file.name])
    write_run(results, 3)
    write_run(tmp_path / "later", 0)
    for _ in range(2):
        sync_all([results, tmp_path / "later"], tmp_path)
    assert [run.info.run_name for run in stored(tmp_path)] == ["digits/dekm/s3"]
    assert len(stored(tmp_path, "later")) == 1
    assert all(str(file) in caplog.text for file in damaged)
    client = MlflowClient(tracking_uri(tmp_path))
    experiment = client.get_experiment_by_name("demo")
    assert len(client.search_runs([experiment.experiment_id], run_view_type=ViewType.ALL)) == 1


def break_at_creation(store: Path) -> None:
    """What a kill during the migrations of MLflow leaves."""
    with closing(sqlite3.connect(store / "mlflow.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '451aebb31d03'")
        connection.execute("CREATE TABLE _alembic_tmp_experiments (a INTEGER)")
        connection.commit()


UNUSABLE = {
    "half-made": break_at_creation,
    "text": lambda store: (store / "mlflow.db").write_text("no database " * 100),
    "folder": lambda store: ((store / "mlflow.db").unlink(), (store / "mlflow.db").mkdir()),
}


def test_a_database_that_cannot_be_used_is_kept_and_made_again(
    results: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_run(tmp_path / "other", 0)
    sync_all([results, tmp_path / "other"], tmp_path)
    for number, make_unusable in enumerate(UNUSABLE.values()):
        make_unusable(tmp_path)
        sync_all([results], tmp_path)
        assert len(stored(tmp_path)) == 2
        assert len(stored(tmp_path, "other")) == 1  # all results beside the store, not only those given
        assert len(list((tmp_path / "damaged").glob("mlflow.db.*"))) == number + 1
    assert caplog.text.count("made again from the runs") == len(UNUSABLE)


def test_a_moved_project_has_all_runs_and_files_at_the_new_place(results: Path, tmp_path: Path) -> None:
    sync_all([results], tmp_path)
    moved = tmp_path.with_name('moved #100% of {x} "it\'s"')
    tmp_path.rename(moved)
    try:
        sync_all([moved / "demo"], moved)
        for run in stored(moved):
            artifacts = local_path(run.info.artifact_uri)
            assert artifacts.is_relative_to(moved / "mlartifacts" / "demo")
            assert (artifacts / "facts.json").is_file()
        assert len(stored(moved)) == 2
    finally:
        moved.rename(tmp_path)
    assert not tmp_path.with_name("moved ").exists()


def test_a_path_that_no_address_of_a_database_can_hold_is_one_line(results: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MLflow cannot open a database in a folder with '\?'"):
        sync_all([results], tmp_path / "what?")


def test_the_files_of_a_deleted_run_are_removed(results: Path, tmp_path: Path) -> None:
    for id_ in ("first", "second"):
        write_run(results, 0, id_=id_)
        sync_all([results], tmp_path)
    assert len(list((tmp_path / "mlartifacts" / "demo").iterdir())) == len(stored(tmp_path)) == 2


@pytest.mark.parametrize("name", ["nothing", "mlartifacts", "reference", "damaged"])
def test_a_folder_that_holds_no_results_is_refused(tmp_path: Path, name: str) -> None:
    if name != "nothing":
        write_run(tmp_path / name, 0)
    with pytest.raises(InputError, match=f"{name}.*of results"):
        sync_all([tmp_path / name], tmp_path)
    assert not (tmp_path / "mlflow.db").exists()


def test_the_process_that_follows_the_runs_outlives_an_error(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    parents, errors = iter([1, 1, 1, 1, 2]), iter(["first", "first", "second"])

    def fail(*_: object) -> None:
        raise RuntimeError(next(errors))

    monkeypatch.setattr("os.getppid", lambda: next(parents))
    monkeypatch.setattr("dekm.tracking.ui.sync_all", fail)
    follow_runs([results], tmp_path, 0.0)
    assert not list(errors)
    assert caplog.text.count("the next update tries again: first") == 1
    assert caplog.text.count("the next update tries again: second") == 1


def test_results_that_have_only_a_pretraining_are_followed(results: Path, tmp_path: Path) -> None:
    write_pretraining(tmp_path / "new/pretrained/digits/conv/seed0", 2)
    (tmp_path / "mlartifacts/demo/runs").mkdir(parents=True)
    assert result_folders(tmp_path) == [results, tmp_path / "new"]
    assert main(["sync", "--store", str(tmp_path)]) == 0
    assert [run.info.run_name for run in stored(tmp_path, "new")] == ["digits/conv/s0"]


def test_a_view_of_the_runs_shows_their_scores(results: Path, tmp_path: Path) -> None:
    sync_all([results], tmp_path)
    client = MlflowClient(tracking_uri(tmp_path))
    experiment = client.get_experiment_by_name("demo")
    view = json.loads(experiment.tags["mlflow.sharedViewState.scores"])
    assert {f"metrics.`{name}`" for name in ("acc", "nmi", "ari", "seconds")} <= set(view["selectedColumns"])
    assert view_paths(tmp_path) == {"demo": view_path(experiment.experiment_id)}
    means = json.loads(experiment.tags["mlflow.sharedViewState.means"])
    assert [group["groupByData"] for group in means["groupBy"]["groupByKeys"]] == ["dataset", "method"]
    for key in ("scores", "means"):
        assert view_path(experiment.experiment_id, key) in experiment.tags["mlflow.note.content"]
    client.set_experiment_tag(experiment.experiment_id, "mlflow.note.content", "mine")
    sync_all([results], tmp_path)
    assert client.get_experiment(experiment.experiment_id).tags["mlflow.note.content"] == "mine"


def test_all_parameters_are_logged_with_those_of_the_pretraining(results: Path, tmp_path: Path) -> None:
    file = results / "runs" / "digits" / "dekm" / "seed0" / "facts.json"
    facts = json.loads(file.read_text()) | {"parameters": {"max_iter": 3, "lr": 0.1}}
    file.write_text(json.dumps(facts | {"pretraining": {"lr": 0.5}}))
    write_manifest(file.parent)
    sync_all([results], tmp_path)
    run = next(run for run in stored(tmp_path) if run.info.run_name == "digits/dekm/s0")
    assert run.data.params.items() >= {"max_iter": "3", "lr": "0.1", "pretraining.lr": "0.5"}.items()


def test_a_file_that_is_logged_again_replaces_its_link_and_not_its_source(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("first")
    for _ in range(2):
        link_or_copy(source, target)
    assert source.samefile(target)
    source.unlink()
    source.write_text("second")  # as a file of results is replaced: a new one under the old name
    link_or_copy(source, target)
    assert source.samefile(target)
    assert target.read_text() == "second"


def test_the_target_of_a_symbolic_link_is_logged(tmp_path: Path) -> None:
    (tmp_path / "annex").write_text("content")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "link").symlink_to("../annex")
    link_or_copy(tmp_path / "results" / "link", tmp_path / "target")
    assert not (tmp_path / "target").is_symlink()
    assert (tmp_path / "target").read_text() == "content"


def test_a_full_disk_without_links_is_one_error(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    def fill(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(source), None, str(target))

    monkeypatch.setattr("os.link", refuse)
    monkeypatch.setattr("shutil.copyfile", fill)
    with pytest.raises(InputError, match=r"cannot be written: No space left on device\. It needs"):
        sync_all([results], tmp_path)
