"""Files in the MLflow store: those of a run; and tables and figures, as a run of their own."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dekm.files import files_digest
from dekm.markup import markdown
from dekm.results.advice import advice
from dekm.results.comparison import compare
from dekm.results.result_set import ResultSet
from dekm.results.runs import read_runs
from dekm.tracking.database import local_path

if TYPE_CHECKING:
    from mlflow import MlflowClient

NOTE = "mlflow.note.content"  # the tag of a description
LONGEST_NOTE = 5000  # characters that any server of MLflow takes


def log_folder(client: "MlflowClient", run: Any, folder: Path, name: str = "") -> None:
    """Add the files of a folder to a run of the store, below the folder `name` of its artifacts.

    They become hard links where the artifacts are on the file system of the folder, and copies otherwise.
    Files in a folder of results are replaced and never changed in place, so a link keeps what was logged.
    """
    if urlsplit(run.info.artifact_uri).scheme != "file":
        client.log_artifacts(run.info.run_id, str(folder), name or None)
        return
    artifacts = local_path(run.info.artifact_uri) / name
    for file in filter(Path.is_file, folder.rglob("*")):
        target = artifacts / file.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(file, target)


def log_shown(client: "MlflowClient", runs: Iterable[Any], shown: Mapping[str, Sequence[Path]]) -> None:
    """Add the page and figures of runs, by the ids of the runs, to the files of those that lack them."""
    for run in runs:
        files = shown.get(run.data.tags.get("id", ""), ())
        if not files or run.data.tags.get("shown") == (digest := files_digest(files)):
            continue
        for file in files:
            if urlsplit(run.info.artifact_uri).scheme == "file":
                link_or_copy(file, local_path(run.info.artifact_uri) / file.name)
            else:
                client.log_artifact(run.info.run_id, str(file))
        client.set_tag(run.info.run_id, "shown", digest)


def link_or_copy(source: Path, target: Path) -> None:
    """Make a hard link to a file, or a copy where links are refused; it replaces an older file."""
    target.unlink(missing_ok=True)
    try:
        os.link(source.resolve(), target)  # not to a symbolic link, which may lead nowhere from there
    except OSError:
        shutil.copyfile(source, target)


def delete_run(client: "MlflowClient", run: Any) -> None:
    """Delete a run of the store with its files; MLflow itself keeps these, and so do servers."""
    client.delete_run(run.info.run_id)
    if run.info.artifact_uri.startswith("file:"):
        shutil.rmtree(local_path(run.info.artifact_uri).parent, ignore_errors=True)


def outputs_digest(results: ResultSet) -> str | None:
    """Digest of the tables and figures of a result set; None without any."""
    files = [file for folder in results.outputs().values() for file in sorted(folder.glob("**/*"))]
    files = [file for file in files if file.is_file() and not file.name.startswith(".")]
    return files_digest(files) if files else None


def log_outputs(client: "MlflowClient", experiment_id: str, results: ResultSet, id_: str) -> None:
    """Log the tables and figures of a result set, whose digest is `id_`, as the files of one run.

    Its description compares the methods of each dataset without labels.
    """
    runs = read_runs(results)
    lines = [advice(runs, name, compare(runs, name)) for name in sorted({name for name, _ in runs.cells})]
    tags = {"stage": "outputs", "key": "outputs", "id": id_, "current": "yes"}
    tags[NOTE] = "\n\n".join(map(markdown, lines))[:LONGEST_NOTE]
    run = client.create_run(experiment_id, run_name="tables and figures", tags=tags)
    for name, folder in results.outputs().items():
        log_folder(client, run, folder, name)
    client.set_terminated(run.info.run_id)
