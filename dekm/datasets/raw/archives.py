"""Compressed files and archives, read as streams of limited size; nothing is unpacked onto the disk."""

import bz2
import contextlib
import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, cast

from dekm.errors import InputError, shown
from dekm.files.reading import readable

LIMIT = 2**32  # default maximum of unpacked bytes
MAX_RATIO = 100  # of unpacked to packed bytes, above the first MIN_LIMIT; text has about 10
MIN_LIMIT = 2**20
CHUNK = 2**20
OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}


class _Bounded(io.RawIOBase):
    """A stream that raises an `InputError` when more than `limit` bytes have been read."""

    def __init__(self, stream: Any, file: Path, limit: int) -> None:
        self.stream, self.file, self.limit = stream, file, limit
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes: int = self.stream.readinto(buffer)
        self.size += n_bytes
        if self.size > self.limit:
            raise InputError(f"{self.file} unpacks to more than {self.limit} bytes.")
        return n_bytes


@contextlib.contextmanager
def unpacked(file: Path, limit: int = LIMIT) -> Iterator[io.BufferedReader]:
    """Open a gzip or bzip2 file.

    Raises `InputError` if it has another format, is damaged, or unpacks to more than `limit` bytes; one that
    unpacks to many times its size is refused before.
    """
    with readable(file, "compressed file"):
        with file.open("rb") as packed:
            start = packed.read(3)
        limit = min(limit, MIN_LIMIT + MAX_RATIO * file.stat().st_size)
        opener = next((open_ for magic, open_ in OPENERS.items() if start.startswith(magic)), None)
        if opener is None:
            raise InputError(f"{file} is neither a gzip nor a bzip2 file; it starts with {shown(start)}.")
        with opener(file, "rb") as stream:
            yield io.BufferedReader(_Bounded(stream, file, limit), CHUNK)


def content(file: Path) -> Iterator[bytes]:
    """Consecutive pieces of the unpacked content of a gzip or bzip2 file, see `unpacked`."""
    with unpacked(file) as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


def tar_members(file: Path, limit: int, wanted: Collection[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Path and content of each file in a compressed tar archive, or of the `wanted` ones, in its order.

    Raises `InputError` if the archive is damaged or unpacks to more than `limit` bytes in all, or if a member
    is a link or a device or has a path outside the archive.
    """
    with unpacked(file, limit) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            _check_name(file, member.name)
            if member.isdir():
                continue
            if not member.isreg():
                raise InputError(f"{file}: member {shown(member.name)} is neither a file nor a folder.")
            if wanted is None or member.name in wanted:
                yield member.name, cast(io.BufferedReader, archive.extractfile(member)).read()


def zip_members(file: Path, limit: int) -> Iterator[tuple[str, bytes]]:
    """Path and content of each file in a zip archive, in its order; errors as those of `tar_members`."""
    with readable(file, "zip archive"), zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if size > limit:
            raise InputError(f"{file} unpacks to {size} bytes, more than the maximum of {limit}.")
        for member in members:
            _check_name(file, member.filename)
            if stat.S_ISLNK(member.external_attr >> 16):
                raise InputError(f"{file}: member {shown(member.filename)} is a link.")
            if not member.is_dir():
                yield member.filename, archive.read(member)


def _check_name(file: Path, name: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name[:2]:
        raise InputError(f"{file}: member {shown(name)} has a path outside the archive.")
