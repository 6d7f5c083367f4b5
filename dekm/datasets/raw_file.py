"""A raw file as its collectors publish it, and the verification of a copy."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

from dekm.errors import InputError

CHUNK = 2**20


@dataclass(frozen=True)
class RawFile:
    """A file as its collectors publish it.

    A copy is valid if it has the known SHA-256 checksum or, failing that, the expected unpacked content,
    because an archive that was repacked has another checksum and the same content. The id of Git, which can
    be forged, decides only where no SHA-256 is known. If the digest of the content is unknown, any content
    that can be decoded is valid.
    """

    path: str  # below the folder of raw files, and below a mirror
    urls: tuple[str, ...]  # upstream addresses, in the order in which they are tried
    sha256: str | None = None  # checksum of the file; None if unknown
    content_sha256: str | None = None  # digest of the unpacked content; None if unknown
    # import path "module:function" of a function that yields the unpacked content of a file
    content: str | None = "dekm.datasets.raw.archives:content"
    git_blob: str | None = None  # object id of the file as a Git blob; None if unknown
    max_bytes: int = 2**25  # size at which a download is given up; larger than the published file

    @property
    def verifiable(self) -> bool:
        """Whether anything is known by which a copy can be verified."""
        return bool(self.checksums() or self.content)

    def checksums(self) -> dict[str, str]:
        """Known checksums of the file by name: sha256, git_blob."""
        known = {"sha256": self.sha256, "git_blob": self.git_blob}
        return {name: value for name, value in known.items() if value is not None}

    def verify(self, file: Path) -> str:
        """How a copy is verified; `InputError` if it has neither the checksum nor the expected content."""
        actual = file_digests(file)
        expected = self.checksums()
        differing = [name for name, value in expected.items() if actual[name] != value]
        is_known = self.sha256 == actual["sha256"]
        if not self.sha256 and not self.content_sha256:
            is_known = len(differing) < len(expected) or not self.verifiable
        if is_known:
            return self.content_sha256 or actual["sha256"]
        wrong = " and ".join(f"{name} {actual[name]} is not {expected[name]}" for name in differing)
        if self.content is None:
            raise InputError(f"{file.name}: {wrong}.")
        try:
            digest = self.content_digest(file)
        except InputError as error:
            raise InputError(
                f"{file.name}: {wrong + ', and ' if wrong else ''}it cannot be unpacked ({error})"
            ) from error
        if self.content_sha256 not in (None, digest):
            raise InputError(f"{file.name}: content with sha256 {digest} is not {self.content_sha256}.")
        return digest

    def content_digest(self, file: Path) -> str:
        """SHA-256 digest of the unpacked content of a file; `InputError` if it cannot be unpacked."""
        sha256 = hashlib.sha256()
        for piece in resolve_name(str(self.content))(file):
            sha256.update(piece)
        return sha256.hexdigest()


def file_digests(file: Path) -> dict[str, str]:
    """SHA-256 and Git blob id of a file, read once, under the names sha256 and git_blob."""
    digests = {
        "sha256": hashlib.sha256(),
        "git_blob": hashlib.sha1(b"blob %d\0" % file.stat().st_size, usedforsecurity=False),
    }
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            for digest in digests.values():
                digest.update(chunk)
    return {name: digest.hexdigest() for name, digest in digests.items()}
