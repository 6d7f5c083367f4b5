"""The error of a user's mistake: the command line prints its text and no traceback."""

import difflib
from collections.abc import Sequence


class InputError(ValueError):
    """What was given cannot be used; the text names it and says what is right."""


def unknown_name(place: str, name: object, valid: Sequence[str]) -> str:
    """What is wrong with a name that is not among the valid ones, with the closest of them as a hint.

    `place` says where the name stands, such as "datasets"; it may be empty.
    """
    full = f"{place}.{name}" if place else str(name)
    close = difflib.get_close_matches(str(name), valid, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{full}: unknown name; {hint}Valid names: {', '.join(valid)}."
