"""Tables as one self-contained HTML page."""

from collections.abc import Sequence
from html import escape

from dekm.tables.rendering.grid import Cell, Grid

CSS = """
:root { color-scheme: light; }
body { font: 14px/1.5 system-ui, sans-serif; color: #1b1f24; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
nav a { margin-right: 1.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
p { color: #57606a; max-width: 60rem; margin: .5rem 0; }
th, td { padding: .3rem .55rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid #8c959f; font-weight: 600; }
thead tr:first-child th { border-top: 2px solid #1b1f24; }
thead th[colspan] { text-align: center; }
tbody tr:last-child > * { border-bottom: 2px solid #1b1f24; }
tbody tr:nth-child(even) { background: #f6f8fa; }
tbody th { font-weight: 500; position: sticky; left: 0; background: #fff; }
tbody tr:nth-child(even) th { background: #f6f8fa; }
td.long { white-space: normal; min-width: 22rem; max-width: 44rem; }
.sd, .paper { color: #57606a; font-size: .85em; }
.paper { display: block; }
sup { line-height: 0; font-size: .75em; }
ol { color: #57606a; font-size: .9em; }
""".strip()
MAX_NOWRAP = 40  # characters of a cell that is not wrapped


def to_html(title: str, grids: Sequence[Grid]) -> str:
    """HTML page of several tables.

    Parameters
    ----------
    title : str
        Title of the page.
    grids : sequence of Grid
        Tables from top to bottom.

    Returns
    -------
    str
        Page without scripts, images or external resources.
    """
    links = "".join(f'<a href="#{grid.name}">{escape(grid.title)}</a>' for grid in grids)
    nav = f"<nav>{links}</nav>\n" if len(grids) > 1 else ""
    sections = "".join(
        (f'<h2 id="{grid.name}">{escape(grid.title)}</h2>\n' if grid.title != title else "") + _section(grid)
        for grid in grids
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{CSS}\n</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{nav}" + sections + "</body>\n</html>\n"
    )


def _section(grid: Grid) -> str:
    groups = grid.groups()
    head = ""
    if any(upper for upper, _ in groups):
        cells = (
            f'<th colspan="{width}" scope="colgroup">{escape(upper)}</th>' if upper else "<th></th>"
            for upper, width in groups
        )
        head = f"<tr>{''.join(cells)}</tr>\n"
    head += "<tr>" + "".join(f'<th scope="col">{escape(lower)}</th>' for _, lower in grid.columns) + "</tr>"
    body = "\n".join(
        f'<tr><th scope="row">{_cell(name)}</th>{"".join(map(_data, cells))}</tr>'
        for name, *cells in grid.rows
    )
    notes = "".join(f'<li id="{grid.name}-{i}">{escape(note)}</li>' for i, note in enumerate(grid.notes, 1))
    notes = f"<ol>{notes}</ol>\n" if notes else ""
    return (
        f'<div class="scroll"><table>\n<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n'
        f"</table></div>\n<p>{escape(grid.caption)}</p>\n{notes}"
    )


def _data(cell: Cell) -> str:
    kind = ' class="long"' if len(cell.text) > MAX_NOWRAP else ""
    return f"<td{kind}>{_cell(cell)}</td>"


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.place:
        tag = "b" if cell.place == 1 else "u"
        text = f"<{tag}>{text}</{tag}>"
    if cell.sd:
        text += f' <span class="sd">± {escape(cell.sd)}</span>'
    if cell.tied:
        text += " ≈"
    if cell.note:
        text += f"<sup>{cell.note}</sup>"
    if cell.paper:
        paper = escape(cell.paper) + ("*" if cell.quoted else "")
        paper += f"<sup>{cell.paper_note}</sup>" if cell.paper_note else ""
        difference = f" ({escape(cell.difference)})" if cell.difference else ""
        text += f' <span class="paper">{paper}{difference}</span>'
    return text
