"""What decides a result and what made it: digests of the code, versions, commit and machine."""

import ast
import datetime as dt
import importlib.metadata
import json
import logging
import platform
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dekm import HOME
from dekm.files import digest

logger = logging.getLogger(__name__)

PACKAGE = Path(__file__).parents[1]
SCALING = "dekm.scaling"  # how prepared data become what a method is given
INSTALLED = ("site-packages", "dist-packages")
STDLIB = Path(sysconfig.get_path("stdlib"))
VERSIONED = ("torch", "numpy", "scipy", "scikit-learn")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SHOWN = 6  # settings or modules that a line about changes names


def source_digest(*modules: str) -> str:
    """Digest of the code of some modules and of every module that they import, see `source_digests`."""
    return digest(source_digests(*modules))


@cache
def source_digests(*modules: str) -> dict[str, str]:
    """Digests of the code of some modules, and of all of this package or of the user that they import.

    Comments, layout and docstrings do not count, so an edit of them makes no result stale; neither does the
    version of Python. The modules of installed libraries do not count either.
    """
    pending, visited, codes = list(modules), set(), {}
    while pending:
        module = pending.pop()
        file = None if module in visited else source_file(module)
        visited.add(module)
        if file is not None:
            package = module if file.stem == "__init__" else module.rpartition(".")[0]
            codes[module], imported = _read_code(file.read_bytes(), package)
            pending += imported
    return codes


@cache  # the workflow has a digest for each rule, and most of their modules are the same
def _read_code(content: bytes, package: str) -> tuple[str, list[str]]:
    """Digest of the code of a module of a package, and the modules that it imports."""
    tree = ast.parse(content)
    imported = _imports(tree, package)
    return digest(code_text(tree))[:16], list(dict.fromkeys(imported))


def code_text(node: Any) -> str:
    """A syntax tree as text without docstrings, which is the same in all versions of Python.

    `ast.dump` is not: 3.12 and 3.13 changed which empty fields exist and which of them are shown.
    """
    if isinstance(node, list):
        return f"[{', '.join(map(code_text, node))}]"
    if isinstance(node, ast.Constant):  # without its kind: u"a" is "a"
        return f"Constant({node.value!a})"
    if not isinstance(node, ast.AST):
        return ascii(node)  # repr escapes the characters that are unknown to a version
    fields = dict(ast.iter_fields(node))
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False):
        fields["body"] = node.body[1:]
    if isinstance(node, ast.JoinedStr):
        fields["values"] = _merged(node.values)
    present = (f"{name}={code_text(value)}" for name, value in fields.items() if value not in (None, []))
    return f"{type(node).__name__}({', '.join(present)})"


def _merged(parts: Iterable[ast.expr]) -> list[ast.expr]:
    """The parts of a format string without empty constants, of which 3.12 has more."""
    return [part for part in parts if not (isinstance(part, ast.Constant) and part.value == "")]


def facts(hardware: Mapping[str, Any]) -> dict[str, Any]:
    """What made a result: versions, commit, machine and time, and an identity of its own."""
    return {
        "versions": versions(),
        "commit": commit(),
        "platform": platform.platform(),
        **hardware,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
        "id": uuid.uuid4().hex,
    }


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that compute."""
    libraries = {name: importlib.metadata.version(name) for name in VERSIONED}
    return {"python": platform.python_version()} | libraries


def pretraining_sources(network: str | None = None) -> dict[str, str]:
    """Digests of the code that decides the autoencoders of a dataset; `network` is an import path."""
    own = [] if network is None else [network.partition(":")[0]]
    return source_digests("dekm.methods.autoencoder", SCALING, *own)


def method_sources(module: str) -> dict[str, str]:
    """Digests of the code that decides the runs of the method that a module defines."""
    return source_digests(module, "dekm.metrics", SCALING)


def describe_changes(made: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Which parts of the key of a seed differ between its facts and what is asked for now.

    Such as "settings (lr 0.1 -> 0.01), code (dekm.methods.dec)"; empty if no part differs.
    """
    changes = []
    for name, value in json.loads(json.dumps(asked)).items():
        before = made.get(name)
        if before == value:
            continue
        part = {"sources": "code", "pretrained": "pretraining"}.get(name, name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            differ = [key for key in {**before, **value} if before.get(key) != value.get(key)]
            what = differ if name == "sources" else [_change(key, before, value) for key in differ]
            part += f" ({', '.join(what[:SHOWN])}{f' and {len(what) - SHOWN} more' if what[SHOWN:] else ''})"
        elif name not in ("sources", "pretrained", "data"):  # these are digests
            part = _change(part, made, asked)
        changes.append(part)
    return ", ".join(changes)


def _change(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    old, new = (json.dumps(values[name]) if name in values else "default" for values in (before, after))
    return f"{name} {old} -> {new}"


@cache
def commit() -> str | None:
    """The git commit of the code, with "-dirty" if the code differs from it.

    None outside a checkout, and, with a warning in the log, in one that git does not read, such as one that
    another user owns.
    """
    command = ["git", "-C", str(PACKAGE), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except OSError as error:
        reason = f"git: {error.strerror}"
    except subprocess.CalledProcessError as error:
        reason = next(iter(error.stderr.splitlines()), f"git ended with exit status {error.returncode}")
    if (PACKAGE.parent / ".git").exists():
        logger.warning("the results will not name the commit of the code: %s", reason)
    return None


def source_file(module: str) -> Path | None:
    """The file of a module of this package or of the user; None for that of an installed library."""
    is_own = module.partition(".")[0] == "dekm"
    return _source_file(module, (str(PACKAGE.parent),) if is_own else tuple(sys.path), is_own)


@cache  # most modules import the same ones, and each is searched in the folders of sys.path
def _source_file(module: str, roots: tuple[str, ...], is_own: bool) -> Path | None:
    parts = module.split(".")
    for root in map(Path, roots):
        path = root.joinpath(*parts)
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            if file.is_file():
                installed = root.name in INSTALLED or root == STDLIB
                return None if installed and not is_own else file
    return None


def _imports(tree: ast.Module, package: str) -> list[str]:
    """Names that a module of a package imports, at the top of the file or inside a function."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origin = _origin(node, package)
            names += [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [module for name in names for module in _modules(name)]


def _origin(node: ast.ImportFrom, package: str) -> str:
    """The module that a statement imports from."""
    if not node.level:
        return node.module or ""
    base = package.split(".")
    return ".".join([*base[: len(base) - node.level + 1], *([node.module] if node.module else [])])


def _modules(name: str) -> list[str]:
    """The modules that the import of a name executes."""
    first, *others = name.split(".")
    if first != "dekm":
        return [".".join([first, *others[:i]]) for i in range(len(others) + 1)]
    if not others:  # ``import dekm``: any of its classes may be used
        return list(HOME.values())
    if others[0] in ("errors", "files"):  # errors and the form of files decide no partition
        return []
    # The other modules of this package that are executed, its ``__init__.py`` files, decide no result.
    return [HOME.get(others[0], name)]
