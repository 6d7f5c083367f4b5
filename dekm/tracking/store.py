"""The MLflow store as a mirror of the run folders.

Jobs never write to the store, so they cannot fail on it, and no run is left open when a job is killed.
One process at a time brings the store up to date from the folders, as often as one likes.
"""

import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from dekm.errors import InputError
from dekm.results.result_set import ResultSet
from dekm.tracking.runs import log_new_points, log_outputs, log_run, made_at, outputs_digest, start_run

if TYPE_CHECKING:
    from mlflow import MlflowClient

logger = logging.getLogger(__name__)

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
            sync(client, ResultSet(folder), artifacts.as_uri())


def address(store: Path) -> str:
    """Address of the store's database."""
    return f"sqlite:///{store.absolute() / 'mlflow.db'}"


def sync(client: "MlflowClient", results: ResultSet, artifacts: str) -> None:
    """Log the run folders that the store lacks, once each; drop what a killed sync left half logged."""
    experiment = client.get_experiment_by_name(results.path.name)
    if experiment is not None and experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    experiment_id = (
        client.create_experiment(results.path.name, artifact_location=artifacts)
        if experiment is None
        else experiment.experiment_id
    )
    seeds = {seed.facts["id"]: seed for seed in results.seeds()}
    unfinished = {seed.facts["id"]: seed for seed in results.unfinished_seeds()}
    outputs = outputs_digest(results)
    keys = {seed.facts["key"] for seed in seeds.values()}
    known = set()
    for run in stored_runs(client, experiment_id):
        tags = run.data.tags
        if not {"id", "key"} <= tags.keys():
            continue  # logged by another program
        if run.info.status == "FINISHED" and tags["id"] == outputs:
            outputs = None
        elif tags["id"] in unfinished:
            log_new_points(client, run, unfinished.pop(tags["id"]))
        elif run.info.status != "FINISHED" or is_replaced(tags, keys, seeds):
            client.delete_run(run.info.run_id)
        else:
            known.add(tags["id"])
            current = "yes" if tags["key"] in keys else "no"
            if tags["current"] != current:
                client.set_tag(run.info.run_id, "current", current)
    missing = [seed for id_, seed in seeds.items() if id_ not in known]
    for seed in missing:
        log_run(client, experiment_id, seed)
    if outputs is not None:
        log_outputs(client, experiment_id, results, outputs)
    for seed in unfinished.values():
        run = start_run(client, experiment_id, seed, start=made_at(seed))
        log_new_points(client, run, seed)
    logger.info("%s: %d runs added to MLflow, %d already in it", results.path.name, len(missing), len(known))


def is_replaced(tags: Mapping[str, str], keys: Collection[str], ids: Collection[str]) -> bool:
    """Whether a stored run was made again since: under its key, or as newer tables and figures."""
    return tags["stage"] == "outputs" or (tags["key"] in keys and tags["id"] not in ids)


def stored_runs(client: "MlflowClient", experiment_id: str) -> Iterator[Any]:
    """All runs of an experiment that are not deleted."""
    page = client.search_runs([experiment_id])
    yield from page
    while page.token:
        page = client.search_runs([experiment_id], page_token=page.token)
        yield from page
