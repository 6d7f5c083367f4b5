"""Pages of the source code, with a line number for each object and test that the reference names."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx

from dekm.errors import InputError
from dekm.outside import load_attribute
from docs.extension import traceability

ROOT = Path(__file__).parents[2]
FOLDER = "docs/source"


def files() -> list[Path]:
    """The modules of the package, and the tests that the page on traceability names."""
    tests = {ROOT / test.partition("::")[0] for entry in traceability.entries() for test in entry.tests}
    return [*sorted((ROOT / "dekm").rglob("*.py")), *sorted(tests)]


def collect_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a page of highlighted code for each file."""
    formatter = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True)
    for file in files():
        name = file.relative_to(ROOT).as_posix()
        body = highlight(file.read_text(encoding="utf-8"), PythonLexer(), formatter)
        content = f"<h1>{escape(name)}</h1><div class='highlight source-page'>{body}</div>"
        yield f"{FOLDER}/{name}", {"title": name, "body": content, "parents": []}, "page.html"


def link_of_object(domain: str, info: dict[str, str]) -> str | None:
    """Link from a page of the reference to the source of a Python object, for `sphinx.ext.linkcode`."""
    if domain != "py" or not info["module"]:
        return None
    try:
        file, line = place(info["module"], info["fullname"])
    except InputError:  # an attribute that is documented by its class
        return None
    return f"../../source/{file}.html#L-{line}"


def place(module: str, name: str) -> tuple[str, int]:
    """File, relative to the repository, and first line of an object of a module.

    Raises
    ------
    InputError
        If there is no such object, or it is not defined in this project.
    """
    value = load_attribute(f"{module}:{name}")
    value = value.fget if isinstance(value, property) else value
    home, qualified = getattr(value, "__module__", module), getattr(value, "__qualname__", name)
    file = module_file(home)
    nodes: Sequence[ast.stmt] = ast.parse(file.read_text(encoding="utf-8")).body
    for part in qualified.split("."):
        node = next((node for node in nodes if part in _names(node)), None)
        if node is None:
            raise InputError(f"{file} does not define {qualified}.")
        nodes = getattr(node, "body", [])
    return file.relative_to(ROOT).as_posix(), node.lineno


def _names(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [target.id for target in targets if isinstance(target, ast.Name)]


def module_file(name: str) -> Path:
    """File of a module of the package.

    Raises
    ------
    InputError
        If it is not a module of the package.
    """
    stem = ROOT.joinpath(*name.split("."))
    for file in (stem.with_suffix(".py"), stem / "__init__.py"):
        if name.split(".")[0] == "dekm" and file.is_file():
            return file
    raise InputError(f"{name} is not a module of this package.")


@cache
def tests_of(file: str) -> dict[str, int]:
    """The tests of a file and their lines.

    Raises
    ------
    InputError
        If there is no such file.
    """
    if not (ROOT / file).is_file():
        raise InputError(f"{file} does not exist.")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef)}


def link_of_module(name: str) -> str:
    """Link from a page of a section to the source of a module."""
    return anchor(name, f"{module_file(name).relative_to(ROOT).as_posix()}.html")


def anchor(text: str, target: str) -> str:
    """Link from a page of a section, two folders deep, to a page of source code; dots may end a line."""
    shown = escape(text).replace(".", ".<wbr>").replace("_", "_<wbr>")
    return f'<a class="reference internal" href="../source/{target}"><code>{shown}</code></a>'
