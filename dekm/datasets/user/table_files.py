"""Tables of a user, read row by row: CSV, TSV, JSON Lines and Parquet files."""

import csv
import json
import logging
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from dekm.datasets.user.cells import to_number
from dekm.datasets.user.formats import format_of, opened_text
from dekm.errors import InputError, shown
from dekm.files.reading import readable

logger = logging.getLogger(__name__)

LONGEST_CELL = 2**30  # characters
SEPARATORS = {".csv": ",", ".tsv": "\t"}
OTHERS = ";\t|,"  # written by other programs instead
INDEX_NAME = re.compile(r"(__index_level_\d+__|Unnamed: 0)\Z")  # of a pandas index that was saved as a column
Rows = Iterator[tuple[int, list[Any]]]


def read_table(
    file: Path, *, ignored: Collection[str] = (), wanted: Collection[str] = ()
) -> tuple[list[str], Rows]:
    """Open a table.

    The index of a pandas data frame that was saved with it is no column of the table.

    Parameters
    ----------
    file : Path
        Table of one of the formats in `formats.TABLES`.
    ignored : collection of str
        Columns to leave out.
    wanted : collection of str
        Columns to keep even if they are an index.

    Returns
    -------
    names : list of str
        Names of the columns.
    rows : iterator of tuple of (int, list)
        Number and cells of each row; the number is that of the line in a file of text, and counts from 1 in a
        Parquet file.

    Raises
    ------
    InputError
        If the file cannot be read, a column has no name or the name of another column, or there is no column
        to ignore.
    """
    kind = format_of(file)
    index: set[str] = set()
    if kind == ".parquet":
        names, index, rows = _read_parquet(file)
    else:
        names, rows = _read_jsonl(file) if kind == ".jsonl" else _read_csv(file, SEPARATORS[kind])
    _check_names(file, names, ignored)
    index |= {name for name in names if INDEX_NAME.match(name)}
    index -= {*ignored, *wanted}
    left_out = index.union(ignored)
    kept = [i for i, name in enumerate(names) if name not in left_out]
    return [names[i] for i in kept], _kept_cells(rows, kept, file, index)


def _kept_cells(rows: Rows, kept: list[int], file: Path, index: set[str]) -> Rows:
    if index:
        logger.info("%s: ignored, a saved index: %s", file, ", ".join(sorted(index)))
    for number, cells in rows:
        yield number, [cells[i] for i in kept]


def _check_names(file: Path, names: list[str], ignored: Collection[str]) -> None:
    if not all(names):
        raise InputError(
            f"{file}: column {names.index('') + 1} has no name. If it numbers the rows, remove it, because "
            "it would be used as a feature (in pandas, to_csv(index=False))."
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{file}: column {shown(twice[0])} appears twice.")
    for name in ignored:
        if name not in names:
            raise InputError(
                f"ignore_columns: {file} has no column {shown(name)}; it has {', '.join(names)}."
                f"{separator_hint(file, names)}"
            )


def most_rows(file: Path) -> int:
    """Maximum number of rows of a table, from the lines of a text file or the metadata of a Parquet file."""
    kind = format_of(file)
    if kind == ".parquet":
        with readable(file, "Parquet file"), _open_parquet(file) as opened:
            return int(opened.metadata.num_rows)
    with opened_text(file, f"{kind[1:].upper()} file") as stream:
        return sum(1 for _ in stream) - (kind != ".jsonl")


def separator_hint(file: Path, names: list[str]) -> str:
    """Hint for error messages about a file that seems to have another separator.

    Parameters
    ----------
    file : Path
        The table.
    names : list of str
        Names of the columns.

    Returns
    -------
    str
        The hint, if the names contain another separator at least once per column; otherwise an empty string.
    """
    right = SEPARATORS.get(format_of(file))
    for separator in OTHERS if right else "":
        if separator != right and "".join(names).count(separator) >= len(names):
            return f" The separator seems to be {separator!r}; it should be {right!r}."
    return ""


def _read_csv(file: Path, separator: str) -> tuple[list[str], Rows]:
    rows = _csv_rows(file, separator)
    _, names = next(rows, (0, []))
    if not names:
        raise InputError(f"{file} is empty; its first row should name the columns.")
    if all(to_number(name) is not None for name in names):
        raise InputError(f"{file}: row 1 should name the columns, but has only numbers.")
    return names, _of_width(rows, names, file)


def _csv_rows(file: Path, separator: str) -> Rows:
    csv.field_size_limit(LONGEST_CELL)  # of all readers of this process; by default 131,072
    with opened_text(file, "CSV file") as stream:
        reader = csv.reader(stream, delimiter=separator, strict=True)
        for cells in reader:
            if cells:
                yield reader.line_num, cells


def _of_width(rows: Rows, names: list[str], file: Path) -> Rows:
    for number, cells in rows:
        if len(cells) != len(names):
            raise InputError(
                f"{file}: row {number} has {len(cells)} cells; the first row names {len(names)}."
                f"{separator_hint(file, names)}"
            )
        yield number, cells


def _read_jsonl(file: Path) -> tuple[list[str], Rows]:
    """The keys of all objects in the order of their first use; one that an object lacks is an empty cell."""
    objects = []
    with opened_text(file, "JSON Lines file") as stream:
        for number, line in enumerate(stream, 1):
            value = json.loads(line) if line.strip() else {}
            if not isinstance(value, dict):
                raise InputError(f"{file}: line {number} should be an object, such as {{...}}.")
            if value:
                objects.append((number, value))
    names = list(dict.fromkeys(str(name) for _, value in objects for name in value))
    if not names:
        raise InputError(f"{file} is empty; each line should be an object, such as {{...}}.")
    return names, ((number, [value.get(name) for name in names]) for number, value in objects)


def _read_parquet(file: Path) -> tuple[list[str], set[str], Rows]:
    with readable(file, "Parquet file"):
        opened = _open_parquet(file)
        schema = opened.schema_arrow
        described = (schema.pandas_metadata or {}).get("index_columns", [])
        index = {name for name in described if isinstance(name, str)}  # a range is no column
        return [str(name) for name in schema.names], index, _parquet_rows(file, opened)


def _open_parquet(file: Path) -> Any:
    try:
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise InputError(
            f"{file}: a Parquet file needs the package pyarrow: pip install 'dekm[parquet]'."
        ) from error
    return parquet.ParquetFile(file)


def _parquet_rows(file: Path, opened: Any) -> Rows:
    number = 0
    with readable(file, "Parquet file"), opened:
        for batch in opened.iter_batches():
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield number, list(cells)
