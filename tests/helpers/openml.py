"""A server on loopback that answers as api.openml.org does to scikit-learn's `fetch_openml`."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from sklearn.datasets import _openml

SEEN_IN = "1.9.1"  # the version of scikit-learn whose module has these addresses
HOST = "https://www.openml.org/"
FLOWERS = """@RELATION flowers
@ATTRIBUTE length NUMERIC
@ATTRIBUTE width REAL
@ATTRIBUTE kind {a,b,c}
@DATA
"""


def flowers(n: int = 30) -> str:
    """A dataset of three separate classes."""
    rows = [f"{10 * (i % 3)}.{i % 7},{i % 3}.{i % 5},{'abc'[i % 3]}" for i in range(n)]
    return FLOWERS + "\n".join(rows) + "\n"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.requested.append(self.path)  # type: ignore[attr-defined]
        body = self.server.answers.get(self.path)  # type: ignore[attr-defined]
        self.send_response(412 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *arguments: Any) -> None:
        """Keep the output of the tests quiet."""


class OpenML:
    """The server, to which datasets are added."""

    def __init__(self) -> None:
        self.http: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.http.answers, self.http.requested = {}, []
        self.url = f"http://127.0.0.1:{self.http.server_port}/"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def add(self, number: int, arff: str, name: str = "flowers", **changes: Any) -> None:
        """Add a dataset with the columns of an ARFF text; `changes` are those of its description."""
        lines = [line.split(None, 2) for line in arff.splitlines() if line.upper().startswith("@ATTRIBUTE")]
        description = {
            "id": str(number),
            "name": name,
            "version": "1",
            "description": "text",
            "format": "ARFF",
            "status": "active",
            "url": f"{self.url}data/v1/download/{number}/{name}.arff",
            "md5_checksum": hashlib.md5(arff.encode(), usedforsecurity=False).hexdigest(),
            "default_target_attribute": lines[-1][1],
        } | changes
        features = [
            {
                "index": str(i),
                "name": column,
                "data_type": "nominal" if kind.startswith("{") else kind.lower().replace("real", "numeric"),
                "is_target": str(column == description.get("default_target_attribute")).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for i, (_, column, kind) in enumerate(lines)
        ]
        api = "/api/v1/json/data"
        listed = {"data": {"dataset": [{"did": number, "name": name, "version": 1, "status": "active"}]}}
        answers = {
            f"{api}/{number}": {"data_set_description": description},
            f"{api}/features/{number}": {"data_features": {"feature": features}},
            f"{api}/qualities/{number}": {"data_qualities": {"quality": []}},
            f"{api}/list/data_name/{name}/limit/2/data_version/1": listed,
        }
        self.http.answers |= {path: json.dumps(answer).encode() for path, answer in answers.items()}
        self.http.answers[f"/data/v1/download/{number}/{name}.arff"] = arff.encode()

    def close(self) -> None:
        """Stop the server; its addresses refuse connections from now on."""
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def use(monkeypatch: pytest.MonkeyPatch, server: OpenML) -> None:
    """Lead scikit-learn to a server on loopback: the one place that knows where it keeps its addresses."""
    addresses = {name: value for name, value in vars(_openml).items() if str(value).startswith(HOST)}
    assert addresses, f"scikit-learn {SEEN_IN} had addresses that start with {HOST} in its module _openml"
    for name, value in addresses.items():
        monkeypatch.setattr(_openml, name, value.replace(HOST, server.url))
