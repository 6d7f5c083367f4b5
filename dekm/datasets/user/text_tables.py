"""A user's tables of text, read row by row: CSV, TSV and JSON Lines files."""

import csv
import json
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.user.cells import looks_like_data, to_number
from dekm.datasets.user.columns import Columns, Table, Wrong, list_names
from dekm.datasets.user.formats import format_of, opened_text
from dekm.errors import InputError, shown
from dekm.files.reading import without_duplicates

LONGEST_CELL = 2**30  # characters
SEPARATORS = {".csv": ",", ".tsv": "\t"}
OTHERS = ";\t|,"  # written by other programs instead
Rows = Iterator[tuple[int, list[Any]]]


@dataclass(frozen=True)
class Form:
    """How a file of text is written."""

    separator: str | None = None  # between the cells; None for that of the ending of the name
    decimal: str = "."  # decimal point, "." or ","
    # whether the first row names the columns; None if it does, unless it looks like data
    header: bool | None = None


@dataclass
class RowTable(Table):
    """A table of text, read row by row."""

    form: Form = field(default_factory=Form)
    objects: Sequence[tuple[int, Mapping[str, Any]]] | None = None

    def read(self, numbers: Sequence[str], others: Collection[str]) -> Columns:
        """Some columns as numbers, some as cells."""
        places = [self.names.index(name) for name in numbers]
        cells: dict[str, list[Any]] = {name: [] for name in others}
        found = _Numbers(self.file, numbers, self.form.decimal)
        for row, values in self.rows():
            found.add(row, [values[place] for place in places])
            for name, column in cells.items():
                column.append(values[self.names.index(name)])
        return Columns(*found.matrix(), found.wrong, cells)

    def rows(self) -> Rows:
        """Number and cells of each row; the number is that of its line."""
        if self.objects is not None:
            for number, value in self.objects:
                yield number, [value.get(name) for name in self.names]
            return
        rows = _csv_rows(self.file, self.form)
        if self.form.header is not False:
            next(rows, None)
        for number, cells in rows:
            if len(cells) != len(self.names):
                raise InputError(
                    f"{self.file}: row {number} has {len(cells)} cells; the first row names "
                    f"{len(self.names)}.{separator_hint(self)}"
                )
            yield number, cells


class _Numbers:
    """The numbers of some columns, as they are read row by row."""

    def __init__(self, file: Path, names: Sequence[str], decimal: str) -> None:
        self.file, self.columns, self.decimal = file, names, decimal
        self.values, self.n_rows = array("d"), 0
        self.wrong: dict[str, Wrong] = {}
        self.widths: list[int | None] = []  # of lists; None for a column of single numbers

    def add(self, row: int, cells: list[Any]) -> None:
        """Add the cells of a row."""
        values = self._quick(cells)
        if values is None:
            widths, flat = _flat(cells)
            if self.widths and widths != self.widths:
                self._refuse_widths(row, widths)
            self.widths = widths
            values = [self._number(row, name, cell) for name, cell in zip(self._owners(), flat, strict=True)]
        elif not self.widths:
            self.widths = [None] * len(cells)
        self.values.extend(values)
        self.n_rows += 1

    def matrix(self) -> tuple[np.ndarray, list[str]]:
        """The numbers as rows, and the names of their columns."""
        names = list_names(self.columns, self.widths or [None] * len(self.columns))
        return np.array(self.values).reshape(self.n_rows, len(names)), names

    def _quick(self, cells: list[Any]) -> list[float] | None:
        """The numbers of a row of plain ones, as most are; None for any other."""
        try:
            text = "".join(cells)
            if self.decimal != "." or "_" in text or not text.isascii():
                return None
            values = list(map(float, cells))
        except (TypeError, ValueError):
            return None
        return values if isfinite(sum(values)) else None

    def _number(self, row: int, name: str, cell: Any) -> float:
        number = to_number(cell, self.decimal)
        if number is None:
            self.wrong.setdefault(name, Wrong(row, cell)).add(cell)
            return float("nan")
        return number

    def _owners(self) -> Iterator[str]:
        for name, width in zip(self.columns, self.widths, strict=True):
            yield from [name] * (1 if width is None else width)

    def _refuse_widths(self, row: int, widths: list[int | None]) -> None:
        for name, first, here in zip(self.columns, self.widths, widths, strict=True):
            if first != here:
                was, found = ("a single value" if w is None else f"a list of {w}" for w in (first, here))
                raise InputError(
                    f"{self.file}: row {row}, column {shown(name)} has {found}; it was {was} before."
                )


def _flat(cells: list[Any]) -> tuple[list[int | None], list[Any]]:
    """Lengths of the cells that are lists, and all values one after the other."""
    widths = [len(cell) if isinstance(cell, list) else None for cell in cells]
    return widths, [value for cell in cells for value in (cell if isinstance(cell, list) else [cell])]


def separator_hint(table: Table) -> str:
    """Hint for error messages about a file that seems to have another separator, else an empty text."""
    right = SEPARATORS.get(format_of(table.file))
    if isinstance(table, RowTable) and table.form.separator:
        return ""
    for separator in OTHERS if right else "":
        if separator != right and "".join(table.names).count(separator) >= len(table.names):
            return f" The separator seems to be {separator!r}; set separator: {json.dumps(separator)}."
    return ""


def open_csv(file: Path, form: Form) -> RowTable:
    """Open a CSV or TSV file, whose first row names the columns, unless the form says that it does not."""
    _, names = next(_csv_rows(file, form), (0, []))
    if not names:
        raise InputError(f"{file} is empty; its first row should name the columns.")
    if form.header is False:
        names = [f"column_{i + 1}" for i in range(len(names))]
    elif form.header is None:
        numbers = [to_number(name) is not None for name in names]
        if all(numbers) or any(looks_like_data(name) for name in names):
            given = "only numbers" if all(numbers) else f"{shown(names[numbers.index(True)])}"
            raise InputError(
                f"{file}: row 1 should name the columns, but has {given}. Add a row of names, or set header: "
                "false, which names them column_1, column_2, ...; header: true takes row 1 for names."
            )
    return RowTable(file, names, form=form)


def _csv_rows(file: Path, form: Form) -> Rows:
    csv.field_size_limit(LONGEST_CELL)  # of all readers of this process; by default 131,072
    with opened_text(file, "CSV file") as stream:
        separator = form.separator or SEPARATORS[format_of(file)]
        reader = csv.reader(stream, delimiter=separator, strict=True)
        for cells in reader:
            if cells:
                yield reader.line_num, cells


def open_jsonl(file: Path, form: Form) -> RowTable:
    """The keys of all objects in the order of their first use; one that an object lacks is an empty cell."""
    objects: list[tuple[int, dict[str, Any]]] = []
    with opened_text(file, "JSON Lines file") as stream:
        for number, line in enumerate(stream, 1):
            value = _value(line, f"{file}: line {number}") if line.strip() else {}
            if not isinstance(value, dict):
                raise InputError(f"{file}: line {number} should be an object, such as {{...}}.")
            if value:
                objects.append((number, value))
    names = list(dict.fromkeys(str(name) for _, value in objects for name in value))
    if not names:
        raise InputError(f"{file} is empty; each line should be an object, such as {{...}}.")
    return RowTable(file, names, form=form, objects=objects)


def _value(line: str, place: str) -> Any:
    try:
        return json.loads(line, object_pairs_hook=without_duplicates)
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise InputError(f"{place}: {error}") from error
