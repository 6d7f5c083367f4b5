"""Copying of one file from a folder or a server, with limits of its size and its time."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import URLError

from dekm.datasets.raw import openml
from dekm.errors import InputError, without_secrets

CHUNK = 2**16
BYTES_PER_SECOND = 50_000  # a slower download is given up
START_SECONDS = 60.0
NETWORK_ERRORS = (URLError, TimeoutError, ConnectionError, HTTPException)  # of `urllib`


class TransferError(Exception):
    """Why a file could not be copied; `final` tells whether another attempt is useless."""

    def __init__(self, reason: str, *, final: bool) -> None:
        super().__init__(without_secrets(" ".join(reason.split())))
        self.final = final


@dataclass(frozen=True)
class Limits:
    """Limits of one transfer."""

    max_bytes: int  # size that the file may have at most
    timeout: float  # seconds without data after which a connection is closed
    end: float  # time on the monotonic clock after which the transfer is given up


def longest_seconds(max_bytes: int) -> float:
    """Seconds that a download of at most `max_bytes` may take in all."""
    return START_SECONDS + max_bytes / BYTES_PER_SECOND


def transfer(address: str, target: Path, limits: Limits) -> None:
    """Copy a file from a path, URL or address of OpenML within limits.

    Raises `TransferError` if it does not exist, the server or the connection fails, or a limit is reached,
    and OSError if `target` cannot be written.
    """
    if not is_remote(address):
        source = Path(address)
        if not source.is_file():
            raise TransferError("file not found.", final=True)
        with source.open("rb") as stream:
            _write(iter(lambda: stream.read(CHUNK), b""), target, limits, threading.Event())
        return
    # In a thread, since a server that sends its header byte by byte would hold up this one for ever.
    stop, errors = threading.Event(), list[Exception]()
    thread = threading.Thread(target=_download, args=(address, target, limits, stop, errors), daemon=True)
    thread.start()
    thread.join(max(0.0, limits.end - time.monotonic()))
    stop.set()
    if thread.is_alive():
        raise TransferError("the server is too slow: the time for the whole file is over.", final=True)
    if errors:
        raise errors[0]


def is_remote(address: str) -> bool:
    """Whether an address is no path."""
    return "://" in address or openml.is_address(address)


def _download(
    address: str, target: Path, limits: Limits, stop: threading.Event, errors: list[Exception]
) -> None:
    import requests
    import urllib3

    try:
        if openml.is_address(address):
            openml.save(address, target, limits.timeout)
        else:
            _request(address, target, limits, stop)
    except requests.HTTPError as error:
        status = error.response.status_code
        errors.append(TransferError(f"HTTP status {status}.", final=400 <= status < 500))
    except InputError as error:
        errors.append(TransferError(str(error), final=True))
    except (*NETWORK_ERRORS, requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        errors.append(TransferError(f"{type(error).__name__}: {error}", final=False))
    except Exception as error:
        errors.append(error)


def _request(address: str, target: Path, limits: Limits, stop: threading.Event) -> None:
    import requests
    from tqdm import tqdm

    # The file as it is stored: a body that is compressed on the way could unpack to any size.
    headers = {"Accept-Encoding": "identity"}
    with requests.get(address, headers=headers, stream=True, timeout=limits.timeout) as response:
        response.raise_for_status()
        length = _content_length(response.headers.get("Content-Length"))
        if length is not None and length > limits.max_bytes:
            raise _too_large(limits)
        chunks = response.raw.stream(CHUNK, decode_content=False)
        with tqdm(total=length, unit="B", unit_scale=True, leave=False) as bar:
            size = _write(_shown(chunks, bar), target, limits, stop)
    if length is not None and size != length:
        raise TransferError(f"the connection ended after {size} of {length} bytes.", final=False)


def _content_length(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdecimal():
        raise TransferError(f"the server sent Content-Length: {text[:40]!r}.", final=False)
    return int(text)


def _shown(chunks: Iterator[bytes], bar: Any) -> Iterator[bytes]:
    for chunk in chunks:
        bar.update(len(chunk))
        yield chunk


def _write(chunks: Iterator[bytes], target: Path, limits: Limits, stop: threading.Event) -> int:
    size = 0
    with target.open("wb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > limits.max_bytes:
                raise _too_large(limits)
            if stop.is_set():
                break
            file.write(chunk)
    return size


def _too_large(limits: Limits) -> TransferError:
    return TransferError(f"it is larger than {limits.max_bytes} bytes.", final=True)
