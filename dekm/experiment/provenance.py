"""What decides a result and what made it: digests of the code, versions, commit and machine."""

import ast
import datetime as dt
import importlib.metadata
import platform
import subprocess
import uuid
from functools import cache
from pathlib import Path
from typing import Any

from dekm.files import digest

PACKAGE = Path(__file__).parents[1]
SCALING = "dekm.datasets.scaling"  # how prepared data become what a method is given
VERSIONED = ("torch", "numpy", "scipy", "scikit-learn")


@cache
def source_digest(*modules: str) -> str:
    """Digest of the code of some modules and of every module of this package that they import.

    Comments, layout and docstrings do not count, so an edit of them makes no result stale.
    """
    pending, trees = list(modules), {}
    while pending:
        module = pending.pop()
        if module not in trees:
            tree = ast.parse(_source_file(module).read_text())
            pending += _imports(tree)
            trees[module] = ast.dump(_without_docstrings(tree))
    return digest(trees)


def facts(device: str | None = None) -> dict[str, Any]:
    """What made a result: versions, commit, machine and time, and an identity of its own."""
    return {
        "versions": {"python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in VERSIONED},
        "commit": commit(),
        "platform": platform.platform(),
        "device": device,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
        "id": uuid.uuid4().hex,
    }


def pretraining_code_digest() -> str:
    """Digest of the code that decides the autoencoders of a dataset."""
    return source_digest("dekm.methods.autoencoder", SCALING)


def method_code_digest(module: str) -> str:
    """Digest of the code that decides the runs of the method that a module defines."""
    return source_digest(module, "dekm.metrics", SCALING)


@cache
def commit() -> str | None:
    """The git commit of the code, with "-dirty" if the code differs from it; None outside a checkout."""
    command = ["git", "-C", str(PACKAGE), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _source_file(module: str) -> Path:
    path = PACKAGE.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imports(tree: ast.Module) -> list[str]:
    """Modules of this package that a module imports, at the top of the file or inside a function."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if name.startswith("dekm.") and _source_file(name).is_file()]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:]
    return tree
