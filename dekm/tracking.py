"""The MLflow store as a mirror of the run folders: the only import of mlflow.

Jobs never write to the store, so they cannot fail on it, and no run is left open when a job is killed.
One process at a time brings the store up to date from the folders, as often as one likes.
"""

import csv
import datetime as dt
import logging
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from dekm.errors import InputError
from dekm.provenance import read_json

if TYPE_CHECKING:
    from mlflow import MlflowClient

logger = logging.getLogger(__name__)

POINTS_PER_CURVE = 200
METRICS_PER_BATCH = 1000
DEFAULT_PORT = 5000
TRAINING = {"loss", "changed", "inertia", "seconds"}
DEFAULTS = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_PYTHON_REFRESH": "quiet",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}


@dataclass(frozen=True)
class RunFolder:
    """A seed's folder, and what it says of itself."""

    path: Path
    stage: str
    facts: dict[str, Any]

    @property
    def what(self) -> str:
        """The method, or the architecture of a pretraining."""
        return self.facts["method" if self.stage == "cluster" else "architecture"]

    @property
    def name(self) -> str:
        """Name of the run in the store."""
        return f"{self.facts['dataset']}/{self.what}/s{self.facts['seed']}"


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


def check_port(port: int) -> None:
    """Raise `InputError` unless a server can be started on this port of loopback."""
    try:
        with socket.socket() as free:
            free.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise InputError(
            f"port {port} cannot be used ({error}): try make ui PORT={DEFAULT_PORT + 1}."
        ) from error


def serve(store: Path, port: int) -> None:
    """Replace this process by the MLflow server, open to this machine only."""
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    logger.info("Open http://127.0.0.1:%d and choose Model training at the top left; stop with Ctrl-C", port)
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", address(store)]
    os.execv(sys.executable, [*command, "--host", "127.0.0.1", "--port", str(port)])


def sync(client: "MlflowClient", results: Path, artifacts: str) -> None:
    """Log the run folders that the store lacks, once each; drop what a killed sync left half logged."""
    experiment = client.get_experiment_by_name(results.name)
    experiment_id = (
        client.create_experiment(results.name, artifact_location=artifacts)
        if experiment is None
        else experiment.experiment_id
    )
    folders = {folder.facts["id"]: folder for folder in run_folders(results)}
    keys = {folder.facts["key"] for folder in folders.values()}
    known = set()
    for run in stored_runs(client, experiment_id):
        tags = run.data.tags
        if run.info.status != "FINISHED" or (tags["key"] in keys and tags["id"] not in folders):
            client.delete_run(run.info.run_id)
        else:
            known.add(tags["id"])
            current = "yes" if tags["key"] in keys else "no"
            if tags["current"] != current:
                client.set_tag(run.info.run_id, "current", current)
    missing = [folder for id_, folder in folders.items() if id_ not in known]
    for folder in missing:
        log_run(client, experiment_id, folder)
    logger.info("%s: %d runs added to MLflow, %d there already", results.name, len(missing), len(known))


def run_folders(results: Path) -> Iterator[RunFolder]:
    """The complete seeds below a folder of results, oldest first."""
    found = [
        RunFolder(file.parent, stage, read_json(file))
        for stage, pattern in (("pretrain", "pretrained"), ("cluster", "runs"))
        for file in results.glob(f"{pattern}/*/*/seed*/facts.json")
    ]
    yield from sorted(found, key=lambda folder: folder.facts["created"])


def stored_runs(client: "MlflowClient", experiment_id: str) -> Iterator[Any]:
    """All runs of an experiment that are not deleted."""
    page = client.search_runs([experiment_id])
    yield from page
    while page.token:
        page = client.search_runs([experiment_id], page_token=page.token)
        yield from page


def log_run(client: "MlflowClient", experiment_id: str, folder: RunFolder) -> None:
    """Write one run: tags, parameters, curves, final metrics and files."""
    from mlflow.entities import Dataset, DatasetInput, Metric, Param, RunTag

    facts = folder.facts
    final = read_json(folder.path / "metrics.json")
    end = int(dt.datetime.fromisoformat(facts["created"]).timestamp() * 1000)
    start = end - int(final["seconds"] * 1000)
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
    client.log_batch(run_id, params=params)
    metrics = [Metric(name, value, start + ms, step) for name, value, ms, step in curves(folder.path)]
    metrics += [Metric(name, float(value), end, 0) for name, value in final.items() if value is not None]
    for i in range(0, len(metrics), METRICS_PER_BATCH):
        client.log_batch(run_id, metrics=metrics[i : i + METRICS_PER_BATCH])
    data = Dataset(facts["dataset"], facts["data"][:8], source_type="local", source="prepared data")
    client.log_inputs(run_id, datasets=[DatasetInput(data)])
    client.log_artifacts(run_id, str(folder.path))
    client.log_batch(run_id, tags=[RunTag("mlflow.note.content", note(folder))])
    client.set_terminated(run_id, end_time=end)


def curves(folder: Path) -> Iterator[tuple[str, float, int, int]]:
    """Points (name, value, milliseconds since the start, step) of the curves in a run folder."""
    file = next(file for file in (folder / "history.csv", folder / "loss.csv") if file.exists())
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    stride = -(-len(rows) // POINTS_PER_CURVE) if rows else 1
    for i, row in enumerate(rows):
        if i % stride and i != len(rows) - 1:
            continue
        step = int(row.get("n_iter") or row["epoch"])
        ms = int(1000 * float(row.get("seconds") or 0))
        for name, value in row.items():
            if name not in ("n_iter", "epoch") and value:
                yield f"{'train' if name in TRAINING else 'eval'}/{name}", float(value), ms, step


def note(folder: RunFolder) -> str:
    """The description that the run's page shows."""
    facts = folder.facts
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"{facts.get('label', folder.what)} on {facts['dataset']}, seed {facts['seed']}, "
        f"on {facts['device']}. Files: `{folder.path}`. Commit {facts['commit']}; {versions}."
    )
