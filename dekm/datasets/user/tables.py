"""A user's tables of numbers."""

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.dataset import Loaded
from dekm.datasets.labels import label_vector
from dekm.datasets.user.array_files import read_labels
from dekm.datasets.user.columns import Columns, Table, Wrong
from dekm.datasets.user.features import LISTED, as_samples, chosen_features, listed, reshaped
from dekm.datasets.user.openml_tables import open_data
from dekm.datasets.user.text_tables import Form, separator_hint
from dekm.errors import InputError, shown

logger = logging.getLogger(__name__)

LABEL_NAMES = {"label", "labels", "target", "targets", "class", "classes", "y", "gnd", "category", "species"}
INDEX_NAMES = {
    "id",
    "ids",
    "index",
    "idx",
    "row",
    "rows",
    "row_id",
    "rownames",
    "row_names",
    "number",
    "nr",
    "no",
}


def table(
    raw_dir: Path,
    *,
    path: str,
    label_column: str | None = None,
    labels: str | None = None,
    name_column: str | None = None,
    ignore_columns: Sequence[str] = (),
    categories: Sequence[str] = (),
    image_shape: Sequence[int] | None = None,
    separator: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    features: Sequence[str] | None = None,
) -> Loaded:
    """Load a table (n, d) of numbers.

    Parameters
    ----------
    path : str
        Table of one of the formats in `formats.TABLES`, or an address of OpenML, whose file is below
        `raw_dir`. A column of lists of numbers, such as embeddings, gives a feature per number.
    label_column : str, optional
        Name of the column of labels, by default that of OpenML; an empty cell is no label.
    labels : str, optional
        File of labels instead, see `array_files.read_labels`.
    name_column : str, optional
        Column of the names of the samples.
    ignore_columns : sequence of str
        Names of columns that are no features.
    categories : sequence of str
        Names of columns of texts, each of whose values becomes a feature "name=value" that is 0 or 1.
    image_shape : sequence of int, optional
        (h, w) or (h, w, c) of images whose pixels are the columns, row by row.
    separator, decimal, header
        See `text_tables.Form`.
    features : sequence of str, optional
        Names of the features, in their order; by default all other columns.

    Raises
    ------
    InputError
        If the file is damaged, a column does not exist, or a cell is not a finite number; the message names
        all columns with such cells, and what to do.
    """
    opened = open_data(raw_dir, path, Form(separator, decimal, header))
    label_column = label_column or default_labels(opened, labels, ignore_columns)
    roles = {"label_column": label_column, "name_column": name_column}
    for setting, column in [*roles.items(), *(("categories", name) for name in categories)]:
        check_column(opened, setting, column)
    for column in ignore_columns:
        check_column(opened, "ignore_columns", column)
    others = [name for name in (label_column, name_column, *categories) if name is not None]
    left_out = [name for name in opened.names if name in opened.index.union(ignore_columns) - set(others)]
    numbers = [name for name in opened.names if name not in {*others, *left_out}]
    if features is not None:
        numbers = [name for name in numbers if _owns(name, features)]
    read = opened.read(numbers, others)
    if read.wrong:
        raise InputError(explain(opened, read.wrong))
    X, names = _with_categories(read, categories, features)
    if not X.size:
        raise InputError(f"{path} has no rows of numbers.")
    if features is None:
        _tell(path, read, names, left_out, roles)
    else:
        X, names = chosen_features(X, names, features, path)
    y = labels_of(path, read.cells, label_column, labels, len(X))
    samples = read.texts(name_column) if name_column else None
    return Loaded(as_samples(reshaped(X, image_shape, path), path), y, samples, names)


def default_labels(table: Table, file: str | None, ignored: Collection[str] = ()) -> str | None:
    """The column of labels of a table of OpenML, unless they are in a file or the column is ignored."""
    return None if file is not None or table.target in ignored else table.target


def labels_of(
    path: object, cells: Mapping[str, list[Any]], column: str | None, file: str | None, n_samples: int
) -> np.ndarray | None:
    """Labels of a table, from one of its columns or from a file of their own; None if there are none.

    `InputError` if both are given, or the file has not one label per row.
    """
    if column is not None and file is not None:
        raise InputError(
            f"labels={shown(file)} should be left out: label_column={shown(column)} has the labels."
        )
    if column is not None:
        return label_vector(cells[column], path)
    return None if file is None else read_labels(Path(file), n_samples, path)


def check_column(table: Table, setting: str, column: str | None) -> None:
    """Raise `InputError` if a setting names a column that the table has not."""
    if column is not None and column not in table.names:
        raise InputError(
            f"{setting}: {table.file} has no column {shown(column)}; it has {listed(table.names)}."
            f"{separator_hint(table)}"
        )


def _owns(column: str, features: Collection[str]) -> bool:
    return column in features or any(feature.startswith(f"{column}[") for feature in features)


def _with_categories(
    read: Columns, categories: Sequence[str], features: Sequence[str] | None
) -> tuple[np.ndarray, list[str]]:
    """The numbers and, for each value of a category, a column of zeros and ones."""
    parts, names = [read.X], list(read.names)
    for column in categories:
        cells = np.array([text.strip() for text in read.texts(column)])
        start = f"{column}="
        known = [name.removeprefix(start) for name in features or () if name.startswith(start)]
        values = known or sorted(set(cells.tolist()))
        if other := sorted(set(cells.tolist()) - set(values)):
            logger.warning("column %s: the run was made without the values %s", column, listed(other))
        parts.append((cells[:, np.newaxis] == np.array(values)).astype(np.float32))
        names += [f"{start}{value}" for value in values]
    return (np.concatenate(parts, axis=1), names) if len(parts) > 1 else (read.X, names)


def _tell(
    path: str, read: Columns, names: list[str], left_out: list[str], roles: Mapping[str, str | None]
) -> None:
    """Log what is no feature, and which features look like labels or row numbers."""
    named = [f"{name} ({setting})" for setting, name in roles.items() if name]
    if left_out or named:
        logger.info("%s: not features: %s", path, ", ".join([*left_out, *named]))
    for name, values in zip(names, read.X.T, strict=False):
        if name.lower() in LABEL_NAMES and roles["label_column"] is None:
            look, remedy = "true labels", f"label_column: {name}, or ignore_columns: [{name}]"
        elif name.lower() in INDEX_NAMES or (len(values) >= MANY_ROWS and (np.diff(values) == 1).all()):
            look, remedy = "a number of the row", f"ignore_columns: [{name}], or name_column: {name}"
        else:
            continue
        logger.warning(
            "%s: column %s is a feature, but looks like %s; if it is: %s", path, name, look, remedy
        )


MANY_ROWS = 10  # with so many rows consecutive integers are unlikely by chance
REMEDIES = {
    "thousands": "Separators of thousands: remove them",
    "comma": 'Decimal commas: decimal: ","',
    "date": "Dates: convert them to numbers, such as days, or name the column in ignore_columns",
    "nested": "Nested values: give each row one list of numbers, or each number a column of its own",
    "empty": "Empty cells: fill them, for example with the median of the column, remove their rows, or name "
    "the column in ignore_columns",
    "list": "Lists that are written as texts: save them as lists (in pandas, json.loads, then to_parquet)",
    "text": "Texts: if the column holds categories, name it in categories; if labels, in label_column; if "
    "texts to cluster, in text_column; if neither, in ignore_columns",
}


def explain(table: Table, wrong: Mapping[str, Wrong]) -> str:
    """The cells that are no numbers, by column, and what to do about each kind of them."""
    found = [
        f"row {cells.row}, column {shown(name)}: {str(cells.cell)[:60]!r} is not a finite number"
        for name, cells in list(wrong.items())[:LISTED]
    ]
    more = f", and {len(wrong) - LISTED} more columns" if len(wrong) > LISTED else ""
    if hint := separator_hint(table):
        return f"{table.file}: {'; '.join(found)}{more}.{hint}"
    kinds: dict[str, list[str]] = {kind: [] for kind in REMEDIES}
    for name, cells in wrong.items():
        likely = [kind for kind in ("thousands", "comma") if cells.kinds[kind]]
        kinds[likely[0] if likely else cells.kinds.most_common(1)[0][0]].append(name)
    advice = [
        f"{REMEDIES[kind]} ({listed(names)}; {sum(wrong[name].kinds[kind] for name in names)} cells)."
        for kind, names in kinds.items()
        if names
    ]
    return f"{table.file}: {'; '.join(found)}{more}. {' '.join(advice)}"
