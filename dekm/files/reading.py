"""Reading of files: any exception of a parser, and any content of another form, becomes an `InputError`.

Every reader takes a `remedy`: a sentence that says what to do about a file that cannot be used.
"""

import contextlib
import csv
import errno
import json
import struct
import tarfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dekm.errors import InputError, shown

READ_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    struct.error,
    tokenize.TokenError,
    zlib.error,
    csv.Error,
    zipfile.BadZipFile,
    tarfile.TarError,
)


# Errors that do not mean damage: permissions, limits of the process, and an absent file server.
UNAVAILABLE = {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ESTALE, errno.ETIMEDOUT}
NUMBER = (int, float)
TYPES = {
    str: "text",
    int: "an integer",
    NUMBER: "a number",
    list: "a list",
    dict: "an object",
    bool: "true or false",
}


class UnavailableError(InputError):
    """A file could not be read now, for want of a permission or the like; it need not be damaged."""


@contextlib.contextmanager
def readable(file: Path, what: str, *errors: type[Exception], remedy: str = "") -> Iterator[None]:
    """Convert exceptions in the block that reads a file, `READ_ERRORS` and others, into an `InputError`.

    `what` is the expected type of the file, such as "MATLAB file".
    """
    handled: tuple[type[Exception], ...] = (*READ_ERRORS, *errors)
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{file} does not exist. {remedy}".strip()) from error
    except handled as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        reason = " ".join(text.split()).rstrip(".") or type(error).__name__
        if isinstance(error, OSError) and error.errno in UNAVAILABLE:
            raise UnavailableError(f"{file} cannot be read: {reason}.") from error
        raise InputError(f"{file} is not a readable {what}: {reason}. {remedy}".strip()) from error


def damaged(file: Path, problem: str, remedy: str = "") -> InputError:
    """The error about a file whose content has another form than it should have."""
    return InputError(f"{file} is damaged: {problem}. {remedy}".strip())


def read_json(file: Path, fields: Mapping[str, Any] | None = None, remedy: str = "") -> dict[str, Any]:
    """Read a JSON file that holds an object; `fields` has the type of each required field, or several.

    `InputError` if the file does not exist, is no JSON, or lacks a field of the right type.
    """
    with readable(file, "JSON file", remedy=remedy):
        value: Any = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=without_duplicates)
    if not isinstance(value, dict):
        raise damaged(file, "it holds no object", remedy)
    check_fields(file, value, fields or {}, remedy)
    return value


def read_or_empty(file: Path) -> dict[str, Any]:
    """A JSON object; empty if the file does not exist or is not whole, which may be so at any moment."""
    try:
        return read_json(file)
    except InputError:
        return {}


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of a JSON text; `ValueError` for a name twice, of which Python's parser keeps the last."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"{shown(name)} is there twice.")
        members[name] = value
    return members


def check_fields(file: Path, value: Mapping[str, Any], fields: Mapping[str, Any], remedy: str = "") -> None:
    """Raise `InputError` if a field of an object that `file` holds is missing or of another type."""
    for name, expected in fields.items():
        if name not in value:
            raise damaged(file, f"it lacks {name!r}", remedy)
        if not isinstance(value[name], expected) or (isinstance(value[name], bool) and expected is not bool):
            what = TYPES.get(expected, "of another type")
            raise damaged(file, f"{name}={str(value[name])[:40]!r} should be {what}", remedy)


def read_numbers(file: Path, columns: tuple[str, ...] = (), remedy: str = "") -> list[dict[str, float]]:
    """Read a CSV file of numbers; an empty field is NaN, and an empty file has no rows.

    `InputError` if the file does not exist, a row has too many or too few fields, a field is not a number, or
    there are rows and none of `columns`.
    """
    with readable(file, "CSV file", remedy=remedy), file.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        rows = [_numbers(row, reader.line_num) for row in reader]
    if rows and columns and not set(columns) & set(rows[0]):
        raise damaged(file, f"it has no column {' or '.join(columns)}", remedy)
    return rows


def _numbers(row: Mapping[Any, Any], line: int) -> dict[str, float]:
    if None in row or None in row.values():
        raise ValueError(f"line {line} has another number of fields than the first line")
    try:
        return {name: float(value or "nan") for name, value in row.items()}
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from error
