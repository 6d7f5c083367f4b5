"""Markdown tables."""

import re
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return (
        "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        + "\n"
    )


def code(value: object) -> str:
    """Text as it is typed."""
    return f"`{value}`"


def plain(text: str) -> str:
    """A part of a docstring as one line of Markdown."""
    text = re.sub(r":math:`([^`]*)`", r"$\1$", " ".join(text.split()))
    text = re.sub(r"\s*\[\d+\]_", "", text)
    text = text.replace("``", "`")
    return "".join(
        part if i % 2 else part.replace("<", "&lt;") for i, part in enumerate(re.split(r"(`[^`]*`)", text))
    )
