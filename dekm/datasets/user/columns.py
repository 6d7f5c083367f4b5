"""What is read of a user's table: columns of numbers, columns of cells, and the cells that are no numbers."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.user.cells import kind_of


@dataclass
class Wrong:
    """The cells of a column that are no numbers: their kinds, the first of them and its row."""

    row: int
    cell: Any
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, cell: Any) -> None:
        """Count a cell."""
        self.kinds[kind_of(cell)] += 1


@dataclass
class Columns:
    """What was read.

    `X` (n, d) has the numbers, float64 or float32, NaN where a cell is none. A column of lists gives several
    columns of X, "name[0]", "name[1]", ...
    """

    X: np.ndarray
    names: list[str]  # of the columns of X
    wrong: dict[str, Wrong]  # the cells that are no numbers, by column
    cells: dict[str, list[Any]]  # those of the columns that are not read as numbers

    def texts(self, name: str) -> list[str]:
        """The cells of a column as texts, that of an empty cell empty, whatever the format of the file."""
        return ["" if cell is None else str(cell) for cell in self.cells[name]]


@dataclass
class Table:
    """A table whose columns are known.

    Some are the saved `index` of a data frame; one may be the `target`, the labels unless another is named.
    """

    file: Path
    names: list[str]
    index: set[str] = field(default_factory=set)
    target: str | None = None

    def read(self, numbers: Sequence[str], others: Collection[str]) -> Columns:
        """Some columns as numbers, some as cells."""
        raise NotImplementedError


def list_names(columns: Sequence[str], widths: Sequence[int | None]) -> list[str]:
    """Names of the numbers in some columns; those of a list are numbered."""
    return [
        name
        for column, width in zip(columns, widths, strict=True)
        for name in ([column] if width is None else [f"{column}[{i}]" for i in range(width)])
    ]
