"""The formats of a user's files, by the endings of their names, and files that may be compressed."""

import bz2
import contextlib
import gzip
import io
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from dekm.errors import InputError
from dekm.files.reading import readable

TABLES = (".csv", ".tsv", ".jsonl", ".parquet")
ARRAYS = (".npy", ".npz", ".mat", ".h5", ".hdf5", ".h5ad", ".idx")
COMPRESSED = (".csv", ".tsv", ".jsonl", ".idx")  # formats that may be compressed
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
IDX_NAME = re.compile(r"idx\d?(-ubyte)?\Z")  # train-images-idx3-ubyte, train-images.idx3-ubyte, a.idx
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
ENDINGS = f"{', '.join(ARRAYS + TABLES)}; after {', '.join(COMPRESSED)} may follow {', '.join(OPENERS)}"


def format_of(file: Path) -> str:
    """Ending of a file's name in lower case, without that of a compression; ".idx" for all idx files.

    One of `TABLES` or `ARRAYS`; an empty string for any other file.
    """
    packed = file.suffix.lower() in OPENERS
    name = file.name.lower()
    name = name.rpartition(".")[0] if packed else name
    ending = ".idx" if IDX_NAME.search(name) else Path(name).suffix
    valid = COMPRESSED if packed else (*TABLES, *ARRAYS)
    return ending if ending in valid else ""


@contextlib.contextmanager
def opened_bytes(file: Path, what: str) -> Iterator[Any]:
    """Open a file, unpacked if its name ends like that of a compressed one; `what` is its expected type.

    `InputError` if it cannot be read, within the block too.
    """
    with (
        readable(file, what, lzma.LZMAError),
        OPENERS.get(file.suffix.lower(), open)(file, "rb") as stream,
    ):
        yield stream


@contextlib.contextmanager
def opened_text(file: Path, what: str) -> Iterator[TextIO]:
    """Open a text file in UTF-8, see `opened_bytes`; `InputError` also if it is in another encoding."""
    try:
        with opened_bytes(file, what) as stream:
            start = stream.peek(2)[:2]
            if start in UTF_16 or b"\0" in start:
                raise InputError(f"{file} is in UTF-16; save it in UTF-8.")
            with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
                yield text
    except InputError as error:
        if isinstance(error.__cause__, UnicodeDecodeError):
            raise InputError(
                f"{file} is not in UTF-8, but probably in Latin-1 or Windows-1252; save it in UTF-8 "
                f"(iconv -f WINDOWS-1252 -t UTF-8)."
            ) from error
        raise
