"""The package as it is built and installed, away from the checkout."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import dekm

ROOT = Path(__file__).parents[1]
SOURCES = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "dekm", "tests", "benchmarks", "workflow")
CLUSTER_TEN_SAMPLES = """
import numpy as np
import dekm
X = np.concatenate([np.zeros((5, 2)), np.ones((5, 2))])
print(dekm.__file__, dekm.KMeans(2, random_state=0, device="cpu").fit_predict(X).tolist(), sep="\\n")
"""
# What a user may write; the last lines are mistakes that mypy finds.
SCRIPT = """
import numpy as np
from dekm import DEKM, Autoencoder, Clusterer, Iteration, KMeans
from dekm.metrics import accuracy

X = np.random.default_rng(0).random((100, 8))
y = np.arange(100) % 3


def show(iteration: Iteration) -> None:
    print(iteration.n_iter, iteration.inertia, iteration.labels.shape)


autoencoder = Autoencoder(embedding_dim=3, n_epochs=2)
method = DEKM(n_clusters=3, autoencoder=autoencoder, random_state=0, on_iteration=show)
fitted: Clusterer = method.fit(X)
labels: np.ndarray = fitted.predict(X)
print(accuracy(y, labels), fitted.labels_.dtype, method.history_[-1]["inertia"])

DEKM(n_clusters="three")  # arg-type
KMeans(n_cluster=3)  # call-arg
name: str = accuracy(y, labels)  # assignment
"""


def run(folder: Path, *command: str | Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`, with `path` before the installed packages."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run([*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True)


def pip(folder: Path, *arguments: str | Path) -> None:
    options = ["--quiet", "--disable-pip-version-check", "--no-index"]
    done = run(folder, sys.executable, "-m", "pip", *arguments, *options)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in a folder named dekm, as git clones it."""
    folder = tmp_path_factory.mktemp("holder") / "dekm"
    folder.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path) -> Path:
    """Step 4 of docs/releasing.md, without the network."""
    done = run(checkout, sys.executable, "-m", "build", "--no-isolation")
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = (checkout / "dist").glob("*.whl")
    return file


def test_what_a_release_uploads_passes_the_check_of_twine(wheel: Path) -> None:
    files = sorted(wheel.parent.iterdir())
    assert [file.suffix for file in files] == [".whl", ".gz"]
    done = run(wheel.parent, sys.executable, "-m", "twine", "check", "--strict", *files)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the installed package and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    pip(folder, "install", wheel, "--no-deps", "--target", folder)
    return folder


def test_the_wheel_holds_every_module_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    data = [ROOT / "dekm" / "py.typed", ROOT / "dekm" / "figures" / "explore" / "page.html"]
    files = [*data, *(ROOT / "dekm").rglob("*.py")]
    assert names == {file.relative_to(ROOT).as_posix() for file in files}


def test_the_archive_of_the_sources_holds_no_part_of_the_tests(wheel: Path) -> None:
    (file,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"dekm/py.typed", "dekm/methods/dekm.py", "pyproject.toml", "LICENSE"} <= names
    assert not [name for name in names if "tests" in Path(name).parts]


def test_a_script_of_a_user_is_checked_by_mypy(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\n\n[mypy-torch.*]\nfollow_imports = skip\n")
    done = run(tmp_path, sys.executable, "-m", "mypy", "script.py", path=installed)
    found = re.findall(r"^script.py:(\d+): error: .*\[(.*)\]$", done.stdout, re.M)
    mistakes = re.findall(r"^.*# (.*)$", SCRIPT, re.M)
    assert [code for _, code in found] == mistakes, done.stdout + done.stderr


def test_the_wheel_names_its_version_and_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    assert f"Version: {dekm.__version__}" in lines
    assert {"License-Expression: MIT", "License-File: LICENSE"} <= set(lines)


def test_the_installed_package_clusters_ten_samples(installed: Path, tmp_path: Path) -> None:
    done = run(tmp_path, sys.executable, "-P", "-c", CLUSTER_TEN_SAMPLES, path=installed)
    assert done.returncode == 0, done.stderr
    file, labels = done.stdout.splitlines()
    assert Path(file) == installed / "dekm" / "__init__.py"
    assert labels in ("[0, 0, 0, 0, 0, 1, 1, 1, 1, 1]", "[1, 1, 1, 1, 1, 0, 0, 0, 0, 0]")


def test_the_console_command_runs_and_returns_the_exit_status(installed: Path, tmp_path: Path) -> None:
    command = installed / "bin" / "dekm"
    usage = run(tmp_path, command, "--help", path=installed)
    assert usage.returncode == 0, usage.stderr
    assert usage.stdout.startswith("usage: dekm ")
    mistake = run(tmp_path, command, "ui", "--store", "nowhere", path=installed)
    assert mistake.returncode == 1
    assert mistake.stderr.startswith("dekm: error: nowhere ")


def test_the_module_names_itself_in_its_usage(installed: Path, tmp_path: Path) -> None:
    usage = run(tmp_path, sys.executable, "-P", "-m", "dekm", "--help", path=installed)
    assert usage.stdout.startswith("usage: python -m dekm "), usage.stderr


def test_an_editable_install_is_imported_from_the_folder_that_holds_the_clone(
    checkout: Path, tmp_path: Path
) -> None:
    """There the clone's folder, which has the package's name, is found as a namespace package first."""
    pip(checkout, "install", "--editable", ".", "--no-deps", "--no-build-isolation", "--target", tmp_path)
    code = f"import site; site.addsitedir({str(tmp_path)!r}); import dekm; print(dekm.__file__)"
    done = run(checkout.parent, sys.executable, "-S", "-c", code)  # without what is installed for the tests
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == checkout / "dekm" / "__init__.py"


def test_the_citation_names_the_version_and_the_paper() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == dekm.__version__
    paper = citation["preferred-citation"]
    assert paper["title"] == "Deep Embedded K-Means Clustering"
    assert [author["family-names"] for author in paper["authors"]] == ["Guo", "Lin", "Ye"]


def test_the_changelog_starts_with_what_is_not_released() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == "Unreleased"


def opens_text(call: ast.Call) -> bool:
    """Whether a call is ``read_text``, ``write_text`` or ``open`` in text mode of a path."""
    name = getattr(call.func, "attr", "")
    mode = call.args[0] if call.args else ast.Constant("r")
    is_text_mode = isinstance(mode, ast.Constant) and set(str(mode.value)) <= set("rwax+t")
    in_archive = any(keyword.arg == "fileobj" for keyword in call.keywords)
    return name in ("read_text", "write_text") or (name == "open" and is_text_mode and not in_archive)


@pytest.mark.parametrize("folder", ["dekm", "benchmarks"])
def test_text_files_do_not_depend_on_the_locale(folder: str) -> None:
    for file in sorted((ROOT / folder).rglob("*.py")):
        calls = (node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Call))
        for call in filter(opens_text, calls):
            assert "encoding" in {keyword.arg for keyword in call.keywords}, f"{file}:{call.lineno}"


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--old-file=.venv/installed", *arguments], cwd=ROOT, capture_output=True, text=True
    )


def test_make_paper_runs_the_configuration_that_is_named() -> None:
    assert "--configfile" not in make("-n", "paper").stdout
    named = make("-n", "paper", "CONFIG=my.yaml").stdout
    assert "dekm config 'my.yaml'" in named
    assert "--configfile 'my.yaml'" in named
    assert "config/demo.yaml" in make("-n", "report").stdout
    refused = make("demo", "CONFIG=my.yaml")
    assert refused.returncode != 0
    assert "make paper CONFIG=" in refused.stdout
