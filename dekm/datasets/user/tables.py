"""A user's tables: CSV and Parquet files of numbers or of texts."""

import csv
import math
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.labels import encode_labels
from dekm.datasets.reading import readable
from dekm.datasets.tfidf import Scaling, Texts
from dekm.errors import InputError

LARGEST = float(np.finfo(np.float32).max)
LABELS = " If the column holds labels, name it in label_column; if texts, in text_column."
SEPARATORS = ";\t|"  # that other programs write
Rows = Iterator[tuple[int, list[Any]]]


def table(
    raw_dir: Path, *, path: str, label_column: str | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """All columns but the labels' as float32 (n, d); the first row of a CSV file names the columns.

    Raises
    ------
    InputError
        If the file is damaged, or a cell is not a finite number; the text names row and column.
    """
    file = Path(path)
    names, rows = read_table(file)
    label = _position(file, names, "label_column", label_column)
    hint = _other_separator(file, names) or ("" if label_column else LABELS)
    columns = [i for i in range(len(names)) if i != label]
    values, labels = array("f"), []
    for number, cells in rows:
        values.extend(_number(cells[i], file, number, names[i], hint) for i in columns)
        if label is not None:
            labels.append(_text(cells[label], file, number, names[label]))
    X = np.array(values, dtype=np.float32).reshape(-1, len(columns)) if columns else np.empty((0, 0))
    if not X.size:
        raise InputError(f"{file} has no rows of numbers.")
    return X, None if label is None else encode_labels(labels, file)


def texts(
    raw_dir: Path,
    *,
    path: str,
    text_column: str,
    label_column: str | None = None,
    stem: bool = False,
    scaling: Scaling = "unit",
) -> tuple[Texts, np.ndarray | None]:
    """The texts in one column."""
    file = Path(path)
    names, rows = read_table(file)
    text = _position(file, names, "text_column", text_column)
    label = _position(file, names, "label_column", label_column)
    documents, labels = [], []
    for number, cells in rows:
        documents.append("" if cells[text] is None else str(cells[text]))
        if label is not None:
            labels.append(_text(cells[label], file, number, names[label]))
    return Texts(documents, stem, scaling), None if label is None else encode_labels(labels, file)


def feature_names(file: Path, label_column: str | None = None) -> list[str]:
    """The columns that `table` makes features of, in their order."""
    return [name for name in read_table(file)[0] if name != label_column]


def read_table(file: Path) -> tuple[list[str], Rows]:
    """Names of the columns, and the rows with their numbers: a CSV file's lines, a Parquet file's rows."""
    names, rows = _read_parquet(file) if file.suffix.lower() == ".parquet" else _read_csv(file)
    if not all(names):
        raise InputError(
            f"{file}: column {names.index('') + 1} has no name. If it numbers the rows, leave it out: "
            "it would count as a feature (in pandas, to_csv(index=False))."
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{file}: column {twice[0]!r} is there twice.")
    return names, rows


def _read_csv(file: Path) -> tuple[list[str], Rows]:
    rows = _csv_rows(file)
    _, names = next(rows, (0, []))
    if not names:
        raise InputError(f"{file} has no first row that names the columns.")
    if all(_is_number(name) for name in names):
        raise InputError(f"{file}: row 1 should name the columns, and holds numbers only.")
    return names, _of_width(rows, names, file)


def _csv_rows(file: Path) -> Rows:
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
                f"{_other_separator(file, names)}"
            )
        yield number, cells


def _read_parquet(file: Path) -> tuple[list[str], Rows]:
    try:
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise InputError(f"{file}: a Parquet file needs the package pyarrow.") from error
    with readable(file, "Parquet file"):
        opened = parquet.ParquetFile(file)
        names = [str(name) for name in opened.schema_arrow.names]
    return names, _parquet_rows(file, opened)


def _parquet_rows(file: Path, opened: Any) -> Rows:
    number = 0
    with readable(file, "Parquet file"), opened:
        for batch in opened.iter_batches():
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield number, list(cells)


def _position(file: Path, names: list[str], setting: str, column: str | None) -> Any:
    if column is None:
        return None
    if column not in names:
        raise InputError(
            f"{setting}={column!r}: {file} has no such column; it has {', '.join(names)}."
            f"{_other_separator(file, names)}"
        )
    return names.index(column)


def _other_separator(file: Path, names: list[str]) -> str:
    """A hint where the first row of a CSV file holds more of another separator than of commas."""
    for separator in SEPARATORS if file.suffix.lower() == ".csv" else "":
        if "".join(names).count(separator) >= len(names):
            return f" The file seems to be separated by {separator!r}; it should be by ','."
    return ""


def _number(cell: Any, file: Path, row: int, column: str, hint: str) -> float:
    if _is_number(cell) and abs(float(cell)) <= LARGEST:
        return float(cell)
    is_text = isinstance(cell, str) and cell.strip()
    raise InputError(
        f"{file}: row {row}, column {column!r}: {str(cell)[:60]!r} is not a finite number."
        f"{hint if is_text else ''}"
    )


def _is_number(cell: Any) -> bool:
    try:
        return math.isfinite(float(cell))
    except (TypeError, ValueError, OverflowError):
        return False


def _text(cell: Any, file: Path, row: int, column: str) -> str:
    text = "" if cell is None else str(cell).strip()
    if not text:
        raise InputError(f"{file}: row {row}, column {column!r} has no label.")
    return text
