import gzip
import hashlib
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dekm.datasets.raw.download import RawFile, addresses, download_file
from dekm.errors import InputError

CONTENT = bytes(range(256)) * 40


FILE = gzip.compress(CONTENT, mtime=0)


HTML = b"<html><body>moved</body></html>"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers successive requests for a path with the behaviours that the test set for it."""

    def do_GET(self):
        self.server.requested.append(self.path)
        behaviours = self.server.behaviours[self.path.split("/")[1]]
        behaviour = behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]
        if isinstance(behaviour, int):
            self.send_error(behaviour)
            return
        body = {"corrupt": FILE[:100] + b"\x00\xff" + FILE[102:], "html": HTML}.get(behaviour, FILE)
        if behaviour == "repack":
            body = gzip.compress(CONTENT, compresslevel=1, mtime=7)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if behaviour == "stall":
            self.wfile.write(body[:10])
            self.wfile.flush()
            self.server.released.wait(5)
        else:
            self.wfile.write(body[: len(body) // 2] if behaviour == "truncate" else body)

    def log_message(self, *arguments):
        """Keep the output of the tests quiet."""


class Server:
    """An HTTP server on 127.0.0.1; ``url(name)`` is a base address with its own list of behaviours."""

    def __init__(self):
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.behaviours, self.http.requested = {}, []
        self.http.released = threading.Event()
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def url(self, name, *behaviours):
        self.http.behaviours[name] = list(behaviours)
        return f"http://127.0.0.1:{self.http.server_port}/{name}"

    @property
    def requested(self):
        return [path.split("/")[1] for path in self.http.requested]

    def close(self):
        self.http.released.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def raw_dir(tmp_path):
    return tmp_path / "raw"


def raw_file(*bases):
    return RawFile("set/a.gz", tuple(f"{base}/a.gz" for base in bases), sha256(FILE), sha256(CONTENT))


def get(raw_dir, *bases, mirror=None, attempts=3, timeout=5.0):
    return download_file(raw_file(*bases), raw_dir, mirror, attempts=attempts, timeout=timeout, wait=0.001)


def failure(raw_dir, *bases, **options):
    """Text of the error of a download that must fail and leave no file behind."""
    with pytest.raises(InputError) as error:
        get(raw_dir, *bases, **options)
    assert not raw_dir.exists() or [path for path in raw_dir.rglob("*") if path.is_file()] == []
    return str(error.value)


def assert_fetched(path, raw_dir, content=FILE):
    assert path == raw_dir / "set/a.gz"
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_file_is_downloaded_to_its_place(server, raw_dir):
    assert_fetched(get(raw_dir, server.url("a", "good")), raw_dir)
    assert server.requested == ["a"]


@pytest.mark.parametrize("trouble", ["truncate", "corrupt", "html", 500, 503])
def test_a_later_attempt_succeeds(trouble, server, raw_dir):
    assert_fetched(get(raw_dir, server.url("a", trouble, trouble, "good")), raw_dir)
    assert server.requested == ["a"] * 3


def test_a_stalled_download_is_stopped_and_tried_again(server, raw_dir):
    started = time.monotonic()
    assert_fetched(get(raw_dir, server.url("a", "stall", "good"), timeout=0.2), raw_dir)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("trouble", ["truncate", "corrupt", "html", 500])
def test_a_download_that_fails_each_time_leaves_no_file(trouble, server, raw_dir):
    url = server.url("a", trouble)
    text = failure(raw_dir, url, attempts=2)
    assert server.requested == ["a", "a"]
    assert "set/a.gz could not be downloaded" in text
    assert f"{url}/a.gz" in text
    assert f"Put the file at {raw_dir / 'set/a.gz'}" in text


def test_a_stall_in_each_attempt_leaves_no_file(server, raw_dir):
    assert "timed out" in failure(raw_dir, server.url("a", "stall"), attempts=1, timeout=0.2)


def test_a_refusal_is_final(server, raw_dir):
    assert "HTTP status 404" in failure(raw_dir, server.url("a", 404))
    assert server.requested == ["a"]


def test_the_next_address_is_tried(server, raw_dir):
    bases = [
        server.url("a", 404),
        server.url("b", "corrupt"),
        server.url("c", "good"),
        server.url("d", "good"),
    ]
    assert_fetched(get(raw_dir, *bases, attempts=2), raw_dir)
    assert server.requested == ["a", "b", "b", "c"]


def test_the_error_gives_the_reason_for_each_address(server, raw_dir):
    bases = [server.url("a", 404), server.url("b", 500), server.url("c", "html")]
    text = failure(raw_dir, *bases, attempts=1)
    for pattern in ("/a/a.gz: HTTP status 404", "/b/a.gz: HTTP status 500", "/c/a.gz: .*sha256"):
        assert re.search(pattern, text)


def test_a_server_that_is_down_is_a_reason(server, raw_dir):
    url = server.url("a", "good")
    server.close()
    assert "ConnectionError" in failure(raw_dir, url, attempts=2)


def test_a_mirror_folder_comes_first(server, raw_dir, tmp_path):
    mirrored = put(tmp_path / "mirror/set/a.gz", FILE)
    assert_fetched(get(raw_dir, server.url("a", "good"), mirror=str(tmp_path / "mirror")), raw_dir)
    assert server.requested == []
    assert mirrored.read_bytes() == FILE


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_mirror_url_comes_first(slash, server, raw_dir):
    mirror = server.url("mirror", "good")
    assert_fetched(get(raw_dir, server.url("a", "good"), mirror=mirror + slash), raw_dir)
    assert server.http.requested == ["/mirror/set/a.gz"]


@pytest.mark.parametrize("content", [None, b"", HTML, FILE[:-20], FILE[:100] + b"\x00\xff" + FILE[102:]])
def test_a_mirror_folder_without_the_right_file_is_skipped(content, server, raw_dir, tmp_path):
    if content is not None:
        put(tmp_path / "mirror/set/a.gz", content)
    assert_fetched(get(raw_dir, server.url("a", "good"), mirror=str(tmp_path / "mirror")), raw_dir)


def test_a_mirror_url_without_the_file_is_skipped(server, raw_dir):
    mirror = server.url("mirror", 404)
    assert_fetched(get(raw_dir, server.url("a", "good"), mirror=mirror), raw_dir)
    assert server.requested == ["mirror", "a"]


def test_addresses_are_the_mirror_and_then_the_upstream_ones():
    assert addresses(raw_file("https://x", "https://y"), "/mirror/") == [
        "/mirror/set/a.gz",
        "https://x/a.gz",
        "https://y/a.gz",
    ]
    assert addresses(raw_file("https://x"), None) == ["https://x/a.gz"]


def test_an_existing_file_is_used_without_a_server(server, raw_dir):
    url = server.url("a", "good")
    server.close()
    put(raw_dir / "set/a.gz", FILE)
    assert_fetched(get(raw_dir, url), raw_dir)


@pytest.mark.parametrize(
    "content", [b"", HTML, FILE[:-20], FILE[:100] + b"\x00\xff" + FILE[102:], gzip.compress(b"x", mtime=0)]
)
def test_an_existing_file_that_is_wrong_is_an_error_and_is_not_overwritten(content, server, raw_dir):
    target = put(raw_dir / "set/a.gz", content)
    with pytest.raises(InputError, match=f"{re.escape(str(target))} is not the expected file.*Move it away"):
        get(raw_dir, server.url("a", "good"))
    assert target.read_bytes() == content
    assert server.requested == []


def test_a_repacked_file_with_the_same_content_is_valid(server, raw_dir):
    repacked = gzip.compress(CONTENT, compresslevel=1, mtime=7)
    assert repacked != FILE
    assert_fetched(get(raw_dir, server.url("a", "repack")), raw_dir, repacked)
    assert_fetched(get(raw_dir), raw_dir, repacked)


def test_every_bit_flip_is_detected(tmp_path):
    refused = 0
    for position in range(0, len(FILE), 7):
        flipped = FILE[:position] + bytes([FILE[position] ^ 1]) + FILE[position + 1 :]
        file = put(tmp_path / "a.gz", flipped)
        try:
            raw_file("https://x").verify(file)
        except InputError:
            refused += 1
        else:
            assert gzip.decompress(flipped) == CONTENT
    assert refused > len(range(0, len(FILE), 7)) // 2
