"""What decides a result, what made it, and how it reaches the disk whole or not at all."""

import ast
import contextlib
import datetime as dt
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import uuid
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, FileLock

PACKAGE = Path(__file__).parent
SCALING = "dekm.datasets.scaling"  # what the methods see of the prepared data
VERSIONED = ("torch", "numpy", "scipy", "scikit-learn")


def digest(value: Any) -> str:
    """SHA-256 of a value that JSON can hold; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def files_digest(files: Iterable[Path]) -> str:
    """SHA-256 of names, sizes and times of files: another one when a file comes, goes or is written."""
    return digest([[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files])


@cache
def source_digest(*modules: str) -> str:
    """Digest of the code of `modules` and of all that they import from this package.

    Comments, layout and docstrings do not count, so editing them makes no result stale.
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
    """What made a result: versions, commit, machine and time."""
    return {
        "versions": {"python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in VERSIONED},
        "commit": commit(),
        "platform": platform.platform(),
        "device": device,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
        "id": uuid.uuid4().hex,
    }


def pretraining_sources() -> str:
    """Digest of the code that decides the autoencoders of a dataset."""
    return source_digest("dekm.autoencoders", SCALING)


def method_sources(module: str) -> str:
    """Digest of the code that decides the runs of the method that a module defines."""
    return source_digest(module, "dekm.metrics", SCALING)


@cache
def commit() -> str | None:
    """The git commit of the code, with "-dirty" where the code differs from it; None outside a checkout."""
    command = ["git", "-C", str(PACKAGE), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


@contextlib.contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `target` if the block succeeds and else goes.

    What a killed process left behind is removed by the next one that writes the same target. Only the holder
    of `locked` may write a target that others may want to write.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for leftover in target.parent.glob(f".{target.name}.part.*"):
        shutil.rmtree(leftover, ignore_errors=True)
    temporary = target.with_name(f".{target.name}.part.{os.getpid()}")
    temporary.mkdir()
    try:
        yield temporary
        if target.exists():
            os.replace(target, target.with_name(f".{target.name}.part.replaced"))
        os.replace(temporary, target)
    finally:
        for leftover in target.parent.glob(f".{target.name}.part.*"):
            shutil.rmtree(leftover, ignore_errors=True)


def locked(target: Path) -> BaseFileLock:
    """A lock on the making of `target`; the kernel frees it also when its holder is killed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(target.with_name(f".{target.name}.lock"))


def write_text(target: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.write_text(text)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(target: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file that appears whole or not at all."""
    write_text(target, json.dumps(value, indent=1) + "\n")


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON file that holds an object."""
    value: dict[str, Any] = json.loads(file.read_text())
    return value


def _source_file(module: str) -> Path:
    path = PACKAGE.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imports(tree: ast.Module) -> list[str]:
    """Modules of this package that a module imports, wherever in the file."""
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
