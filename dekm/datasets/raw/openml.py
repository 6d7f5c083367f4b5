"""Datasets of OpenML, fetched by scikit-learn and kept as the table that it has read.

The file of a dataset holds its numbers and its other cells, so that preparing it needs no network.
"""

import json
import logging
import re
import socket
import warnings
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError, first_line, shown
from dekm.files.reading import check_fields, damaged, readable
from dekm.markup import one_line

logger = logging.getLogger(__name__)

SCHEME = "openml:"
NUMBER, NAME = r"[1-9][0-9]{0,8}", r"[a-z0-9][a-z0-9_.()+-]{0,99}"
ADDRESS = re.compile(rf"{SCHEME}(?:({NUMBER})|({NAME})/({NUMBER}))", re.IGNORECASE)
FORM = "openml:ID or openml:NAME/VERSION, such as openml:40996 or openml:Fashion-MNIST/1"
REMEDY = "Move it away to download it again."
FIELDS = {"source": str, "columns": list, "target": (str, type(None)), "cells": dict}


class Stored(NamedTuple):
    """The table of a dataset."""

    columns: list[str]  # names of all columns
    # those columns (n, d), in their order, that hold numbers, float64; NaN where a cell is empty
    numbers: np.ndarray
    cells: dict[str, list[str]]  # the other columns: of categories or texts
    target: str | None  # the column that OpenML takes for the label


def is_address(path: object) -> bool:
    """Whether a path is meant as the address of a dataset."""
    return str(path).lower().startswith(SCHEME)


def raw_file(address: str) -> RawFile:
    """The file of a dataset with an address of the form `FORM`; names are those in lower case."""
    address = address.lower()
    path = f"openml/{address.removeprefix(SCHEME)}.npz"
    return RawFile(path, (address,), content="dekm.datasets.raw.openml:content", max_bytes=2**30)


def save(address: str, target: Path, timeout: float) -> None:
    """Fetch a dataset, verified by OpenML's MD5 checksum, and write its table.

    Raises `InputError` if it does not exist, has another checksum, is sparse or cannot be read, and OSError
    if the server or the file system fails.
    """
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(timeout)  # scikit-learn sets none
    try:
        with TemporaryDirectory() as cache, warnings.catch_warnings():
            # The error says it, or the line of the log below.
            warnings.filterwarnings("ignore", "Invalid cache|A network error|Version .* of dataset")
            table, numbers = _fetch(address, cache)
    except (InputError, OSError, HTTPException):
        raise
    except StopIteration as error:  # of its parser
        raise InputError("it has no rows.") from error
    except Exception as error:  # whatever an answer of another form leads to
        text = re.sub(r" and cached at \S+|; clean the cache and retry", "", first_line(error)).rstrip(".")
        kind = "" if isinstance(error, ValueError | ImportError) else f"{type(error).__name__}: "
        raise InputError(f"{kind}{text}.") from error
    finally:
        socket.setdefaulttimeout(before)
    with target.open("wb") as stream:
        np.savez_compressed(stream, numbers=numbers, table=np.frombuffer(table.encode(), np.uint8))


def _fetch(address: str, cache: str) -> tuple[str, np.ndarray]:
    """The parts of the file of a dataset."""
    from sklearn.datasets import fetch_openml

    number, name, version = re.fullmatch(ADDRESS, address.lower()).groups()  # type: ignore[union-attr]
    which: dict[str, Any] = {"data_id": int(number)} if number else {"name": name, "version": int(version)}
    # Its other parser fails on categories that are numbers (scikit-learn 1.9.1 with pandas 3.1.1).
    options: dict[str, Any] = {"target_column": None, "parser": "liac-arff", "n_retries": 1, "delay": 0.1}
    bunch = fetch_openml(**which, **options, data_home=cache)
    frame, label = bunch.data, bunch.details.get("default_target_attribute")
    if (status := str(bunch.details.get("status", "active"))) != "active":
        logger.warning("%s is %s on OpenML: its data may have mistakes", address, one_line(status))
    if not hasattr(frame, "columns"):
        raise InputError("it is stored sparse; a loader of your own can return its matrix.")
    texts = [column for column in frame if frame[column].dtype.kind not in "buif"]
    table = {
        "source": address,
        "columns": list(frame.columns),
        "target": label if label in frame else None,
        "cells": {column: frame[column].astype(object).fillna("").map(str).tolist() for column in texts},
    }
    return json.dumps(table), frame.drop(columns=texts).to_numpy(np.float64, na_value=np.nan)


def read(file: Path, address: str) -> Stored:
    """Read the file of a dataset; `InputError` if it is damaged or that of another one."""
    numbers, table = _parts(file)
    names, cells = table["columns"], table["cells"]
    are_lists = all(isinstance(column, list) and len(column) == len(numbers) for column in cells.values())
    is_named = all(isinstance(name, str) for name in names) and {*cells} <= {*names}
    if not are_lists or not is_named or numbers.shape[1:] != (len(names) - len(cells),):
        raise damaged(file, "its columns differ from their names", REMEDY)
    if table["source"] != address.lower():
        raise InputError(f"{file} holds {shown(table['source'])} instead of {address}. {REMEDY}")
    return Stored(names, numbers, cells, table["target"])


def content(file: Path) -> Iterator[bytes]:
    """The content of the file of a dataset, for its digest."""
    numbers, table = _parts(file)
    yield json.dumps(table).encode()
    yield np.ascontiguousarray(numbers).tobytes()


def _parts(file: Path) -> tuple[np.ndarray, dict[str, Any]]:
    with readable(file, "table of OpenML", AttributeError, remedy=REMEDY):
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as opened:
            numbers, table = opened["numbers"], json.loads(opened["table"].tobytes())
        if numbers.dtype != np.float64 or not isinstance(table, dict):
            raise ValueError("its arrays have other types")
    check_fields(file, table, FIELDS, REMEDY)
    return numbers, table
