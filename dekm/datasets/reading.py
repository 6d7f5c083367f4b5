"""Reading of untrusted files: any exception of a parser becomes an `InputError`."""

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
    """Convert exceptions of a parser into an `InputError` that names the file.

    Parameters
    ----------
    file : Path
        File that is read in the block.
    what : str
        Expected type of file, such as "MATLAB file".
    *errors : type of Exception
        Exception types of the parser that are not in `READ_ERRORS`.

    Raises
    ------
    InputError
        If the block raises one of these exceptions.
    """
    handled: tuple[type[Exception], ...] = (*READ_ERRORS, *errors)
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{file} does not exist.") from error
    except handled as error:
        reason = str(error).strip() or type(error).__name__
        raise InputError(f"{file} is not a readable {what}: {reason}") from error
