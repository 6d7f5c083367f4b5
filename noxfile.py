"""Checks in environments of their own, made by uv: ``nox --list`` shows them, ``nox -s oldest`` runs one.

`UV_CONSTRAINT`, a file with a line such as ``torch==2.13.0+cpu``, chooses the build of PyTorch; PyPI has the
version without the label only.
"""

import nox

nox.options.default_venv_backend = "uv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "tests"]

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PACKAGE = ["--editable", ".[workflow,parquet,dev]"]
# What meets other packages most: arrays, tables, figures, files, the store, and one whole workflow.
FAST = [
    "tests/clustering",
    "tests/datasets",
    "tests/figures",
    "tests/methods/test_sklearn.py",
    "tests/methods/test_persistence.py",
    "tests/nn/test_training.py",
    "tests/tables",
    "tests/test_metrics.py",
    "tests/test_tracking.py",
    "tests/workflow/test_workflow.py::test_every_run_is_in_the_table_and_in_the_store",
]
WORKERS = ["--numprocesses=logical", "--maxprocesses=8", "--dist=loadfile", "--no-loadscope-reorder"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests on each Python that is installed, or those of the arguments."""
    session.install(*PACKAGE)
    session.run("pytest", *WORKERS, *session.posargs)


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """The fast tests, or those of the arguments, with the lower bounds of pyproject.toml."""
    session.install("--resolution", "lowest-direct", *PACKAGE)
    session.run("pytest", *WORKERS, *(session.posargs or FAST))


@nox.session(python=PYTHONS[-1])
def newest(session: nox.Session) -> None:
    """The fast tests, or those of the arguments, with the newest versions of all packages."""
    session.install("--upgrade", *PACKAGE)
    session.run("pytest", *WORKERS, *(session.posargs or FAST))


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff, import-linter and snakefmt, in the versions of requirements.txt."""
    session.install("--constraint", "requirements.txt", "ruff", "import-linter", "snakefmt")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("lint-imports")
    session.run("snakefmt", "--check", "Snakefile", "workflow")


@nox.session
def types(session: nox.Session) -> None:
    """Mypy."""
    session.install("--requirement", "requirements.txt")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation, whose warnings are errors."""
    session.install("--editable", ".[workflow,docs]")
    options = ["-W", "--keep-going", "--quiet", "-c", "docs"]
    session.run("sphinx-build", *options, ".", "docs/_build/html", env={"MPLBACKEND": "agg"})
