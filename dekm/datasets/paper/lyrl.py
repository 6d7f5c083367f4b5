"""Token and topic files of the Reuters corpus RCV1-v2 (Lewis, Yang, Rose and Li, 2004)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from dekm.datasets.raw.archives import unpacked
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError

PARTS = ("test_pt0", "test_pt1", "test_pt2", "test_pt3", "train")
QRELS = "rcv1/rcv1-v2.topics.qrels.gz"
UNPACKED_LIMIT = 2**31


def read_topics(file: Path, topics: Sequence[str]) -> dict[int, str]:
    """Topic of each document that has exactly one of some topics, by its number.

    The file is gzipped, with lines "TOPIC DOCUMENT 1"; `InputError` if it cannot be unpacked or has others.
    """
    found: dict[int, set[str]] = {}
    with unpacked(file, UNPACKED_LIMIT) as stream:
        for number, line in enumerate(stream, 1):
            fields = line.split()
            if len(fields) != 3 or not fields[1].isdigit():
                raise InputError(f"{file}: line {number} should be 'TOPIC DOCUMENT 1', not {line[:60]!r}.")
            topic = fields[0].decode("latin-1")
            if topic in topics:
                found.setdefault(int(fields[1]), set()).add(topic)
    return {document: min(names) for document, names in found.items() if len(names) == 1}


def read_tokens(files: Sequence[Path]) -> Iterator[tuple[int, str]]:
    """Yield the number and the stems, separated by spaces, of each document of gzipped token files.

    A document is a line ".I NUMBER", a line ".W" and lines of stems; `InputError` for another format.
    """
    for file in files:
        document: int | None = None
        text: list[str] | None = None  # the lines after ".W"
        with unpacked(file, UNPACKED_LIMIT) as stream:
            for number, raw in enumerate(stream, 1):
                line = raw.decode("latin-1").rstrip("\r\n")
                if line.startswith(".I"):
                    if document is not None:
                        yield document, " ".join(text or [])
                    document, text = _number(line, file, number), None
                elif text is not None:
                    text.append(line)
                elif line == ".W" and document is not None:
                    text = []
                elif line:
                    raise InputError(
                        f"{file}: line {number} should be '.I NUMBER' or '.W', not {line[:60]!r}."
                    )
        if document is None or text is None:
            raise InputError(f"{file} should end with the text of a document.")
        yield document, " ".join(text)


def _number(line: str, file: Path, number: int) -> int:
    fields = line.split()
    if len(fields) != 2 or fields[0] != ".I" or not (fields[1].isascii() and fields[1].isdigit()):
        raise InputError(f"{file}: line {number} should be '.I NUMBER', not {line[:60]!r}.")
    return int(fields[1])


FIGSHARE_URL = "https://ndownloader.figshare.com/files/"
LYRL_URL = "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/"
LICENCE = "NIST agreement for the texts; Lewis's token and vector files are public"
TOKENS = {
    "test_pt0": "b8c319839c75def02becf5afea42d9007cd3b9dd0b9f7ec191d627cb64e165a9",
    "test_pt1": "a6a9244e93449985aec0371c1f0d9e73a9f5a2cb651859474efd213550e733b4",
    "test_pt2": "d1a07c68a636bb5638552d3facb13a6ff58115653b55d8318bca1252a9c43193",
    "test_pt3": "9a70be1a2ec0ecd554fa97eacc87cf99d086843495683289d12f99911b00a14e",
    "train": "7671361f75776fd1e6503ea73e78bcd4179bb332c1a8297ebed102f4eb1b31c0",
}

QRELS_FILE = RawFile(
    QRELS,
    (f"{LYRL_URL}a08-topic-qrels/rcv1-v2.topics.qrels.gz", f"{FIGSHARE_URL}5976048"),
    sha256="2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
    content=None,
)

TOKEN_FILES = tuple(
    RawFile(
        f"rcv1/lyrl2004_tokens_{part}.dat.gz",
        (f"{LYRL_URL}a12-token-files/lyrl2004_tokens_{part}.dat.gz",),
        content_sha256=content_sha256,
        max_bytes=2**28,
    )
    for part, content_sha256 in TOKENS.items()
)
