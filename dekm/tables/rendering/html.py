"""Tables as one self-contained HTML page."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape as escape_html
from itertools import groupby
from pathlib import Path

from dekm.markup import one_line
from dekm.results.pictures import data_url
from dekm.tables.rendering.grid import Cell, Grid, Sample

# Every rule is for the content of .results alone, because Snakemake's report includes the page.
CSS = """
.results { color-scheme: light; font: 14px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff; }
.results { max-width: none; margin: 1.5rem auto; padding: 0 1.5rem; }
.results h1 { font-size: 1.5rem; margin: 0 0 .8rem; }
.results h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
.results h3 { font-size: 1rem; margin: .8rem 0 .6rem; }
.results nav { margin-bottom: 1rem; } .results nav a { margin-right: 1.2rem; }
.results .scroll { overflow-x: auto; }
.results img { display: block; max-width: min(100%, 60rem); margin: 1rem 0; }
.results table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
.results table { width: auto; margin: 0; font-size: 14px; }
.results p { color: #57606a; max-width: 60rem; margin: .5rem 0; }
.results p.advice { color: inherit; border-left: 3px solid #3f90da; padding-left: .8rem; margin: 1rem 0; }
.results th, .results td { padding: .3rem .55rem; text-align: left; vertical-align: top; }
.results thead th { border-bottom: 1px solid #8c959f; font-weight: 600; }
.results thead tr:first-child th { border-top: 2px solid #1b1f24; }
.results thead th[colspan] { text-align: center; }
.results tbody tr:last-child > * { border-bottom: 2px solid #1b1f24; }
.results tbody tr:nth-child(even) { background: #f6f8fa; }
.results tbody th { font-weight: 500; position: sticky; left: 0; background: #fff; }
.results tbody tr:nth-child(even) th { background: #f6f8fa; }
.results .beside { display: grid; gap: 0 2.5rem; }
.results .beside { grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); }
.results .beside > section { min-width: 0; }
.results .beside th, .results .beside td { padding: .25rem .4rem; }
.results .beside thead th { white-space: normal; }
.results td.samples { white-space: normal; min-width: 9.5rem; max-width: 22rem; }
.results td.samples > * { display: inline-block; margin-right: .3rem; vertical-align: top; }
.results td.samples img { width: 26px; height: 26px; margin: 0 0 2px; object-fit: contain; }
.results td.samples img { image-rendering: pixelated; }
.results td.long { white-space: normal; min-width: 15rem; max-width: 44rem; }
.results .sd, .results .paper { color: #57606a; font-size: .85em; }
.results .paper { display: block; }
.results sup { line-height: 0; font-size: .75em; }
.results ol { color: #57606a; font-size: .9em; list-style: decimal; padding-left: 2rem; }
@media print {
@page { size: landscape; margin: 1cm; }
.results { margin: 0; padding: 0; font-size: 10px; }
.results nav { display: none; }
.results .scroll { overflow: visible; }
.results table { font-size: 8px; white-space: normal; }
.results td.long { overflow-wrap: anywhere; }
.results th, .results td { padding: .1rem .25rem; }
.results td.long { min-width: 0; }
.results tbody th { position: static; }
.results tr { break-inside: avoid; }
.results img { max-width: 70%; break-inside: avoid; }
}
""".strip()
MAX_NOWRAP = 40  # characters of a cell that is not wrapped


def to_html(
    title: str,
    grids: Sequence[Grid],
    texts: Sequence[str] = (),
    figures: Mapping[str, Sequence[Path]] | None = None,
    pages: Mapping[str, str] | None = None,
) -> str:
    """A page of tables without scripts and external resources.

    `texts` are paragraphs after the first table, `figures` PNG files below the tables of these
    names, and `pages` the addresses of the pages of runs, by what they show.
    """
    first = {grid.beside or grid.name: grid for grid in reversed(grids)}
    links = "".join(
        f'<a href="#{grid.name}">{escape(grid.beside or grid.title)}</a>'
        for grid in grids
        if first[grid.beside or grid.name] is grid
    )
    nav = f"<nav>{links}</nav>\n" if len(first) > 1 else ""
    sections = list(_sections(title, grids, figures or {}))
    sections.insert(
        1, "".join(f'<p class="advice">{escape(text)}</p>\n' for text in texts) + _links(pages or {})
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{CSS}\n</style>\n</head>\n<body>\n"
        f'<main class="results">\n<h1>{escape(title)}</h1>\n{nav}{"".join(sections)}</main>\n'
        "</body>\n</html>\n"
    )


def _sections(title: str, grids: Sequence[Grid], figures: Mapping[str, Sequence[Path]]) -> Iterator[str]:
    """The tables, each with its heading and figures; those beside each other have a heading above theirs."""
    for beside, group in groupby(grids, lambda grid: grid.beside):
        heading = "h3" if beside else "h2"
        parts = [
            (f'<{heading} id="{grid.name}">{escape(grid.title)}</{heading}>\n' if grid.title != title else "")
            + _section(grid)
            + "".join(map(_picture, figures.get(grid.name, ())))
            for grid in group
        ]
        if beside:
            sections = "".join(f"<section>\n{part}</section>\n" for part in parts)
            yield f'<h2>{escape(beside)}</h2>\n<div class="beside">\n{sections}</div>\n'
        else:
            yield from parts


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


def _links(pages: Mapping[str, str]) -> str:
    """A paragraph of links to the pages of runs; empty without any."""
    links = ", ".join(f'<a href="{escape(address)}">{escape(name)}</a>' for name, address in pages.items())
    return f"<p>Runs, sample by sample: {links}.</p>\n" if links else ""


def _picture(file: Path) -> str:
    """An image whose content is part of the page."""
    address = data_url(file.read_bytes(), "image/png")
    return f'<img src="{address}" alt="{escape(file.stem)}">\n'


def _data(cell: Cell) -> str:
    if cell.samples:
        return f'<td class="samples">{"".join(map(_sample, cell.samples))}</td>'
    kind = ' class="long"' if len(cell.text) > MAX_NOWRAP else ""
    return f"<td{kind}>{_cell(cell)}</td>"


def _sample(sample: Sample) -> str:
    name, address = escape(sample.name), escape(sample.address)
    shown = f'<img src="{sample.picture}" alt="{name}" title="{name}">' if sample.picture else name
    return f'<a href="{address}">{shown}</a>' if address else f"<span>{shown}</span>"


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


def escape(text: str) -> str:
    """A text in HTML."""
    return escape_html(one_line(text))
