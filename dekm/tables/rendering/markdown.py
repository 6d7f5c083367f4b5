"""Tables in Markdown."""

from dekm.markup import markdown
from dekm.tables.rendering.grid import Cell, Grid


def to_markdown(grid: Grid) -> str:
    """A pipe table, its caption and its footnotes."""
    header = [markdown(f"{upper} {lower}".strip()) for upper, lower in grid.columns]
    lines = [[_cell(cell) for cell in row] for row in grid.rows]
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    padded = [
        "| " + " | ".join(value.ljust(width) for value, width in zip(line, widths, strict=True)) + " |"
        for line in (header, rule, *lines)
    ]
    notes = [f"{i}. {markdown(note)}" for i, note in enumerate(grid.notes, 1)]
    return "\n".join([*padded, "", markdown(grid.caption), *(["", *notes] if notes else []), ""])


def _cell(cell: Cell) -> str:
    text = f"{cell.text} ± {cell.sd}" if cell.sd else cell.text
    text = markdown(text)
    if cell.place:
        text = f"**{text}**" if cell.place == 1 else f"_{text}_"
    if cell.tied:
        text += " ≈"
    if cell.paper:
        star = r"\*" if cell.quoted else ""
        difference = f", {markdown(cell.difference)}" if cell.difference else ""
        text += f" [{markdown(cell.paper)}{star}{_note(cell.paper_note)}{difference}]"
    return text + _note(cell.note)


def _note(number: int | None) -> str:
    return f" ({number})" if number else ""
