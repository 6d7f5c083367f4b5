"""Tables in CSV files as data frames."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dekm.files.reading import damaged, readable

if TYPE_CHECKING:
    import pandas as pd


def read_table(
    file: Path,
    texts: Sequence[str],
    numbers: Sequence[str] = (),
    *,
    filled: Sequence[str] = (),
    remedy: str = "",
) -> "pd.DataFrame":
    """Read a table with a header from a CSV file in UTF-8, also its other columns.

    It needs the columns `texts` and `numbers`, of finite numbers; empty fields are NaN, but for the columns
    `filled`, which have none. `InputError` if the file does not exist, is no such table, or lacks a column.
    """
    import numpy as np
    import pandas as pd

    types: dict[str, Any] = dict.fromkeys(texts, str)
    with readable(file, "CSV file", remedy=remedy):
        # Only an empty field is missing: a class may be called "NA" or "None".
        table = pd.read_csv(file, dtype=types, keep_default_na=False, na_values=[""])
    missing = sorted({*texts, *numbers} - set(table))
    if missing:
        raise damaged(file, f"it lacks the columns {missing}", remedy)
    for name in filled:
        if table[name].isna().any():
            raise damaged(file, f"the column {name} has an empty field", remedy)
    for name in numbers:
        with readable(file, f"table with numbers in the column {name}", remedy=remedy):
            table[name] = pd.to_numeric(table[name])
        if np.isinf(table[name].to_numpy(float)).any():
            raise damaged(file, f"the column {name} should hold finite numbers", remedy)
    return table
