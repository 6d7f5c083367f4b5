"""Tables that are kept as files in the folder of raw files, as those of OpenML, or files of the user."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.raw import openml
from dekm.datasets.user.columns import Columns, Table, Wrong
from dekm.datasets.user.table_files import open_table
from dekm.datasets.user.text_tables import Form

logger = logging.getLogger(__name__)


@dataclass
class OpenMLTable(Table):
    """A table of OpenML, whose columns of numbers are those that it declares as such; rows count from 1."""

    columns: dict[str, Any] = field(default_factory=dict)  # arrays of numbers, lists of other cells
    n_rows: int = 0

    def read(self, numbers: Sequence[str], others: Collection[str]) -> Columns:
        """Some columns as numbers, some as cells."""
        X = np.full((self.n_rows, len(numbers)), np.nan)
        wrong: dict[str, Wrong] = {}
        for place, name in enumerate(numbers):
            cells = self.columns[name]
            is_number = isinstance(cells, np.ndarray)
            if is_number:
                X[:, place] = cells
            for row in np.flatnonzero(~np.isfinite(X[:, place])).tolist():
                cell = "" if is_number else cells[row]
                wrong.setdefault(name, Wrong(row + 1, cell)).kinds["text" if cell else "empty"] += 1
        return Columns(X, list(numbers), wrong, {name: list(self.columns[name]) for name in others})


def open_data(raw_dir: Path, path: str, form: Form) -> Table:
    """Open a table of OpenML in the folder of raw files, or else that of a user.

    Raises `InputError` if it does not exist or cannot be read.
    """
    if not openml.is_address(path):
        return open_table(Path(path), form)
    stored = openml.read(raw_dir / openml.raw_file(path).path, path)
    if stored.target is None:
        logger.info(
            "%s has no default target: label_column names the column of labels, if one has them", path
        )
    numeric = [name for name in stored.columns if name not in stored.cells]
    columns = dict(zip(numeric, stored.numbers.T, strict=True)) | stored.cells
    return OpenMLTable(Path(path), stored.columns, set(), stored.target, columns, len(stored.numbers))
