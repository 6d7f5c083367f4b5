"""The manifest of a folder, with the size and digest of each of its files, written last; SHA-256 digests."""

import hashlib
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dekm.errors import InputError
from dekm.files.reading import UnavailableError, damaged, read_json

MANIFEST = "manifest.json"


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


def write_manifest(folder: Path) -> None:
    """Write ``manifest.json``: a folder that has one was written to its end."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != MANIFEST]
    entries = {
        str(file.relative_to(folder)): {"size": file.stat().st_size, "sha256": content_digest(file)}
        for file in files
    }
    text = json.dumps({"files": entries}, indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def find_damage(folder: Path, largest: float = math.inf) -> str:
    """What is wrong with a folder that should have a manifest; empty if all its files are whole.

    Of files of more bytes than `largest` only the size is checked.
    """
    try:
        entries = _entries(folder)
        problems = (find_damage_of_file(folder / name, entry, largest) for name, entry in entries.items())
        return next(filter(None, problems), "")
    except UnavailableError:
        raise
    except InputError as error:
        return str(error)


def check_file(file: Path, remedy: str, folder: Path | None = None) -> None:
    """Check a file against the manifest of a folder above it, by default its own, if that has one.

    `InputError` if size or digest differ.
    """
    folder = folder or file.parent
    if not (folder / MANIFEST).exists():
        return
    entry = _entries(folder, remedy).get(str(file.relative_to(folder)))
    if entry is None:
        raise InputError(f"{file} is not in {folder / MANIFEST}. {remedy}")
    if problem := find_damage_of_file(file, entry):
        raise InputError(f"{problem} {remedy}")


def find_damage_of_file(file: Path, entry: Any, largest: float = math.inf) -> str:
    """How a file differs from its entry in the manifest; empty if it does not."""
    if not file.is_file():
        return f"{file} does not exist."
    size = file.stat().st_size
    if size != entry.get("size"):
        return f"{file} is damaged: it has {size} bytes instead of {entry.get('size')}."
    if size <= largest and content_digest(file) != entry.get("sha256"):
        return f"{file} is damaged: its content is not the one in {MANIFEST}."
    return ""


def _entries(folder: Path, remedy: str = "") -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = read_json(folder / MANIFEST, {"files": dict}, remedy)["files"]
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise damaged(folder / MANIFEST, f"the entry of {name} is no object", remedy)
    return entries
