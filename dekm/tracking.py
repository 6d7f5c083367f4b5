"""The MLflow store as a mirror of the run folders: the only import of mlflow.

Jobs never write to the store, so they cannot fail on it, and no run is left open when a job is killed.
One process at a time brings the store up to date from the folders, as often as one likes.
"""

import datetime as dt
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from dekm.errors import InputError
from dekm.files import files_digest, read_json
from dekm.results import RunFolder, curves, note, run_folders, unfinished_folders

if TYPE_CHECKING:
    from mlflow import MlflowClient

logger = logging.getLogger(__name__)

METRICS_PER_BATCH = 1000
DEFAULT_PORT = 5000
FOLLOW_SECONDS = 10
OUTPUTS = ("tables", "figures")
DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_PYTHON_REFRESH": "quiet",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}


def sync_all(results: Sequence[Path], store: Path) -> None:
    """Bring the store in folder `store` up to date with folders of results, one experiment each."""
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    try:
        store.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise InputError(f"the store {store} is not a folder.") from error
    with FileLock(store / ".mlflow.lock"):
        from mlflow import MlflowClient

        client = MlflowClient(address(store))
        for folder in results:
            artifacts = store.absolute() / "mlartifacts" / folder.name
            sync(client, folder, artifacts.as_uri())


def address(store: Path) -> str:
    """Address of the store's database."""
    return f"sqlite:///{store.absolute() / 'mlflow.db'}"


def follow(results: Sequence[Path], store: Path, seconds: float) -> None:
    """Bring the store up to date again and again, until the process that started this one ends."""
    parent = os.getppid()
    while os.getppid() == parent:
        sync_all(results, store)
        time.sleep(seconds)


def check_port(port: int) -> None:
    """Raise `InputError` unless a server can be started on this port of loopback."""
    try:
        with socket.socket() as free:
            # A server that was stopped a moment ago does not keep its port from the next one.
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise InputError(
            f"port {port} cannot be used ({error}): try make ui PORT={DEFAULT_PORT + 1}."
        ) from error


def serve(results: Sequence[Path], store: Path, port: int) -> None:
    """Replace this process by the MLflow server, open to this machine only.

    A process beside it follows the folders of results for as long as the server runs.
    """
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    follower = [sys.executable, "-m", "dekm", "sync", *map(str, results), "--store", str(store), "--follow"]
    subprocess.Popen([*follower, str(FOLLOW_SECONDS)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    logger.info("Open http://127.0.0.1:%d and choose Model training at the top left; stop with Ctrl-C", port)
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", address(store)]
    os.execv(sys.executable, [*command, "--host", "127.0.0.1", "--port", str(port)])


def sync(client: "MlflowClient", results: Path, artifacts: str) -> None:
    """Log the run folders that the store lacks, once each; drop what a killed sync left half logged."""
    experiment = client.get_experiment_by_name(results.name)
    if experiment is not None and experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    experiment_id = (
        client.create_experiment(results.name, artifact_location=artifacts)
        if experiment is None
        else experiment.experiment_id
    )
    folders = {folder.facts["id"]: folder for folder in run_folders(results)}
    unfinished = {folder.facts["id"]: folder for folder in unfinished_folders(results)}
    outputs = digest_of_outputs(results)
    keys = {folder.facts["key"] for folder in folders.values()}
    known = set()
    for run in stored_runs(client, experiment_id):
        tags = run.data.tags
        if not {"id", "key"} <= tags.keys():
            continue  # somebody else logged it
        if run.info.status == "FINISHED" and tags["id"] == outputs:
            outputs = None
        elif tags["id"] in unfinished:
            log_new_points(client, run, unfinished.pop(tags["id"]))
        elif run.info.status != "FINISHED" or is_replaced(tags, keys, folders):
            client.delete_run(run.info.run_id)
        else:
            known.add(tags["id"])
            current = "yes" if tags["key"] in keys else "no"
            if tags["current"] != current:
                client.set_tag(run.info.run_id, "current", current)
    missing = [folder for id_, folder in folders.items() if id_ not in known]
    for folder in missing:
        log_run(client, experiment_id, folder)
    if outputs is not None:
        log_outputs(client, experiment_id, results, outputs)
    for folder in unfinished.values():
        run = start_run(client, experiment_id, folder, start=made_at(folder))
        log_new_points(client, run, folder)
    logger.info("%s: %d runs added to MLflow, %d there already", results.name, len(missing), len(known))


def is_replaced(tags: Mapping[str, str], keys: Collection[str], ids: Collection[str]) -> bool:
    """Whether a stored run was made again since: under its key, or as newer tables and figures."""
    return tags["stage"] == "outputs" or (tags["key"] in keys and tags["id"] not in ids)


def digest_of_outputs(results: Path) -> str | None:
    """Digest of what the tables and figures of a folder of results are; None if there are none."""
    files = [file for name in OUTPUTS for file in sorted(results.glob(f"{name}/**/*")) if file.is_file()]
    if not files:
        return None
    return files_digest(files)


def log_outputs(client: "MlflowClient", experiment_id: str, results: Path, id_: str) -> None:
    """Write the tables and figures as the files of one run."""
    tags = {"stage": "outputs", "key": "outputs", "id": id_, "current": "yes"}
    run_id = client.create_run(experiment_id, run_name="tables and figures", tags=tags).info.run_id
    for name in OUTPUTS:
        if (results / name).is_dir():
            client.log_artifacts(run_id, str(results / name), name)
    client.set_terminated(run_id)


def stored_runs(client: "MlflowClient", experiment_id: str) -> Iterator[Any]:
    """All runs of an experiment that are not deleted."""
    page = client.search_runs([experiment_id])
    yield from page
    while page.token:
        page = client.search_runs([experiment_id], page_token=page.token)
        yield from page


def log_run(client: "MlflowClient", experiment_id: str, folder: RunFolder) -> None:
    """Write one finished run: what `start_run` writes, all curves, final metrics and files."""
    from mlflow.entities import Metric

    final = read_json(folder.path / "metrics.json")
    end = made_at(folder)
    start = end - int(final["seconds"] * 1000)
    run_id = start_run(client, experiment_id, folder, start=start).info.run_id
    metrics = [Metric(name, value, start + ms, step) for name, value, ms, step in curves(folder.path)]
    metrics += [Metric(name, float(value), end, 0) for name, value in final.items() if value is not None]
    for i in range(0, len(metrics), METRICS_PER_BATCH):
        client.log_batch(run_id, metrics=metrics[i : i + METRICS_PER_BATCH])
    client.log_artifacts(run_id, str(folder.path))
    client.set_terminated(run_id, end_time=end)


def log_new_points(client: "MlflowClient", run: Any, folder: RunFolder) -> None:
    """Write the points of a run that is still being made which the store lacks."""
    from mlflow.entities import Metric, RunTag

    logged = int(run.data.tags.get("logged_step", -1))
    try:
        points = [point for point in curves(folder.path) if point[3] > logged]
    except FileNotFoundError:
        return  # it ended a moment ago: the next time it is complete
    if points:
        start = run.info.start_time
        metrics = [Metric(name, value, start + ms, step) for name, value, ms, step in points]
        latest = RunTag("logged_step", str(max(step for *_, step in points)))
        client.log_batch(run.info.run_id, metrics=metrics[-METRICS_PER_BATCH:], tags=[latest])


def made_at(folder: RunFolder) -> int:
    """When the facts of a folder were written, in milliseconds."""
    return int(dt.datetime.fromisoformat(folder.facts["created"]).timestamp() * 1000)


def start_run(client: "MlflowClient", experiment_id: str, folder: RunFolder, *, start: int) -> Any:
    """Open a run with its tags, parameters, data and description."""
    from mlflow.entities import Dataset, DatasetInput, Param, RunTag

    facts = folder.facts
    subject = "method" if folder.stage == "cluster" else "architecture"
    shown = {"dataset": facts["dataset"], subject: folder.what, "seed": facts["seed"]}
    tags = shown | {
        "stage": folder.stage,
        "current": "yes",
        "key": facts["key"],
        "id": facts["id"],
        "commit": facts["commit"],
        "device": facts["device"],
        "data_digest": facts["data"],
        "mlflow.source.name": f"dekm {folder.stage}",
    }
    run = client.create_run(
        experiment_id,
        start_time=start,
        run_name=folder.name,
        tags={name: str(value) for name, value in tags.items()},
    )
    run_id = run.info.run_id
    params = [Param(name, str(value)) for name, value in (shown | facts["settings"]).items()]
    client.log_batch(run_id, params=params, tags=[RunTag("mlflow.note.content", note(folder))])
    data = Dataset(facts["dataset"], facts["data"][:8], source_type="local", source="prepared data")
    client.log_inputs(run_id, datasets=[DatasetInput(data)])
    return run
