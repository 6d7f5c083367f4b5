"""What decides a result and what made it: digests of the code, versions, commit and machine."""

import ast
import datetime as dt
import importlib.metadata
import logging
import platform
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Mapping
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


@cache
def source_digest(*modules: str) -> str:
    """Digest of the code of some modules and of every module of this package or of the user that they import.

    Comments, layout and docstrings do not count, so an edit of them makes no result stale. The modules of
    installed libraries do not count either.
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
    return digest(codes)


@cache  # the workflow has a digest for each rule, and most of their modules are the same
def _read_code(content: bytes, package: str) -> tuple[str, list[str]]:
    """The code of a module of a package without docstrings, and the modules that it imports."""
    tree = ast.parse(content)
    imported = _imports(tree, package)
    return ast.dump(_without_docstrings(tree)), list(dict.fromkeys(imported))


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


def pretraining_code_digest(network: str | None = None) -> str:
    """Digest of the code that decides the autoencoders of a dataset; `network` is an import path."""
    own = [] if network is None else [network.partition(":")[0]]
    return source_digest("dekm.methods.autoencoder", SCALING, *own)


def method_code_digest(module: str) -> str:
    """Digest of the code that decides the runs of the method that a module defines."""
    return source_digest(module, "dekm.metrics", SCALING)


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
    parts = module.split(".")
    roots = [PACKAGE.parent] if parts[0] == "dekm" else [Path(entry) for entry in sys.path]
    for root in roots:
        path = root.joinpath(*parts)
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            if file.is_file():
                installed = root.name in INSTALLED or root == STDLIB
                return None if installed and parts[0] != "dekm" else file
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
    if others[0] == "files":  # how files are written and checked decides no result
        return []
    # The other modules of this package that are executed, its ``__init__.py`` files, decide no result.
    return [HOME.get(others[0], name)]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:]
    return tree
