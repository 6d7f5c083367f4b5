"""Files of a run in the MLflow store: links to those in the run's folder, which need no disk of their own."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dekm.tracking.database import local_path

if TYPE_CHECKING:
    from mlflow import MlflowClient


def log_folder(client: "MlflowClient", run: Any, folder: Path, name: str = "") -> None:
    """Add the files of a folder to a run of the store.

    They become hard links where the artifacts are on the file system of the folder, and copies otherwise.
    Files in a folder of results are replaced and never changed in place, so a link keeps what was logged.

    Parameters
    ----------
    client : MlflowClient
        Client of the store.
    run : mlflow.entities.Run
        Run in the store.
    folder : Path
        Folder with the files.
    name : str
        Folder below the artifacts of the run.
    """
    if urlsplit(run.info.artifact_uri).scheme != "file":
        client.log_artifacts(run.info.run_id, str(folder), name or None)
        return
    target = local_path(run.info.artifact_uri) / name
    shutil.copytree(
        folder, target, copy_function=link_or_copy, dirs_exist_ok=True, ignore_dangling_symlinks=True
    )


def link_or_copy(source: str, target: str) -> None:
    """Make a hard link to a file, or a copy where links are refused."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
