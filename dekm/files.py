"""Files and folders that appear whole or not at all, locks, digests and JSON."""

import contextlib
import csv
import hashlib
import io
import json
import math
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from filelock import BaseFileLock, FileLock

from dekm.errors import InputError


def digest(value: Any) -> str:
    """SHA-256 of a value that JSON can hold; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def files_digest(files: Iterable[Path]) -> str:
    """SHA-256 of names, sizes and times of files; it changes when a file is added, removed or written."""
    return digest([[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files])


@contextlib.contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """A temporary folder to write into, which replaces `target` if the block succeeds.

    If the block fails, the temporary folder is removed and `target` stays as it was. Where several processes
    may write a target, only the holder of its `locked` lock may do so.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(target)
    temporary = target.with_name(f".{target.name}.part.{os.getpid()}")
    temporary.mkdir()
    try:
        yield temporary
        if target.exists():
            os.replace(target, target.with_name(f".{target.name}.part.replaced"))
        os.replace(temporary, target)
    finally:
        remove_leftovers(target)


def remove_leftovers(target: Path) -> None:
    """Remove the temporary folders of `target` that killed processes left; needs its `locked` lock."""
    for leftover in target.parent.glob(f".{target.name}.part.*"):
        shutil.rmtree(leftover, ignore_errors=True)


def locked(target: Path) -> BaseFileLock:
    """A lock for the writers of `target`; the kernel releases it also when its holder is killed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(target.with_name(f".{target.name}.lock"))


@contextlib.contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Write a file atomically: readers see the old file or the complete new one.

    Parameters
    ----------
    target : Path
        File to write; its folder is created if necessary.

    Yields
    ------
    Path
        Temporary file in the same folder, with the suffix of `target`. It replaces `target` if the block
        succeeds and is removed if the block raises.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{os.getpid()}.{target.name}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(target: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_file(target) as temporary:
        temporary.write_text(text)


def write_json(target: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file that appears whole or not at all."""
    write_text(target, json.dumps(value, indent=1) + "\n")


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON file that holds an object."""
    value: dict[str, Any] = json.loads(file.read_text())
    return value


def write_csv(file: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write rows that all have the same columns; no rows give an empty file."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        for row in rows:
            writer.writerow(csv_fields(row))


def csv_fields(row: Mapping[str, float]) -> dict[str, float | str]:
    """A row as a CSV file holds it: NaN is an empty field."""
    return {name: "" if math.isnan(value) else value for name, value in row.items()}


def read_array(file: Path) -> np.ndarray:
    """One array from a ``.npy`` file.

    Raises
    ------
    InputError
        If the file holds something else.
    """
    try:
        array: np.ndarray = np.load(file, allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{file} should be a file of one NumPy array: {error}.") from error
    return array


def open_arrays(file: Path) -> Any:
    """The arrays of a ``.npz`` file, without pickled objects.

    Raises
    ------
    InputError
        If the file holds something else.
    """
    try:
        return np.load(io.BytesIO(file.read_bytes()), allow_pickle=False)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{file} should be a file of NumPy arrays: {error}.") from error
