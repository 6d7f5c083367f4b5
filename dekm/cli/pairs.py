"""Options of the form NAME=VALUE."""

import json
import re
from collections.abc import Iterator
from typing import Any

from dekm.errors import InputError, shown


def parse_settings(pairs: list[str], option: str = "--set") -> dict[str, Any]:
    """Parse the values of an option such as ``--set``.

    Parameters
    ----------
    pairs : list of str
        ``NAME=VALUE``; a value that is not valid JSON is a string.
    option : str
        The option, for error messages.

    Returns
    -------
    dict of str to Any
        Value of each setting by name.

    Raises
    ------
    InputError
        If a pair has no name or no equals sign.
    """
    settings = {}
    for name, value in _split(option, "NAME=VALUE", pairs):
        settings[name] = _parse(value)
    return settings


def parse_numbers(text: str) -> list[int]:
    """Numbers of clusters, such as "2-15" or "5,10,15", ascending.

    Raises
    ------
    InputError
        If the text is none of these, or a number is below 2.
    """
    numbers: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch("([0-9]{1,5})(?:-([0-9]{1,5}))?", part)
        low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 2 <= low <= high:
            raise InputError(
                f"--k {shown(text)} should be numbers of clusters >= 2, such as 2-15 or 5,10,15."
            )
        numbers.update(range(low, high + 1))
    return sorted(numbers)


def parse_texts(option: str, form: str, pairs: list[str]) -> dict[str, str]:
    """Parse the values of an option such as ``--left-out``.

    Parameters
    ----------
    option : str
        The option, for error messages.
    form : str
        Form of a pair, for error messages, such as ``DATASET=REASON``.
    pairs : list of str
        The pairs.

    Returns
    -------
    dict of str to str
        Text by name.

    Raises
    ------
    InputError
        If a pair has no name or no equals sign.
    """
    return dict(_split(option, form, pairs))


def _parse(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # no JSON, an integer of too many digits, or a value too deep
        return value


def _split(option: str, form: str, pairs: list[str]) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise InputError(f"{option} {shown(pair)} should be {form}.")
        yield name, value
