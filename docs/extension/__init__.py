"""Makes the parts of the site that are derived from the code: reference, traceability, results."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging

from dekm.errors import InputError
from docs.extension import (
    api,
    command_line,
    configuration,
    links,
    reference_results,
    results_files,
    search,
    sources,
    traceability,
    tracking,
)

logger = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"^<!-- generated: ([a-z_]+)(?: (\S+))? -->$", re.M)
GENERATED: dict[str, Callable[..., str]] = {
    "api": api.overview,
    "modules": api.modules,
    "command_line": command_line.page,
    "configuration": configuration.page,
    "results_files": results_files.page,
    "mlflow": tracking.page,
    "traceability": traceability.page,
    "reference_results": reference_results.page,
}


def fill_in(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace the comments ``generated: NAME`` of a page by what the function of this name returns."""

    def generated(match: re.Match[str]) -> str:
        try:
            return GENERATED[match[1]](*filter(None, match.groups()[1:]))
        except InputError as error:
            raise ExtensionError(f"{name}: {error}") from error

    source[0] = MARK.sub(generated, source[0])


def outdated(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> list[str]:
    """The pages with generated parts, which may change while their own file does not."""
    names = (name for name in env.found_docs if env.doc2path(name).suffix == ".md")
    return [name for name in names if MARK.search(env.doc2path(name).read_text(encoding="utf-8"))]


def mend_links(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn links of Markdown to modules into links to their source, and links to folders into text."""
    folder = (ROOT / name).parent

    def mended(match: re.Match[str]) -> str:
        text, link = match.groups()
        target = (folder / link).resolve()
        if target.is_dir():
            return text
        if target.suffix == ".py" and target.is_relative_to(ROOT / "dekm"):
            page = ROOT / sources.FOLDER / f"{target.relative_to(ROOT).as_posix()}.html"
            return f'<a href="{os.path.relpath(page, folder)}">{text}</a>'
        return match[0]

    if app.env.doc2path(name).suffix == ".md":
        source[0] = re.sub(r"\[([^\]]+)\]\(([^)\s:#]+)\)", mended, source[0])


def give_title(app: Sphinx, name: str, source: list[str]) -> None:
    """Give the tables of reference results, which have no heading, one: their set and their name."""
    folder, _, title = name.removeprefix("results/reference/").partition("/")
    if name.startswith("results/reference/") and title and not re.match(r"#+ ", source[0]):
        source[0] = f"# {folder}: {title}\n\n{source[0]}"


def skip_member(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator, such as ``set_fit_request``."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing|set_output", name) else None


def add_attributes(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Describe on the page of an estimator the attributes of its bases too."""
    if what == "class" and api.is_estimator(value):
        lines[:] = api.with_attributes(value)


def write_api(app: Sphinx) -> None:
    """Write the pages of the public names."""
    api.write_pages(ROOT / "docs" / "reference" / "api")


def check_links(app: Sphinx, exception: Exception | None) -> None:
    """Fail a build whose pages have a dead link or load anything from elsewhere."""
    found = [] if exception or app.builder.name != "html" else list(links.problems(Path(app.outdir)))
    for problem in found:
        logger.warning(problem)


def write_excerpts(app: Sphinx, exception: Exception | None) -> None:
    """Write the texts from which the search takes its excerpts."""
    if not exception and app.builder.name == "html":
        search.write(Path(app.outdir), app.env.found_docs)


def load_excerpts(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Load these texts on the search page alone."""
    if name == "search":
        app.add_js_file(search.FILE)


def check_results(app: Sphinx) -> None:
    """Fail if the demo has written a file or column that the reference does not know."""
    for problem in results_files.unknown(ROOT / "results" / "demo"):
        logger.warning("results/demo: %s", problem)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the generators to the build."""
    app.connect("builder-inited", write_api)
    app.connect("source-read", fill_in)
    app.connect("source-read", mend_links)
    app.connect("source-read", give_title)
    app.connect("env-get-outdated", outdated)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", add_attributes, priority=400)  # before numpydoc
    app.connect("builder-inited", check_results)
    app.connect("html-page-context", load_excerpts)
    app.connect("build-finished", write_excerpts, priority=400)
    app.connect("build-finished", check_links)
    app.connect("html-collect-pages", sources.collect_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
