"""Cells of a user's tables."""

import math
import re
from typing import Any

TRUTH = {"true": 1.0, "false": 0.0}
EMPTY = {"", "?", "-", "na", "n/a", "nan", "null", "none"}  # in lower case
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+\Z", re.ASCII)
THOUSANDS = re.compile(r"[+-]?\d{1,3}((,\d{3})+\.\d+|(\.\d{3})+,\d+|(,\d{3}){2,}|(\.\d{3}){2,})\Z", re.ASCII)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}", re.ASCII)


def to_number(cell: Any, decimal: str = ".") -> float | None:
    """The number in a cell; None if it is not a finite number in ASCII digits, without underscores.

    The words true and false, in any case, are 1 and 0.
    """
    if isinstance(cell, str):
        text = cell.strip()
        if text.lower() in TRUTH:
            return TRUTH[text.lower()]
        if "_" in text or not text.isascii() or (decimal != "." and "." in text):
            return None  # Python accepts underscores and other digits in a number
        cell = text.replace(decimal, ".")
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def kind_of(cell: Any) -> str:
    """Kind of a cell that is not a number.

    One of "empty", "comma" (a decimal comma), "thousands" (their separators), "date", "list" (as a text),
    "nested" (lists in lists, or objects) and "text".
    """
    if isinstance(cell, list | dict):
        return "nested"
    text = "" if cell is None else str(cell).strip()
    if text.lower() in EMPTY:
        return "empty"
    for kind, form in (("thousands", THOUSANDS), ("comma", DECIMAL_COMMA), ("date", DATE)):
        if form.match(text):
            return kind
    return "list" if text.startswith("[") and text.endswith("]") else "text"


def looks_like_data(cell: Any) -> bool:
    """Whether the name of a column is rather a value: a number that is no plain integer, such as 5.1."""
    return to_number(cell) is not None and not str(cell).strip().isdigit()
