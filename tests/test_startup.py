"""A job imports what it needs and no more: most of the time of a short job is that of its imports."""

import json
import subprocess
import sys

from dekm.datasets import DATASETS, preparation
from tests.helpers.prepared_files import files

# Of the workflow, of other commands, and what PyTorch imports only for its compiler.
COSTLY = {
    "h5py",
    "jsonschema",
    "matplotlib",
    "mlflow",
    "openTSNE",
    "pooch",
    "requests",
    "snakemake",
    "snowballstemmer",
}
COMPILER = {"sympy", "torch._dynamo", "torch._inductor"}
RUN_COMMANDS = """
import json, sys
from dekm.cli import main
imported = []
for command in json.loads(sys.argv[1]):
    assert main(command) == 0
    imported.append(sorted(sys.modules))
print(json.dumps(imported))
"""


def imported_modules(*commands):
    """The modules that a process has imported after each of some commands."""
    given = json.dumps([list(map(str, command)) for command in commands])
    done = subprocess.run([sys.executable, "-c", RUN_COMMANDS, given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [set(modules) for modules in json.loads(done.stdout.splitlines()[-1])]


def test_jobs_import_neither_the_workflow_nor_the_compiler_of_pytorch(tmp_path):
    preparation.prepare(DATASETS["digits"], tmp_path / "raw", **files(tmp_path / "data/digits"), subsample=40)
    cell = ["--results", tmp_path, "--seeds", 0, "--device", "cpu"]
    cluster, pretrain, deep = imported_modules(
        ["cluster", "digits", "k_means", *cell, "--set", "n_init=1"],
        ["pretrain", "digits", "conv", *cell, "--set", "channels=[2,2,2]", "--set", "n_epochs=1"],
        ["cluster", "digits", "dekm", *cell, "--set", "max_iter=1", "--set", "n_init=1"],
    )
    for modules in (cluster, pretrain, deep):
        assert not modules & (COSTLY | COMPILER)


def test_usage_and_the_package_are_shown_without_pytorch_and_scikit_learn():
    code = (
        "import dekm, sys; from dekm.cli.parser import make_parser; make_parser('dekm'); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & (COSTLY | {"torch", "sklearn", "pandas", "scipy.stats"})


def test_the_estimators_are_imported_by_their_first_use():
    code = "import dekm, sys; before = set(sys.modules); dekm.KMeans; print(*before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"numpy", "torch", "sklearn"}
