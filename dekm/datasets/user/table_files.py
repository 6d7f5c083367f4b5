"""CSV and Parquet files, read row by row."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dekm.errors import InputError
from dekm.files.reading import readable

LONGEST_CELL = 2**30  # characters
SEPARATORS = ";\t|"  # written by other programs instead of commas
Rows = Iterator[tuple[int, list[Any]]]


def read_table(file: Path) -> tuple[list[str], Rows]:
    """Open a table.

    Parameters
    ----------
    file : Path
        ``.csv`` or ``.parquet`` file.

    Returns
    -------
    names : list of str
        Names of the columns.
    rows : iterator of tuple of (int, list)
        Number and cells of each row; the number is that of the line in a CSV file, and counts from 1 in a
        Parquet file.

    Raises
    ------
    InputError
        If the file cannot be read, or a column has no name or the name of another column.
    """
    names, rows = _read_parquet(file) if file.suffix.lower() == ".parquet" else _read_csv(file)
    if not all(names):
        raise InputError(
            f"{file}: column {names.index('') + 1} has no name. If it numbers the rows, remove it, because "
            "it would be used as a feature (in pandas, to_csv(index=False))."
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{file}: column {twice[0]!r} appears twice.")
    return names, rows


def most_rows(file: Path) -> int:
    """Maximum number of rows of a table, from the lines of a CSV file or the metadata of a Parquet file."""
    if file.suffix.lower() == ".parquet":
        with readable(file, "Parquet file"), _open_parquet(file) as opened:
            return int(opened.metadata.num_rows)
    with readable(file, "CSV file"), file.open(encoding="utf-8", errors="replace") as stream:
        return sum(1 for _ in stream) - 1


def separator_hint(file: Path, names: list[str]) -> str:
    """Hint for error messages about a CSV file that seems to have another separator.

    Parameters
    ----------
    file : Path
        ``.csv`` or ``.parquet`` file.
    names : list of str
        Names of the columns.

    Returns
    -------
    str
        The hint, if the names contain another separator at least once per column; otherwise an empty string.
    """
    for separator in SEPARATORS if file.suffix.lower() == ".csv" else "":
        if "".join(names).count(separator) >= len(names):
            return f" The separator seems to be {separator!r}; it should be ','."
    return ""


def is_number(cell: Any) -> bool:
    """Whether a cell is a finite number.

    Parameters
    ----------
    cell : Any
        The cell.

    Returns
    -------
    bool
        Whether `float` converts it to a finite number.
    """
    try:
        return math.isfinite(float(cell))
    except (TypeError, ValueError, OverflowError):
        return False


def _read_csv(file: Path) -> tuple[list[str], Rows]:
    rows = _csv_rows(file)
    _, names = next(rows, (0, []))
    if not names:
        raise InputError(f"{file} is empty; its first row should name the columns.")
    if all(is_number(name) for name in names):
        raise InputError(f"{file}: row 1 should name the columns, but has only numbers.")
    return names, _of_width(rows, names, file)


def _csv_rows(file: Path) -> Rows:
    csv.field_size_limit(LONGEST_CELL)  # of all readers of this process; by default 131,072
    with readable(file, "CSV file"), file.open(newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, strict=True)
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


def _read_parquet(file: Path) -> tuple[list[str], Rows]:
    with readable(file, "Parquet file"):
        opened = _open_parquet(file)
        names = [str(name) for name in opened.schema_arrow.names]
    return names, _parquet_rows(file, opened)


def _open_parquet(file: Path) -> Any:
    try:
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise InputError(f"{file}: a Parquet file needs the package pyarrow.") from error
    return parquet.ParquetFile(file)


def _parquet_rows(file: Path, opened: Any) -> Rows:
    number = 0
    with readable(file, "Parquet file"), opened:
        for batch in opened.iter_batches():
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield number, list(cells)
