"""The MLflow UI on this machine, and the process that keeps its store up to date."""

import contextlib
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from dekm.errors import InputError
from dekm.markup import printable
from dekm.results.result_set import result_folders
from dekm.tracking.database import tracking_uri
from dekm.tracking.store import sync_all
from dekm.tracking.views import view_paths

logger = logging.getLogger(__name__)

FOLLOW_SECONDS = 10
LOG = "mlflow.log"  # in the folder of the store, of the process that keeps it up to date
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PAUSE = 0.5  # seconds between two questions whether the server answers
OPEN_TO_ALL = (
    "Every user of this machine can open these addresses, change and delete the runs in MLflow, and read any "
    "file that you can read: on a machine that you share, stop the server when you do not need it."
)


def follow_runs(results: Sequence[Path], store: Path | str, seconds: float) -> None:
    """Update the store, without `results` from all in its folder, until the parent process exits."""
    parent = os.getppid()
    with _each_text_once():
        while os.getppid() == parent:
            try:
                sync_all(results or result_folders(Path(store)), store)
            except Exception as error:
                logger.warning("the store could not be updated, and the next update tries again: %s", error)
            time.sleep(seconds)


@contextlib.contextmanager
def _each_text_once() -> Iterator[None]:
    """Log every text once within the block, so that a log of many updates stays short."""
    filters = [(handler, _new_texts()) for handler in logging.getLogger().handlers]
    for handler, is_new in filters:
        handler.addFilter(is_new)
    try:
        yield
    finally:
        for handler, is_new in filters:
            handler.removeFilter(is_new)


def _new_texts() -> Callable[[logging.LogRecord], bool]:
    """A filter of one handler that passes every text once."""
    texts: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        n_known = len(texts)
        texts.add(record.getMessage())
        return len(texts) > n_known

    return is_new


def check_port(port: int) -> None:
    """Check that a server can be started on a port of the loopback interface, otherwise `InputError`."""
    try:
        with socket.socket() as free:
            # The port of a server that has just been stopped can be used at once.
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        another = port + 1 if 1024 <= port < 65535 else 5001
        raise InputError(f"port {port} cannot be used ({error}): try make ui PORT={another}.") from error


def announce(port: str, text: str) -> None:
    """Print a text as soon as the server answers, which the parent process becomes; not if it ends before."""
    parent = os.getppid()
    while os.getppid() == parent:
        connection = HTTPConnection("127.0.0.1", int(port), timeout=10 * PAUSE)  # without a proxy
        with contextlib.suppress(OSError, HTTPException), contextlib.closing(connection):
            connection.request("GET", "/health")
            connection.getresponse()
            sys.stderr.write(f"{text}\n")
            return
        time.sleep(PAUSE)


def serve(store: Path, port: int) -> None:
    """Replace this process with the MLflow server, which accepts connections from this machine only.

    A second process updates the store while the server runs, also with folders of results that are new.
    """
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    os.environ.pop("MLFLOW_SERVER_DISABLE_SECURITY_MIDDLEWARE", None)
    log = store / LOG
    follower = [sys.executable, "-m", "dekm", "sync", "--store", str(store), "--follow"]
    with log.open("w", encoding="utf-8") as stream:
        subprocess.Popen([*follower, str(FOLLOW_SECONDS)], stdout=subprocess.DEVNULL, stderr=stream)
    address = f"http://127.0.0.1:{port}"
    views = (f"{name}, runs with their scores: {address}/#{path}" for name, path in view_paths(store).items())
    followed = f"New runs appear every {FOLLOW_SECONDS} seconds; what goes wrong with it is in {log}."
    code = f"import sys; from {__name__} import announce; announce(*sys.argv[1:])"
    text = printable("\n".join([*views, followed, OPEN_TO_ALL, "Stop with Ctrl-C."]))
    subprocess.Popen([sys.executable, "-c", code, str(port), text])
    os.execv(sys.executable, server_command(store, port))


def server_command(store: Path, port: int) -> list[str]:
    """The command of the MLflow server, which answers to names of this machine only.

    By default MLflow answers to any host whose name begins like a private address, so a web page could read
    all runs after its own name has been made to point here. The port is another one behind a tunnel.
    """
    hosts = ",".join([*LOOPBACK, *(f"{host.replace('[', '[[]', 1)}:*" for host in LOOPBACK)])
    origins = ",".join(f"http://{host}:{port}" for host in LOOPBACK)
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", tracking_uri(store)]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    command += ["--allowed-hosts", hosts, "--cors-allowed-origins", origins]
    # One process answers one person; each of MLflow's four would take seconds to start and 200 MB of memory.
    return [*command, "--workers", "1"]
