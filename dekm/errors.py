"""The error of a user's mistake: the command line prints its text and no traceback."""

import difflib
import re
from collections.abc import Sequence

LONGEST = 200  # characters of a value in a message


# The user and password of an address, also of one whose password has a slash, and the values of tokens.
USER = re.compile(r'(?<=://)(?:[^\s/@:"<>[]*:(?!\d*(?:[/?#\s"\'<>]|$))[^\s"<>]*@|[^\s/?#"<>]*@)')
TOKEN = re.compile(
    r"([?&;](?:[\w.%-]*[-_.])?(?:access|api|auth|id|private|refresh|secret|temp|rl)?"
    r"(?:auth|code|credentials?|key|pass|passw(?:or)?d|pwd|secret|session|sig(?:nature)?|token)=)[^\s&#;'\")<>]+",
    re.IGNORECASE,
)


def without_secrets(text: str) -> str:
    """A text with asterisks for the users, passwords and tokens of its addresses, as it is shown and kept."""
    return TOKEN.sub(r"\1***", USER.sub("***@", text))


def find_secret(place: str, address: str | None) -> str:
    """What is wrong with an address that a workflow records and prints; empty if nothing is."""
    if not address or without_secrets(address) == address:
        return ""
    return (
        f"{place} should hold no user, password or token, which logs and records of the workflow would show."
    )


class InputError(ValueError):
    """What was given cannot be used; the text names it and says what is right, without secrets."""

    def __init__(self, text: str) -> None:
        super().__init__(without_secrets(text))


class DivergedError(InputError, FloatingPointError):
    """A training has diverged. With another seed it may not, so the cell of a method counts its others."""


def unknown_name(place: str, name: object, valid: Sequence[str]) -> str:
    """What is wrong with a name that is not among the valid ones, with the closest of them as a hint.

    `place` says where the name stands, such as "datasets"; it may be empty.
    """
    full = cut(f"{place}.{name}" if place else str(name))
    close = [
        near for text in (str(name), str(name).lower()) for near in difflib.get_close_matches(text, valid, 1)
    ]
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{full}: unknown name; {hint}Valid names: {', '.join(valid)}."


OUT_OF_MEMORY = (
    "can't allocate memory",
    "cannot allocate memory",
    "could not create a primitive",
    "out of memory",
    "std::bad_alloc",
    "failed to map segment",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory is lacking; PyTorch and the loader of libraries have many texts."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(part in text for part in OUT_OF_MEMORY)


def first_line(error: BaseException) -> str:
    """First line of the text of an error without a full stop, or its type if it has none."""
    return next(iter(str(error).strip().splitlines()), "").rstrip(".") or type(error).__name__


def shown(value: object) -> str:
    """The representation of a value that a user gave, cut off after some characters."""
    try:
        return cut(repr(value))
    except ValueError:  # Python does not print an integer of more than 4,300 digits
        return "a number of too many digits"


def cut(text: str) -> str:
    """The first characters of a text that a user gave."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."
