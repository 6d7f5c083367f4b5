"""Tables in Markdown."""

from dekm.tables.rendering.grid import Cell, Grid

SPECIAL = str.maketrans({"\\": r"\\", "|": r"\|", "*": r"\*", "<": "&lt;"})


def to_markdown(grid: Grid) -> str:
    """Markdown code of a table.

    Parameters
    ----------
    grid : Grid
        Table.

    Returns
    -------
    str
        A pipe table, its caption and its footnotes.
    """
    header = [_escape(f"{upper} {lower}".strip()) for upper, lower in grid.columns]
    lines = [[_cell(cell) for cell in row] for row in grid.rows]
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    padded = [
        "| " + " | ".join(value.ljust(width) for value, width in zip(line, widths, strict=True)) + " |"
        for line in (header, rule, *lines)
    ]
    notes = [f"{i}. {_escape(note)}" for i, note in enumerate(grid.notes, 1)]
    return "\n".join([*padded, "", grid.caption, *(["", *notes] if notes else []), ""])


def _cell(cell: Cell) -> str:
    text = f"{cell.text} ± {cell.sd}" if cell.sd else cell.text
    text = _escape(text)
    if cell.place:
        text = f"**{text}**" if cell.place == 1 else f"_{text}_"
    if cell.tied:
        text += " ≈"
    if cell.paper:
        star = r"\*" if cell.quoted else ""
        difference = f", {cell.difference}" if cell.difference else ""
        text += f" [{cell.paper}{star}{_note(cell.paper_note)}{difference}]"
    return text + _note(cell.note)


def _note(number: int | None) -> str:
    return f" ({number})" if number else ""


def _escape(text: str) -> str:
    """Text without markup and line breaks, which would end the row of a table."""
    return " ".join(text.splitlines()).translate(SPECIAL)
