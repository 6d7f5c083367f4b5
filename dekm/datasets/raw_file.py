"""A raw file as its collectors publish it, and how a copy of it is recognised."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

from dekm.errors import InputError

CHUNK = 2**20


@dataclass(frozen=True)
class RawFile:
    """A file as its collectors publish it.

    A copy counts if one of the file's checksums is right or else if its content is: a re-packed file with the
    same content is as good. Where no content digest is published, content that decodes whole counts.

    Attributes
    ----------
    path : place below the raw folder, and below a mirror
    urls : upstream addresses, tried in this order
    sha256, md5, git_blob : of the file; None where it is not known
    content_sha256 : of the unpacked content; None where it is not known
    content : "module:function" that yields the unpacked content; None if only the file's checksums count
    """

    path: str
    urls: tuple[str, ...]
    sha256: str | None = None
    content_sha256: str | None = None
    content: str | None = "dekm.datasets.raw.archives:content"
    md5: str | None = None
    git_blob: str | None = None

    @property
    def verifiable(self) -> bool:
        """Whether a copy can be told from another file."""
        return bool(self.checksums() or self.content)

    def checksums(self) -> dict[str, str]:
        """The known checksums of the file by their names."""
        known = {"sha256": self.sha256, "md5": self.md5, "git_blob": self.git_blob}
        return {name: value for name, value in known.items() if value is not None}

    def verify(self, file: Path) -> str:
        """Return the SHA-256 that stands for the content of `file`.

        Raises
        ------
        InputError
            If `file` has none of the checksums and its content is not the expected one.
        """
        actual = file_digests(file)
        expected = self.checksums()
        if not self.verifiable or any(actual[name] == value for name, value in expected.items()):
            return self.content_sha256 or actual["sha256"]
        wrong = " and ".join(f"{name} {actual[name]} is not {value}" for name, value in expected.items())
        if self.content is None:
            raise InputError(f"{file.name}: {wrong}.")
        try:
            digest = self.content_digest(file)
        except InputError as error:
            raise InputError(
                f"{file.name}: {wrong + ', and ' if wrong else ''}it does not unpack ({error})"
            ) from error
        if self.content_sha256 not in (None, digest):
            raise InputError(f"{file.name}: content with sha256 {digest} is not {self.content_sha256}.")
        return digest

    def content_digest(self, file: Path) -> str:
        """SHA-256 of the unpacked content."""
        sha256 = hashlib.sha256()
        for piece in resolve_name(str(self.content))(file):
            sha256.update(piece)
        return sha256.hexdigest()


def file_digests(file: Path) -> dict[str, str]:
    """SHA-256, MD5 and git's blob id of a file."""
    digests = {
        "sha256": hashlib.sha256(),
        "md5": hashlib.md5(usedforsecurity=False),
        "git_blob": hashlib.sha1(b"blob %d\0" % file.stat().st_size, usedforsecurity=False),
    }
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            for digest in digests.values():
                digest.update(chunk)
    return {name: digest.hexdigest() for name, digest in digests.items()}
