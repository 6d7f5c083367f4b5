"""A user's Parquet files, read by Arrow: columns of numbers without Python objects."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.user.cells import to_number
from dekm.datasets.user.columns import Columns, Table, Wrong, list_names
from dekm.errors import InputError, shown
from dekm.files.reading import readable


@dataclass
class ParquetTable(Table):
    """A Parquet file; rows count from 1."""

    def read(self, numbers: Sequence[str], others: Collection[str]) -> Columns:
        """Some columns as numbers, some as cells."""
        with readable(self.file, "Parquet file"), _opened(self.file) as opened:
            table = opened.read(columns=[*numbers, *others])
            wrong: dict[str, Wrong] = {}
            arrays = [self._numbers(name, table.column(name), wrong) for name in numbers]
            cells = {name: table.column(name).to_pylist() for name in others}
        names = list_names(numbers, [None if array.ndim == 1 else array.shape[1] for array in arrays])
        X = np.empty((table.num_rows, len(names)), np.result_type(np.float32, *arrays))
        place = 0
        for array in arrays:
            width = 1 if array.ndim == 1 else array.shape[1]
            X[:, place : place + width] = array.reshape(-1, width)
            place += width
        return Columns(X, names, wrong, cells)

    def _numbers(self, name: str, column: Any, wrong: dict[str, Wrong], width: int = 1) -> np.ndarray:
        """A column as an array (n,) or, of lists, (n, w); NaN where a cell is no number."""
        import pyarrow as pa

        values = column.combine_chunks()
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if _is_list(values.type):
            if _is_list(values.type.value_type):
                raise InputError(
                    f"{self.file}: column {shown(name)} has lists in lists; give each row one list."
                )
            width = self._width(name, values)
            return self._numbers(name, pa.chunked_array([values.flatten()]), wrong, width).reshape(-1, width)
        if not _is_number(values.type):
            numbers = [to_number(cell) for cell in values.to_pylist()]
            array = np.array([np.nan if number is None else number for number in numbers], np.float64)
        else:
            target = pa.float32() if values.type in (pa.float16(), pa.float32(), pa.bool_()) else pa.float64()
            array = values.cast(target, safe=False).to_numpy(zero_copy_only=False)
        for place in np.flatnonzero(~np.isfinite(array)).tolist():
            cell = values[place].as_py()
            wrong.setdefault(name, Wrong(place // width + 1, cell)).add(cell)
        return array

    def _width(self, name: str, lists: Any) -> int:
        """Length of all lists of a column."""
        import pyarrow.compute as pc

        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        if not len(lengths):
            raise InputError(f"{self.file} has no rows of numbers.")
        other = np.flatnonzero(lengths != lengths[0]) if lengths[0] else np.arange(1)
        if len(other):
            row = int(other[0])
            raise InputError(
                f"{self.file}: row {row + 1}, column {shown(name)} has a list of length {int(lengths[row])}; "
                "all lists should have the same length."
            )
        return int(lengths[0])


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return any(
        test(kind)
        for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    )


def open_parquet(file: Path) -> ParquetTable:
    """Open a Parquet file; the index of a data frame in it is known from its metadata."""
    with readable(file, "Parquet file"), _opened(file) as opened:
        schema = opened.schema_arrow
        described = (schema.pandas_metadata or {}).get("index_columns", [])
        index = {name for name in described if isinstance(name, str)}  # a range is no column
        return ParquetTable(file, [str(name) for name in schema.names], index)


def count_rows(file: Path) -> int:
    """Number of rows, from the metadata."""
    with readable(file, "Parquet file"), _opened(file) as opened:
        return int(opened.metadata.num_rows)


def _opened(file: Path) -> Any:
    try:
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise InputError(
            f"{file}: a Parquet file needs the package pyarrow: pip install 'dekm[parquet]'."
        ) from error
    return parquet.ParquetFile(file)
