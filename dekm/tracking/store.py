"""The MLflow store as a mirror of the run folders.

Jobs never write to the store, so the store cannot make them fail, and a killed job leaves no open run. One
process at a time updates the store from the folders; an update can be repeated at any time.
"""

import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dekm.errors import InputError, first_line, shown
from dekm.files import locked
from dekm.files.atomic import named_errors
from dekm.results.result_set import RESERVED, ResultSet, result_folders
from dekm.tracking.artifacts import delete_run, log_outputs, log_shown, outputs_digest
from dekm.tracking.database import artifacts_uri, open_store
from dekm.tracking.runs import log_progress, log_run
from dekm.tracking.server import DEFAULTS, open_client, read_origin, server_errors
from dekm.tracking.views import view_tags

if TYPE_CHECKING:
    from mlflow import MlflowClient

logger = logging.getLogger(__name__)

ENDED = ("FINISHED", "FAILED")  # the status of a run that was logged whole


def sync_all(results: Sequence[Path], store: Path | str) -> None:
    """Update the store, a folder or the address of a server, from folders of results, one experiment each.

    A run that cannot be read is named in a warning and left out. If the database has to be made again, all
    folders of results in the folder of the store are logged. `InputError` if a folder of results does not
    exist or has the name of a folder of the store, if `store` is a file or cannot be written, or if the
    server cannot be reached or refuses.
    """
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    for folder in results:
        _check_results(folder)
    if isinstance(store, str):
        _sync_server(results, store)
        return
    try:
        store.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(f"the store {store} is not a folder.") from error
    with locked(store / "mlflow"):
        _sync_folder(results, store)


def _sync_server(results: Sequence[Path], address: str) -> None:
    for folder in results:
        with locked(folder / "mlflow"), server_errors(address):
            sync(open_client(address, read_origin(folder)), ResultSet(folder), None)


def _check_results(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder} should be a folder of results; it does not exist.")
    if folder.name in RESERVED:
        raise InputError(
            f"{folder}: {shown(folder.name)} is the name of a folder of the store, not of results."
        )


def _sync_folder(results: Sequence[Path], store: Path) -> None:
    from mlflow import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with named_errors(store):
            client, created = open_store(store)
            others = result_folders(store) if created else []
            folders = {folder.resolve(): folder for folder in (*results, *others)}
            for folder in folders.values():
                sync(client, ResultSet(folder), artifacts_uri(store, folder.resolve().name))
    except (MlflowException, SQLAlchemyError) as error:
        raise InputError(f"the store {store} could not be updated: {first_line(error)}.") from error


def sync(client: "MlflowClient", results: ResultSet, artifacts: str | None) -> None:
    """Update the experiment of one folder of results, which has its name.

    Logs each run that the store lacks exactly once, and deletes runs that an interrupted update left open.
    `artifacts` is the URI of the experiment's artifacts; None for the place that a server chooses.
    """
    experiment_id = _open_experiment(client, results.path.resolve().name, artifacts)
    seeds = {seed.facts["id"]: seed for seed in results.seeds()}
    unfinished = {seed.facts["id"]: seed for seed in results.unfinished_seeds()}
    outputs = outputs_digest(results)
    keys = {seed.facts["key"] for seed in seeds.values()}
    known = set()
    for run in list(stored_runs(client, experiment_id)):  # whole, as the pages shift when runs are deleted
        tags = run.data.tags
        if not {"id", "key"} <= tags.keys():
            continue  # logged by another program
        if run.info.status == "FINISHED" and tags["id"] == outputs:
            outputs = None
        elif tags["id"] in unfinished:
            _skip_damaged(log_progress, client, experiment_id, unfinished.pop(tags["id"]), run)
        elif run.info.status not in ENDED or is_replaced(tags, keys, seeds):
            delete_run(client, run)
        else:
            known.add(tags["id"])
            _mark_current(client, run, keys)
    missing = [seed for id_, seed in seeds.items() if id_ not in known]
    added = sum(_skip_damaged(log_run, client, experiment_id, seed) for seed in missing)
    if outputs is not None:
        log_outputs(client, experiment_id, results, outputs)
    for seed in unfinished.values():
        _skip_damaged(log_progress, client, experiment_id, seed)
    if shown := results.shown_of_runs():
        log_shown(client, list(stored_runs(client, experiment_id)), shown)
    logger.info("%s: %d runs added to MLflow, %d already in it", results.path.name, added, len(known))


def _skip_damaged(log: Callable[..., Any], *arguments: Any) -> bool:
    """Call a function; if a run is damaged, name it in a warning. Return whether it was not."""
    try:
        log(*arguments)
    except InputError as error:
        logger.warning("left out of MLflow: %s", error)
        return False
    return True


def _open_experiment(client: "MlflowClient", name: str, artifacts: str | None) -> str:
    """Id of the experiment of this name, which is created or restored if necessary."""
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        id_ = client.create_experiment(name, artifact_location=artifacts)
        experiment = client.get_experiment(id_)
    if experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    for tag, value in view_tags(experiment.experiment_id).items():
        if tag not in experiment.tags:
            client.set_experiment_tag(experiment.experiment_id, tag, value)
    return experiment.experiment_id


def _mark_current(client: "MlflowClient", run: Any, keys: Collection[str]) -> None:
    """Set the tag that tells whether the folder of results still holds a run of the same key."""
    current = "yes" if run.data.tags["key"] in keys else "no"
    if run.data.tags.get("current") != current:
        client.set_tag(run.info.run_id, "current", current)


def is_replaced(tags: Mapping[str, str], keys: Collection[str], ids: Collection[str]) -> bool:
    """Whether newer results replace a stored run: tables and figures, or a seed under a complete key."""
    return tags.get("stage") == "outputs" or (tags["key"] in keys and tags["id"] not in ids)


def stored_runs(client: "MlflowClient", experiment_id: str) -> Iterator[Any]:
    """The runs of an experiment that are not deleted."""
    page = client.search_runs([experiment_id])
    yield from page
    while page.token:
        page = client.search_runs([experiment_id], page_token=page.token)
        yield from page
