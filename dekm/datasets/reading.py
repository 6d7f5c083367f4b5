"""Files that others wrote: whatever their parsers raise becomes one `InputError`."""

import binascii
import contextlib
import csv
import struct
import tarfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from dekm.errors import InputError

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
    binascii.Error,
    zlib.error,
    csv.Error,
    zipfile.BadZipFile,
    tarfile.TarError,
)


@contextlib.contextmanager
def readable(file: Path, what: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn what a parser raises on `file` into one `InputError` that says it is no readable `what`.

    `errors` are those of the parser's own that are not among Python's.
    """
    handled: tuple[type[Exception], ...] = (*READ_ERRORS, *errors)
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{file} is not there.") from error
    except handled as error:
        reason = str(error).strip() or type(error).__name__
        raise InputError(f"{file} is not a readable {what}: {reason}") from error
