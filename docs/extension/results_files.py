"""The page of the files of results, from their catalogue, and the check that it names all of them."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from docs.extension.text import code, table

CATALOGUE = Path(__file__).parents[1] / "reference" / "results.yaml"


@dataclass(frozen=True)
class Entry:
    """Files of one kind.

    Attributes
    ----------
    path : str
        Pattern of their paths below the folder of results.
    holds : str
        What they hold.
    columns : mapping of str to str, or None
        Meaning of their columns or keys that have no common meaning; None for other kinds of files.
    """

    path: str
    holds: str
    columns: Mapping[str, str] | None = None

    def matches(self, path: str) -> bool:
        """Whether a path below the folder of results is one of these files."""
        return re.fullmatch(_expression(self.path), path) is not None


@cache
def catalogue() -> tuple[Entry, ...]:
    """All kinds of files."""
    return tuple(Entry(**entry) for entry in _content()["files"])


def meanings(entry: Entry) -> dict[str, str]:
    """The meaning of every column that may be in files of a kind."""
    return _content()["common"] | dict(entry.columns or {})


@cache
def _content() -> dict[str, Any]:
    return yaml.safe_load(CATALOGUE.read_text(encoding="utf-8"))


def unknown(results: Path) -> list[str]:
    """The files of a folder of results, and their columns, that the catalogue does not know."""
    files = sorted(file for file in results.rglob("*") if file.is_file())
    return [
        problem for file in files for problem in _unknown_parts(file, file.relative_to(results).as_posix())
    ]


def _unknown_parts(file: Path, path: str) -> Iterator[str]:
    entry = next((entry for entry in catalogue() if entry.matches(path)), None)
    if entry is None:
        yield f"{path} is not in {CATALOGUE.name}"
        return
    known = [_expression(name) for name in meanings(entry)]
    for column in columns_of(file) if entry.columns is not None else ():
        if not any(re.fullmatch(name, column) for name in known):
            yield f"{path}: the column {column} is not in {CATALOGUE.name}"


def columns_of(file: Path) -> list[str]:
    """The columns of a table, or the keys of a JSON object."""
    text = file.read_text(encoding="utf-8") if file.suffix in (".csv", ".tsv", ".json") else ""
    if file.suffix == ".json":
        return list(json.loads(text))
    return next(csv.reader(text.splitlines(), delimiter="\t" if file.suffix == ".tsv" else ","), [])


def page() -> str:
    """A table of the files, and the columns of each."""
    rows = [[code(entry.path), entry.holds] for entry in catalogue()]
    common = [[code(name), text] for name, text in _content()["common"].items()]
    own = [
        f"### `{entry.path}`\n\n"
        + table(["column or key", "meaning"], [[code(n), t] for n, t in entry.columns.items()])
        for entry in catalogue()
        if entry.columns
    ]
    return "\n".join(
        [
            "## Files\n",
            table(["below `results/<name>/`", "holds"], rows),
            "## Columns and keys of several files\n",
            table(["column or key", "meaning"], common),
            "## Columns and keys of one file\n",
            *own,
        ]
    )


def _expression(pattern: str) -> str:
    """The regular expression of a pattern of the catalogue."""
    pieces = {"{": "(?:", "}": ")", ",": "|", "[": "(?:", "]": ")?", "<...>": ".+"}
    parts = re.split(r"(<\.\.\.>|<[^>]+>|[{},\[\]])", pattern)
    return "".join(
        pieces.get(part) or ("[^/]+" if part.startswith("<") else re.escape(part)) for part in parts
    )
