"""Text in CSV files that people open in spreadsheets, which run a cell that starts as a formula does."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(frame: "pd.DataFrame", float_format: str) -> str:
    """A data frame as CSV text without its index; see `cell`."""
    text = frame.select_dtypes(exclude="number").columns
    return frame.apply(lambda column: column.map(cell) if column.name in text else column).to_csv(
        index=False, float_format=float_format
    )


def cell(value: Any) -> Any:
    """A value of a CSV file; text that a spreadsheet would run as a formula gets an apostrophe before it."""
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
