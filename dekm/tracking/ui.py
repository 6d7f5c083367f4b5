"""The MLflow UI on this machine, and the process that keeps its store up to date."""

import contextlib
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from dekm.errors import InputError
from dekm.results.result_set import RESERVED, result_sets
from dekm.tracking.database import tracking_uri
from dekm.tracking.store import sync_all
from dekm.tracking.views import view_paths

logger = logging.getLogger(__name__)

DEFAULT_PORT = 5000
FOLLOW_SECONDS = 10
LOG = "mlflow.log"  # in the folder of the store, of the process that keeps it up to date


def all_results(store: Path) -> list[Path]:
    """The folders of results in the folder of a store."""
    return [found.path for found in result_sets(store) if found.path.name not in RESERVED]


def follow_runs(results: Sequence[Path], store: Path | str, seconds: float) -> None:
    """Update the store repeatedly until the parent process exits; an update that fails is logged.

    Parameters
    ----------
    results : sequence of Path
        Folders of results; if there are none, all that are in the folder of the store at each update.
    store : Path or str
        Folder of the store, or the address of a server.
    seconds : float
        Pause between two updates.
    """
    parent = os.getppid()
    with _each_text_once():
        while os.getppid() == parent:
            try:
                sync_all(results or all_results(Path(store)), store)
            except Exception as error:
                logger.warning("the store could not be updated, and the next update tries again: %s", error)
            time.sleep(seconds)


@contextlib.contextmanager
def _each_text_once() -> Iterator[None]:
    """Log every text once within the block."""
    filters = [(handler, _FirstTime()) for handler in logging.getLogger().handlers]
    for handler, once in filters:
        handler.addFilter(once)
    try:
        yield
    finally:
        for handler, once in filters:
            handler.removeFilter(once)


class _FirstTime(logging.Filter):
    """Passes every text once, so that a log of many updates stays short."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the text of a record is new."""
        text = record.getMessage()
        is_new = text not in self.texts
        self.texts.add(text)
        return is_new


def check_port(port: int) -> None:
    """Check that a server can be started on a port of the loopback interface.

    Parameters
    ----------
    port : int
        Port.

    Raises
    ------
    InputError
        If the port is in use, not permitted or out of range.
    """
    try:
        with socket.socket() as free:
            # The port of a server that has just been stopped can be used at once.
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise InputError(
            f"port {port} cannot be used ({error}): try make ui PORT={DEFAULT_PORT + 1}."
        ) from error


def serve(store: Path, port: int) -> None:
    """Replace this process with the MLflow server, which accepts connections from this machine only.

    A second process updates the store while the server runs, also with folders of results that are new.

    Parameters
    ----------
    store : Path
        Folder of the store.
    port : int
        Port of the server.
    """
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    log = store / LOG
    follower = [sys.executable, "-m", "dekm", "sync", "--store", str(store), "--follow"]
    with log.open("w", encoding="utf-8") as stream:
        subprocess.Popen([*follower, str(FOLLOW_SECONDS)], stdout=subprocess.DEVNULL, stderr=stream)
    address = f"http://127.0.0.1:{port}"
    logger.info("Open %s and choose Model training at the top left. Stop with Ctrl-C.", address)
    for name, path in view_paths(store).items():
        logger.info("%s, runs with their scores: %s/#%s", name, address, path)
    logger.info("New runs appear every %d seconds; what goes wrong with it is in %s.", FOLLOW_SECONDS, log)
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", tracking_uri(store)]
    # Exact names: by default MLflow answers to any host whose name begins like a private address, so a web
    # page could read all runs after its own name has been made to point here.
    hosts = f"127.0.0.1:{port},localhost:{port}"
    arguments = ["--host", "127.0.0.1", "--port", str(port), "--allowed-hosts", hosts]
    # One process answers one person; each of MLflow's four would take seconds to start and 200 MB of memory.
    os.execv(sys.executable, [*command, *arguments, "--workers", "1"])
