"""The MLflow store as a mirror of the run folders.

Jobs never write to the store, so the store cannot make them fail, and a killed job leaves no open run. One
process at a time updates the store from the folders; an update can be repeated at any time.
"""

import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from dekm.errors import InputError
from dekm.results.result_set import ResultSet
from dekm.tracking.runs import created_at, log_new_points, log_outputs, log_run, outputs_digest, start_run

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
    """Update the store from folders of results, one experiment each.

    Parameters
    ----------
    results : sequence of Path
        Folders of results.
    store : Path
        Folder of the store, created if it does not exist.

    Raises
    ------
    InputError
        If `store` is a file.
    """
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    try:
        store.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise InputError(f"the store {store} is not a folder.") from error
    with FileLock(store / ".mlflow.lock"):
        from mlflow import MlflowClient

        client = MlflowClient(tracking_uri(store))
        for folder in results:
            artifacts = store.absolute() / "mlartifacts" / folder.name
            sync(client, ResultSet(folder), artifacts.as_uri())


def tracking_uri(store: Path) -> str:
    """URI of the database of a store.

    Parameters
    ----------
    store : Path
        Folder of the store.

    Returns
    -------
    str
        URI of an SQLite database.
    """
    return f"sqlite:///{store.absolute() / 'mlflow.db'}"


def sync(client: "MlflowClient", results: ResultSet, artifacts: str) -> None:
    """Update the experiment of one folder of results.

    Logs each run that the store lacks exactly once, and deletes runs that an interrupted update left open.

    Parameters
    ----------
    client : MlflowClient
        Client of the store.
    results : ResultSet
        Folder of results; its name is that of the experiment.
    artifacts : str
        URI of the experiment's artifacts.
    """
    experiment_id = _open_experiment(client, results.path.name, artifacts)
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
            _mark_current(client, run, keys)
    missing = [seed for id_, seed in seeds.items() if id_ not in known]
    for seed in missing:
        log_run(client, experiment_id, seed)
    if outputs is not None:
        log_outputs(client, experiment_id, results, outputs)
    for seed in unfinished.values():
        run = start_run(client, experiment_id, seed, start=created_at(seed))
        log_new_points(client, run, seed)
    logger.info("%s: %d runs added to MLflow, %d already in it", results.path.name, len(missing), len(known))


def _open_experiment(client: "MlflowClient", name: str, artifacts: str) -> str:
    """Id of the experiment of this name, which is created or restored if necessary."""
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        return client.create_experiment(name, artifact_location=artifacts)
    if experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    return experiment.experiment_id


def _mark_current(client: "MlflowClient", run: Any, keys: Collection[str]) -> None:
    """Set the tag that tells whether the folder of results still holds a run of the same key."""
    current = "yes" if run.data.tags["key"] in keys else "no"
    if run.data.tags["current"] != current:
        client.set_tag(run.info.run_id, "current", current)


def is_replaced(tags: Mapping[str, str], keys: Collection[str], ids: Collection[str]) -> bool:
    """Whether newer results have replaced a stored run that is no longer in the folder of results.

    Parameters
    ----------
    tags : mapping of str to str
        Tags of the stored run.
    keys, ids : collection of str
        Keys and ids of the complete seeds in the folder.

    Returns
    -------
    bool
        True for tables and figures, and for a run whose key belongs to a seed with another id.
    """
    return tags["stage"] == "outputs" or (tags["key"] in keys and tags["id"] not in ids)


def stored_runs(client: "MlflowClient", experiment_id: str) -> Iterator[Any]:
    """Iterate over the runs of an experiment that are not deleted.

    Parameters
    ----------
    client : MlflowClient
        Client of the store.
    experiment_id : str
        Experiment.

    Yields
    ------
    mlflow.entities.Run
        Run.
    """
    page = client.search_runs([experiment_id])
    yield from page
    while page.token:
        page = client.search_runs([experiment_id], page_token=page.token)
        yield from page
