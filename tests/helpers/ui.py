"""The MLflow UI, started as `make ui` starts it."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

SECONDS_TO_START = 300


def free_port() -> int:
    """A port of loopback that no server uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(store: Path) -> Iterator[str]:
    """Serve the runs below `store` on a free port of loopback; gives the address."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "dekm", "ui", "--store", str(store), "--port", str(port)]
    with (store / "ui.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for(f"{address}/health", server, store / "ui.log")
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)


def wait_for(url: str, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            assert server.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.05)
