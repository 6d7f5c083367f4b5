"""Tables in LaTeX with the package booktabs and the two-level header of the paper."""

from dekm.markup import latex, one_line
from dekm.tables.rendering.grid import Cell, Grid


def to_latex(grid: Grid) -> str:
    """A comment with the caption, a ``tabular`` environment, and the footnotes in small type."""
    groups, header = grid.groups(), []
    if any(upper for upper, _ in groups):
        header.append(" & ".join(_group(upper, width) for upper, width in groups))
    header.append(" & ".join(latex(lower) for _, lower in grid.columns))
    rules = _rules(groups)
    if rules:
        header[0] += r" \\" + "\n" + rules
        header = ["\n".join(header)]
    lines = [" & ".join(_cell(cell) for cell in row) for row in grid.rows]
    body = " \\\\\n".join([*header, "\\midrule\n" + lines[0], *lines[1:]])
    notes = "".join(
        f"\n\\\\ {{\\footnotesize $^{{({i})}}$ {latex(note)}}}" for i, note in enumerate(grid.notes, 1)
    )
    return (
        f"% {one_line(grid.caption)}\n"
        f"\\begin{{tabular}}{{{'l' * len(grid.columns)}}}\n\\toprule\n{body} \\\\\n"
        f"\\bottomrule\n\\end{{tabular}}{notes}\n"
    )


def _group(upper: str, width: int) -> str:
    return rf"\multicolumn{{{width}}}{{c}}{{{latex(upper)}}}" if upper else ""


def _rules(groups: list[tuple[str, int]]) -> str:
    """Rules below the upper headers."""
    rules, start = [], 1
    for upper, width in groups:
        if upper:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return "".join(rules)


def _cell(cell: Cell) -> str:
    text = rf"{latex(cell.text)} $\pm$ {latex(cell.sd)}" if cell.sd else latex(cell.text)
    if cell.place:
        text = rf"\textbf{{{text}}}" if cell.place == 1 else rf"\underline{{{text}}}"
    if cell.tied:
        text += r" $\approx$"
    if cell.paper:
        text += f" [{latex(cell.paper)}{'$^*$' if cell.quoted else ''}{_note(cell.paper_note)}]"
    return text + _note(cell.note)


def _note(number: int | None) -> str:
    return f"$^{{({number})}}$" if number else ""
