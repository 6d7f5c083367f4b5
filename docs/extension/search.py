"""The texts for the excerpts of the search: a browser fetches no page of a site that is opened from disk."""

import json
from collections.abc import Iterable
from pathlib import Path

from bs4 import BeautifulSoup

FILE = "excerpts.js"
# The search of Sphinx fetches a page and keeps the text of its part with role=main, or of a section of that.
SCRIPT = """if (location.protocol === "file:") {
  const texts = %s;
  const root = document.documentElement.dataset.content_root;
  window.fetch = async page => new Response(`<div role="main">${texts[page.slice(root.length)] || ""}</div>`);
}
"""


def write(site: Path, names: Iterable[str]) -> None:
    """Write the texts of the pages `names` of a built site into the script of its search page."""
    texts = {f"{name}.html": sections(site / f"{name}.html") for name in sorted(names)}
    script = SCRIPT % json.dumps(texts, ensure_ascii=False)
    (site / "_static" / FILE).write_text(script, encoding="utf-8")


def sections(page: Path) -> str:
    """The text of a page as HTML, of whose elements only the sections are left."""
    main = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find(attrs={"role": "main"})
    if main is None:
        return ""
    for element in main(["script", "style", "svg"]) + main(class_="headerlink"):
        element.decompose()
    for element in main(True):
        if element.name == "section":
            element.attrs = {"id": element["id"]}
        else:
            element.unwrap()
    return main.decode_contents()
