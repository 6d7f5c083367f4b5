"""An MLflow server, on which a team keeps its runs, and the identity of a folder of results on it."""

import contextlib
import logging
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dekm.errors import InputError, find_secret, first_line, shown, without_secrets
from dekm.files import write_text

if TYPE_CHECKING:
    from mlflow import MlflowClient

logger = logging.getLogger(__name__)

DEFAULTS = {  # of MLflow's own variables
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_PYTHON_REFRESH": "quiet",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}
VARIABLE = "MLFLOW_TRACKING_URI"
ORIGIN = ".origin"  # in a folder of results
PENDING = "pending"  # in the file that the workflow takes for a sign of a complete update


def read_store(store: str) -> Path | str:
    """A store as the user gives it: a folder, or the address of a server without a slash at its end.

    `InputError` for the address of something else, or with a password, which logs would show.
    """
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", store):
        return Path(store)
    address = urlsplit(store)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise InputError(
            f"the store {shown(store)} should be a folder or the address of a server, http://... ."
        )
    if address.username or address.password or find_secret("", store):
        raise InputError(
            "the address of the MLflow server should hold no user, password or token: set "
            "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN."
        )
    return store.rstrip("/")


def default_store(folder: Path) -> str:
    """The store that nothing else names: the server in `VARIABLE`, otherwise a folder.

    A value that is not the address of a server is that of other programs; it is named in a warning.
    """
    given = os.environ.get(VARIABLE, "")
    if given.startswith(("http://", "https://")):
        return given
    if given:
        logger.warning(
            "%s=%s is not the address of a server, http://...: %s is used",
            VARIABLE,
            without_secrets(given),
            folder,
        )
    return str(folder)


def read_origin(results: Path) -> str:
    """The identity of a folder of results, by which its runs differ from those of others on the same server.

    It is kept in the folder, so that it stays the same when the folder moves.
    """
    file = results / ORIGIN
    if not file.is_file():
        write_text(file, f"{uuid.uuid4().hex}\n")
    return file.read_text(encoding="utf-8").strip()


def open_client(address: str, origin: str) -> "MlflowClient":
    """A client of a server that creates, finds and so deletes only the runs of one folder of results.

    `origin` is the identity of the folder, see `read_origin`; MLflow reads token or user from its variables.
    """
    from mlflow import MlflowClient

    class OwnRuns(MlflowClient):
        def create_run(self, *args: Any, **kwargs: Any) -> Any:
            own = {"origin": origin, "mlflow.user": os.environ.get("USER", "unknown")}
            kwargs["tags"] = kwargs["tags"] | own
            return super().create_run(*args, **kwargs)

        def search_runs(
            self, experiment_ids: list[str], filter_string: str = "", *args: Any, **kwargs: Any
        ) -> Any:
            own = " and ".join(filter(None, [filter_string, f"tags.origin = '{origin}'"]))
            return super().search_runs(experiment_ids, own, *args, **kwargs)

    return OwnRuns(address)


@contextlib.contextmanager
def server_errors(address: str) -> Iterator[None]:
    """Tell what a server answers, or that it does not answer, as `InputError` in one line."""
    from mlflow import MlflowException
    from requests import RequestException

    try:
        yield
    except (MlflowException, RequestException) as error:
        # Requests nests its errors: the innermost "[Errno 111] Connection refused" says why.
        found = re.search(r"(?:Caused by |\[Errno \d+\] )(?:.*\[Errno \d+\] )?([^'\")]+)", str(error))
        reason = found[1].strip() if found else first_line(error)
        raise InputError(f"the MLflow server {address} could not be updated: {reason}.") from error
