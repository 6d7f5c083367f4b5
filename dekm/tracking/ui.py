"""The MLflow UI on this machine, and the process that keeps its store up to date."""

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dekm.errors import InputError
from dekm.tracking.store import sync_all, tracking_uri

logger = logging.getLogger(__name__)

DEFAULT_PORT = 5000
FOLLOW_SECONDS = 10


def follow_runs(results: Sequence[Path], store: Path, seconds: float) -> None:
    """Update the store repeatedly until the parent process exits.

    Parameters
    ----------
    results : sequence of Path
        Folders of results.
    store : Path
        Folder of the store.
    seconds : float
        Pause between two updates.
    """
    parent = os.getppid()
    while os.getppid() == parent:
        sync_all(results, store)
        time.sleep(seconds)


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


def serve(results: Sequence[Path], store: Path, port: int) -> None:
    """Replace this process with the MLflow server, which accepts connections from this machine only.

    A second process updates the store while the server runs.

    Parameters
    ----------
    results : sequence of Path
        Folders of results.
    store : Path
        Folder of the store.
    port : int
        Port of the server.
    """
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    follower = [sys.executable, "-m", "dekm", "sync", *map(str, results), "--store", str(store), "--follow"]
    subprocess.Popen([*follower, str(FOLLOW_SECONDS)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    logger.info("Open http://127.0.0.1:%d and choose Model training at the top left. Stop with Ctrl-C.", port)
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", tracking_uri(store)]
    os.execv(sys.executable, [*command, "--host", "127.0.0.1", "--port", str(port)])
