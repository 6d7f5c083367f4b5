"""A user's tables of numbers."""

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.labels import label_vector
from dekm.datasets.user.cells import to_number
from dekm.datasets.user.table_files import read_table, separator_hint
from dekm.errors import InputError, shown

LARGEST = float(np.finfo(np.float32).max)
COLUMN_HINT = (
    " If the column holds labels, name it in label_column; if texts, in text_column; if neither, in "
    "ignore_columns."
)


def table(
    raw_dir: Path, *, path: str, label_column: str | None = None, ignore_columns: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray | None]:
    """Load a table of numbers.

    Parameters
    ----------
    raw_dir : Path
        Ignored.
    path : str
        Table, see `table_files.read_table`; the first row of a file of text names the columns.
    label_column : str, optional
        Name of the column of labels; all other columns are features.
    ignore_columns : sequence of str
        Names of columns that are no features.

    Returns
    -------
    X : ndarray of shape (n, d)
        Features, float32.
    y : ndarray of shape (n,) or None
        Labels; None without `label_column`.

    Raises
    ------
    InputError
        If the file is damaged, or a cell is not a finite number; the message names row and column.
    """
    file = Path(path)
    names, rows = read_table(file, ignored=ignore_columns, wanted=[label_column or ""])
    label = column_position(file, names, "label_column", label_column)
    hint = separator_hint(file, names) or ("" if label_column else COLUMN_HINT)
    columns = [i for i in range(len(names)) if i != label]
    values, labels = array("f"), []
    for number, cells in rows:
        values.extend(_number(cells[i], file, number, names[i], hint) for i in columns)
        if label is not None:
            labels.append(label_of(cells[label], file, number, names[label]))
    X = np.array(values, dtype=np.float32).reshape(-1, len(columns)) if columns else np.empty((0, 0))
    if not X.size:
        raise InputError(f"{file} has no rows of numbers.")
    return X, None if label is None else label_vector(labels, file)


def feature_names(
    file: Path, label_column: str | None = None, ignore_columns: Sequence[str] = ()
) -> list[str]:
    """Names of the columns that `table` loads as features.

    Parameters
    ----------
    file : Path
        The table.
    label_column : str, optional
        Name of the column of labels.
    ignore_columns : sequence of str
        Names of columns that are no features.

    Returns
    -------
    list of str
        Names in the order of the columns.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    names, _ = read_table(file, ignored=ignore_columns, wanted=[label_column or ""])
    return [name for name in names if name != label_column]


def column_position(file: Path, names: list[str], setting: str, column: str | None) -> Any:
    """Position of the column that a setting names.

    Parameters
    ----------
    file : Path
        The table, for error messages.
    names : list of str
        Names of the columns.
    setting : str
        Name of the setting.
    column : str or None
        Value of the setting.

    Returns
    -------
    int or None
        Position from 0; None if `column` is None.

    Raises
    ------
    InputError
        If there is no such column.
    """
    if column is None:
        return None
    if column not in names:
        raise InputError(
            f"{setting}={shown(column)}: {file} has no such column; it has {', '.join(names)}."
            f"{separator_hint(file, names)}"
        )
    return names.index(column)


def label_of(cell: Any, file: Path, row: int, column: str) -> str:
    """Label in a cell.

    Parameters
    ----------
    cell : Any
        The cell.
    file : Path
        The table, for error messages.
    row : int
        Number of the row, for error messages.
    column : str
        Name of the column, for error messages.

    Returns
    -------
    str
        The label.

    Raises
    ------
    InputError
        If the cell is empty.
    """
    text = "" if cell is None else str(cell).strip()
    if not text:
        raise InputError(f"{file}: row {row}, column {shown(column)} has no label.")
    return text


def _number(cell: Any, file: Path, row: int, column: str, hint: str) -> float:
    number = to_number(cell)
    if number is not None and abs(number) <= LARGEST:
        return number
    is_text = isinstance(cell, str) and cell.strip()
    raise InputError(
        f"{file}: row {row}, column {shown(column)}: {str(cell)[:60]!r} is not a finite number."
        f"{hint if is_text else ''}"
    )
