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

    numbers: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    cells: dict[str, list[str]] = field(default_factory=dict)

    def read(self, numbers: Sequence[str], others: Collection[str]) -> Columns:
        """Some columns as numbers, some as cells."""
        X = np.full((len(self.numbers), len(numbers)), np.nan)
        wrong: dict[str, Wrong] = {}
        for place, name in enumerate(numbers):
            cells = self._column(name)
            if name not in self.cells:
                X[:, place] = cells
            for row in np.flatnonzero(~np.isfinite(X[:, place])).tolist():
                cell = cells[row] if name in self.cells else ""
                wrong.setdefault(name, Wrong(row + 1, cell)).kinds["text" if cell else "empty"] += 1
        return Columns(X, list(numbers), wrong, {name: list(self._column(name)) for name in others})

    def _column(self, name: str) -> Any:
        if name in self.cells:
            return self.cells[name]
        return self.numbers[:, [column for column in self.names if column not in self.cells].index(name)]


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
    return OpenMLTable(Path(path), stored.columns, set(), stored.target, stored.numbers, stored.cells)
