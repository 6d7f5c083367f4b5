"""The page of a run: one HTML file, on which a sample can be asked why it is in its cluster.

It needs no network. Its numbers are those of the run folder; the page computes none but counts.
"""

import html
import re
from pathlib import Path

from dekm.figures.explore.contents import describe, gather
from dekm.figures.explore.pictures import encode_array, encode_json, sheet, strip
from dekm.figures.sources import describe_run
from dekm.files.reading import readable
from dekm.files.writing import write_text
from dekm.results.folders import read_run
from dekm.results.record import Record
from dekm.results.result_set import RUN_OF_PAGE

TEMPLATE = Path(__file__).with_name("page.html")


def write_page(run: Path, file: Path) -> None:
    """Write the page of the complete run in a folder of results.

    `InputError` if the folder is no such run, or a file of it or of its data is damaged.
    """
    record = read_run(run)
    with readable(record.path, "run", remedy=record.remedy):
        parts = page_parts(record)
    template = TEMPLATE.read_text(encoding="utf-8")
    write_text(file, re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], template))


def page_parts(record: Record) -> dict[str, str]:
    """What stands at the marks of the template, as text that HTML and scripts can hold."""
    contents, samples = gather(record), record.images()
    images, decoded = sheet(samples, contents.chosen), strip(contents.decoded, samples)
    return {
        "run": RUN_OF_PAGE.format(html.escape(record.facts["id"])),
        "title": html.escape(describe_run(record)),
        "meta": encode_json(describe(contents) | {"sheet": images.grid, "decoded": decoded.grid}),
        "arrays": encode_json({name: encode_array(array) for name, array in contents.arrays.items()}),
        "images": encode_json({"sheet": images.address, "decoded": decoded.address}),
    }
