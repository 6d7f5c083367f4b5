"""Cells of a user's tables."""

import math
from typing import Any

TRUTH = {"true": 1.0, "false": 0.0}


def to_number(cell: Any) -> float | None:
    """The number in a cell.

    Parameters
    ----------
    cell : Any
        The cell; the words true and false, in any case, are 1 and 0.

    Returns
    -------
    float or None
        The number; None if the cell is not a finite number in ASCII digits, without underscores.
    """
    if isinstance(cell, str):
        text = cell.strip()
        if text.lower() in TRUTH:
            return TRUTH[text.lower()]
        if "_" in text or not text.isascii():  # which Python accepts in a number
            return None
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
