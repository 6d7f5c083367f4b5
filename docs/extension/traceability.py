"""From the equations and lines of the papers to the functions and their tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dekm.errors import InputError
from dekm.outside import load_attribute
from docs.extension import sources
from docs.extension.text import table

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "explanation" / "traceability.yaml"


@dataclass(frozen=True)
class Entry:
    """A row of the table of a method.

    Attributes
    ----------
    method : str
        Heading of the table.
    place : str
        Equation, section or line of the publication.
    says : str
        What stands there.
    code : tuple of str
        Import paths "module:attribute" of what does it.
    tests : tuple of str
        The tests that show it, "file::name".
    """

    method: str
    place: str
    says: str
    code: tuple[str, ...]
    tests: tuple[str, ...]

    def check(self) -> None:
        """Find every function and test of the entry.

        Raises
        ------
        InputError
            If one of them does not exist.
        """
        for path in self.code:
            load_attribute(path)
        for test in self.tests:
            file, _, name = test.partition("::")
            if name not in sources.tests_of(file):
                raise InputError(f"{FILE.name}: {self.method}, {self.place}: {file} has no test {name}.")


@cache
def entries() -> tuple[Entry, ...]:
    """The rows of all tables, in the order of the file."""
    content: Mapping[str, list[dict[str, Any]]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return tuple(
        Entry(method, row["place"], row["says"], tuple(row["code"]), tuple(row["tests"]))
        for method, rows in content.items()
        for row in rows
    )


def page() -> str:
    """One table for each method.

    Raises
    ------
    InputError
        If a function or a test does not exist.
    """
    for entry in entries():
        entry.check()
    methods = dict.fromkeys(entry.method for entry in entries())
    return "\n".join(
        f"## {method}\n\n"
        + table(
            ["place", "what it says", "code", "tests"],
            [_row(entry) for entry in entries() if entry.method == method],
        )
        for method in methods
    )


def _row(entry: Entry) -> list[str]:
    return [
        entry.place,
        entry.says,
        "<br>".join(_code_link(path) for path in entry.code),
        "<br>".join(_test_link(test) for test in entry.tests),
    ]


def _code_link(path: str) -> str:
    module, _, name = path.partition(":")
    file, line = sources.place(module, name)
    return sources.anchor(f"{module.removeprefix('dekm.')}.{name}", f"{file}.html#L-{line}")


def _test_link(test: str) -> str:
    file, _, name = test.partition("::")
    shown = name.removeprefix("test_").replace("_", " ")
    return sources.anchor(shown, f"{file}.html#L-{sources.tests_of(file)[name]}").replace("code>", "span>")
