"""Servers on loopback that never end, lie about what they send or send it byte by byte."""

import contextlib
import gzip
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dekm.datasets.raw.download import download_file
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError
from tests.faults.material import Report

MAX_BYTES = 100_000
OK = b"HTTP/1.1 200 OK\r\n"
Answer = Callable[[socket.socket], None]


def _send(*parts: bytes, times: int = 1, pause: float = 0.0) -> Answer:
    def answer(connection: socket.socket) -> None:
        connection.sendall(parts[0])
        for _ in range(times):
            for part in parts[1:]:
                connection.sendall(part)
                time.sleep(pause)

    return answer


def _chunk(content: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content)


BOMB = gzip.compress(bytes(10**8))
ANSWERS: dict[str, Answer] = {
    "a byte at a time": _send(OK + b"Content-Length: 1000\r\n\r\n", b"x", times=200, pause=0.05),
    "a header byte at a time": _send(OK, b"X", times=200, pause=0.05),
    "headers for ever": _send(OK, b"X-A: b\r\n", times=200, pause=0.05),
    "without end": _send(OK + b"\r\n", bytes(10_000), times=10_000),
    "chunks without end": _send(
        OK + b"Transfer-Encoding: chunked\r\n\r\n", _chunk(bytes(10_000)), times=10_000
    ),
    "too long by its header": _send(
        OK + b"Content-Length: 100000000000\r\n\r\n", bytes(10_000), times=10_000
    ),
    "a compressed bomb": _send(
        OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB), BOMB
    ),
    "a length that is no number": _send(OK + b"Content-Length: abc\r\n\r\n", b"x"),
    "a negative length": _send(OK + b"Content-Length: -5\r\n\r\n", b"x"),
    "two lengths": _send(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", b"x"),
    "half of it": _send(OK + b"Content-Length: 1000\r\n\r\n", b"x"),
    "a bad chunk": _send(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"zz\r\nabc\r\n"),
    "a bad place": _send(b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n"),
    "a place without host": _send(b"HTTP/1.1 302 Found\r\nLocation: http://\r\nContent-Length: 0\r\n\r\n"),
    "another scheme": _send(
        b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"
    ),
    "a loop": _send(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"),
    "no HTTP": _send(b"SSH-2.0-OpenSSH\r\n"),
    "nothing": _send(b""),
    "a status that is no number": _send(b"HTTP/1.1 OK\r\n\r\n"),
    "bytes that are no text": _send(OK + b"Content-Length: \xff\xfe\r\n\r\n", b"x"),
}


@contextlib.contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """A server that gives one answer to every request; its address."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                self.request.recv(10_000)
                answer(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def download_from(answer: Answer, folder: Path, deadline: float) -> str:
    """Download from a hostile server; what is wrong with how it ended, or empty."""
    with serving(answer) as url:
        raw_file = RawFile("set/a.gz", (f"{url}/a.gz",), sha256="0" * 64, max_bytes=MAX_BYTES)
        begin = time.monotonic()
        try:
            download_file(raw_file, folder, attempts=2, timeout=deadline / 2, wait=0.0, deadline=deadline)
        except InputError as error:
            lines = str(error).splitlines()
            problem = "" if len(lines) == 3 and url in lines[1] else f"not one line per address: {error}"
        else:
            problem = "the file was accepted"
        seconds = time.monotonic() - begin
    if seconds > 4 * deadline + 1:
        return f"it took {seconds:.1f} s"
    written = [file for file in folder.rglob("*") if file.is_file()]
    return problem or (f"left behind: {written}" if written else "")


def download_all(folder: Path, deadline: float) -> Report:
    """Download from every hostile server."""
    report = Report("hostile servers")
    for i, (name, answer) in enumerate(ANSWERS.items()):
        report.add(name, download_from(answer, folder / str(i), deadline))
    return report
