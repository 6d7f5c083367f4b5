"""SHA-256 digests of values and files."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def digest(value: Any) -> str:
    """SHA-256 of a value that JSON can hold; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def files_digest(files: Iterable[Path]) -> str:
    """SHA-256 of names, sizes and times of files; it changes when a file is added, removed or written."""
    return digest([[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files])


def content_digest(file: Path) -> str:
    """SHA-256 of the content of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
