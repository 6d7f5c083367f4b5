"""Tables of a user: CSV, TSV, JSON Lines and Parquet files, opened by the endings of their names."""

import re
from collections import Counter
from pathlib import Path

from dekm.datasets.user.columns import Table
from dekm.datasets.user.formats import format_of, opened_text
from dekm.datasets.user.parquet_files import count_rows, open_parquet
from dekm.datasets.user.text_tables import Form, open_csv, open_jsonl
from dekm.errors import InputError, shown

INDEX_NAME = re.compile(r"(__index_level_\d+__|Unnamed: 0(\.\d+)?)\Z")  # of a pandas index saved as a column


def open_table(file: Path, form: Form | None = None) -> Table:
    """Open a table, whose columns are not read yet.

    `InputError` if the file cannot be read, or a column has no name or the name of another one.
    """
    kind, form = format_of(file), form or Form()
    if kind == ".parquet":
        table: Table = open_parquet(file)
    else:
        table = open_jsonl(file, form) if kind == ".jsonl" else open_csv(file, form)
    _check_names(file, table.names)
    table.index |= {name for name in table.names if INDEX_NAME.match(name)}
    return table


def _check_names(file: Path, names: list[str]) -> None:
    if not all(names):
        raise InputError(
            f"{file}: column {names.index('') + 1} has no name. If it numbers the rows, remove it, because "
            "it would be used as a feature (in pandas, to_csv(index=False))."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{file}: column {shown(twice[0])} appears twice.")


def most_rows(file: Path) -> int:
    """Maximum number of rows of a table, from the lines of a text file or the metadata of a Parquet file."""
    kind = format_of(file)
    if kind == ".parquet":
        return count_rows(file)
    with opened_text(file, f"{kind[1:].upper()} file") as stream:
        return sum(1 for _ in stream) - (kind != ".jsonl")
