"""The runs on the MLflow server of a team: a real one on loopback, stopped and started in between."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import ViewType

from dekm.cli import main
from dekm.errors import InputError
from dekm.tracking.server import DEFAULTS, PENDING, default_store, read_store
from dekm.tracking.store import sync_all
from tests.helpers.ui import free_port, wait_for
from tests.test_tracking import write_run


@contextlib.contextmanager
def serving(folder: Path, port: int) -> Iterator[None]:
    """An MLflow server whose runs and artifacts are in a folder."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder}/runs.db", "--artifacts-destination", str(folder)]
    environment = os.environ | DEFAULTS | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, folder / "server.log")
        yield
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**DEFAULTS, "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}.items():
        monkeypatch.setenv(name, value)


def test_a_server_is_caught_up_after_it_was_down_and_shared_with_others(
    tmp_path: Path, impatient: None, restored_logging: None, caplog: pytest.LogCaptureFixture
) -> None:
    port, done = free_port(), tmp_path / "track.done"
    address = f"http://127.0.0.1:{port}"
    mine, other = tmp_path / "me/demo", tmp_path / "you/demo"
    write_run(mine, 0)
    (mine / "tables").mkdir()
    (mine / "tables/table3.md").write_text("a table")
    write_run(other, 0, id_="of the other")
    sync = ["sync", str(mine), "--store", address, "--done", str(done)]

    def stored() -> dict[str, str]:
        runs = client.search_runs([experiment], run_view_type=ViewType.ACTIVE_ONLY)
        assert {run.info.status for run in runs} == {"FINISHED"}
        return {run.data.tags["id"]: run.info.run_id for run in runs}

    assert main(sync) == 0  # there is no server yet
    assert done.read_text() == PENDING
    assert f"the MLflow server {address} could not be updated: Connection refused." in caplog.text
    with serving(tmp_path / "server", port):
        for _ in range(2):
            assert main(sync) == 0
        assert done.read_text() == ""
        client = MlflowClient(address)
        experiment = client.get_experiment_by_name("demo").experiment_id
        first = stored()
        assert len(first) == 2
        sync_all([other], address)
        sync_all([mine], address)
        assert stored().keys() == first.keys() | {"of the other"}
        files = client.list_artifacts(first["idk0"])
        assert {file.path for file in files} == {"facts.json", "history.csv", "manifest.json", "metrics.json"}
        copy = client.download_artifacts(first["idk0"], "metrics.json", str(tmp_path))
        assert Path(copy).read_bytes() == (mine / "runs/digits/dekm/seed0/metrics.json").read_bytes()
    write_run(mine, 1)
    write_run(mine, 0, id_="again")
    with pytest.raises(InputError, match="Connection refused"):
        sync_all([mine], address)
    with serving(tmp_path / "server", port):
        sync_all([mine], address)
        assert stored().keys() == first.keys() - {"idk0"} | {"again", "idk1", "of the other"}
    assert not (tmp_path / "me/mlflow.db").exists()


@pytest.mark.parametrize("store", ["results", "a:b/c", "http", "/data/http:/x"])
def test_a_folder_is_a_folder(store: str) -> None:
    if ":" in store[:2]:
        with pytest.raises(InputError, match="should be a folder or the address of a server"):
            read_store(store)
    else:
        assert read_store(store) == Path(store)


@pytest.mark.parametrize("store", ["http://host:5000", "https://host/mlflow/"])
def test_an_address_is_a_server(store: str) -> None:
    assert read_store(store) == store.rstrip("/")


@pytest.mark.parametrize("store", ["sqlite:///x.db", "databricks:", "http:", "http://", "file:///x"])
def test_an_address_of_something_else_is_refused(store: str) -> None:
    with pytest.raises(InputError, match=r"should be a folder or the address of a server, http://\.\.\."):
        read_store(store)


def test_a_password_belongs_in_no_address() -> None:
    with pytest.raises(InputError, match="MLFLOW_TRACKING_PASSWORD") as error:
        read_store("https://me:secret@host")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("value", "store", "warned"),
    [("https://host", "https://host", False), ("", "results", False), ("sqlite:///x.db", "results", True)],
)
def test_the_server_of_the_variable_is_the_default(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, value: str, store: str, warned: bool
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", value)
    assert default_store(Path("results")) == store
    assert ("is not the address of a server" in caplog.text) is warned
