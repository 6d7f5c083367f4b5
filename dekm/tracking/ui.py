"""The MLflow UI on this machine, and the process beside it that follows the runs."""

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dekm.errors import InputError
from dekm.tracking.store import address, sync_all

logger = logging.getLogger(__name__)

DEFAULT_PORT = 5000
FOLLOW_SECONDS = 10


def follow_runs(results: Sequence[Path], store: Path, seconds: float) -> None:
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
