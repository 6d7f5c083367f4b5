"""The check of the built pages: no dead internal link, and nothing that is loaded from elsewhere."""

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
NOT_LOADED = {
    "canonical",
    "next",
    "prev",
    "search",
    "index",
    "author",
}  # relations of <link> that load nothing


class Page(HTMLParser):
    """The links, loaded files and anchors of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, loads and names."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if LOADED.get(tag) in values and values.get("rel") not in NOT_LOADED:
            self.loaded.append(values[LOADED[tag]])


def problems(site: Path) -> Iterator[str]:
    """Yield each dead internal link of the pages of a site, and each address that they load."""

    @cache
    def page(file: Path) -> Page:
        return Page(file)

    files = (file for file in site.rglob("*.html") if "_static" not in file.parts)  # templates of the theme
    for file in sorted(files):
        name = file.relative_to(site).as_posix()
        for link in dict.fromkeys([*page(file).links, *page(file).loaded]):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page(file).loaded and parts.scheme != "data":
                    yield f"{name} loads {link}"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                yield f"{name} links to {link}, which does not exist"
            elif (
                parts.fragment
                and target.suffix == ".html"
                and unquote(parts.fragment) not in page(target).anchors
            ):
                yield f"{name} links to {link}, which has no such heading"
