import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dekm.experiment.provenance import (
    _modules,
    _read_code,
    code_text,
    commit,
    describe_changes,
    facts,
    method_sources,
    pretraining_sources,
    source_digest,
    source_digests,
    source_file,
)
from dekm.methods import METHODS
from dekm.nn.device import hardware

PACKAGE = Path(__file__).parents[2] / "dekm"
# Each module of methods, and those of the classes that its methods derive from.
METHOD_MODULES = {row.module: {base.__module__ for base in row.load().__mro__} for row in METHODS.values()}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package's code, and the digest of a module in it."""
    shutil.copytree(PACKAGE, tmp_path / "dekm", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("dekm.experiment.provenance.PACKAGE", tmp_path / "dekm")

    def edit(module, old, new):
        file = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    return source_digests.__wrapped__, edit


def test_comments_and_docstrings_do_not_change_the_digest_of_the_code(package):
    source_digest, edit = package
    before = source_digest("dekm.clustering.scatter")
    edit(
        "dekm.clustering.scatter",
        "    D = (H - U[labels]).double()\n",
        "    # the residuals\n\n    D = ((H - U[labels])).double()\n",
    )
    edit("dekm.clustering.scatter", "Within-class scatter matrix of a K-means partition", "The scatter")
    edit("dekm.clustering.scatter", '"""Equation (4): the', '"""The')
    assert source_digest("dekm.clustering.scatter") == before


def test_code_changes_the_digest_of_its_module_and_of_those_that_import_it(package):
    source_digest, edit = package
    modules = ("dekm.clustering.scatter", "dekm.methods.dekm", "dekm.methods.baselines")
    before = [source_digest(module) for module in modules]
    edit("dekm.clustering.scatter", "D.T @ D", "D.T @ D / 2")
    after = [source_digest(module) for module in modules]
    assert [a != b for a, b in zip(before, after, strict=True)] == [True, True, False]


@pytest.mark.parametrize("method", sorted(METHOD_MODULES))
def test_the_digest_of_a_method_does_not_depend_on_the_table_or_on_another_method(package, method):
    source_digest, edit = package
    before = source_digest(method)
    edit("dekm.methods.__init__", "METHODS: dict", "ADDED = 1\nMETHODS: dict")
    for other in METHOD_MODULES.keys() - METHOD_MODULES[method]:
        edit(other, "\nclass ", "\nADDED = 1\n\n\nclass ")
    assert source_digest(method) == before


def test_imports_are_followed_through_several_modules(package):
    source_digest, edit = package
    before = source_digest("dekm.methods.dekm")
    edit("dekm.clustering.lloyd", "ELEMENTS_CPU = 2**18", "ELEMENTS_CPU = 2**17")
    assert source_digest("dekm.methods.dekm") != before


def test_a_default_value_is_code(package):
    source_digest, edit = package
    before = source_digest("dekm.methods.dekm")
    edit("dekm.methods.dekm", "max_iter: int = 350", "max_iter: int = 351")
    assert source_digest("dekm.methods.dekm") != before


SOURCE = '''"""A module with what versions of Python parse or show in different ways."""

from __future__ import annotations

import numpy as np
from . import other as o

PATTERN = rb"\\d+" + u"\\N{LATIN SMALL LETTER E WITH ACUTE} \\U0001fae8 é".encode()
NUMBERS = (1_000, 0x1F, 1e-3, 2j, -0.0, None, True, ...)


@np.vectorize
def area(width: float, /, height: "float" = 1.0, *sizes: int, unit: str | None, scale=None, **rest) -> float:
    """Docstring."""
    total: float = sum((size := s) for s in sizes if s is not None)
    first, *others = *sizes, size
    return lambda x=first, *, y: {**rest, None: x, "y": y[1:, ..., ::2]}


async def read(source, *, limit):
    async with source as stream, o.lock:
        return [line async for line in stream if await limit(line)]


class Shape(o.Base, metaclass=o.Meta):
    def __repr__(self):
        return f"{self.name!r:>{self.width}}" "{plain}" f"{{}} {self.area = :{self.width}.{self.digits}f}{1:}"

    def kind(self):
        match self.sides:
            case [3, *_] | {"n": 3, **rest}:
                return "triangle"
            case o.Point(x=0) as point if point:
                yield from point
            case _:
                raise ValueError(f"{self.sides}") from None


try:
    del NUMBERS[0], PATTERN
except* (OSError, ValueError) as error:
    assert error, "message"
else:
    x = y = 1 if not PATTERN else 2 < 3 <= 4
finally:
    x @= ~x
'''


def test_the_digest_of_a_source_text_is_the_same_in_all_versions_of_python():
    assert _read_code.__wrapped__(SOURCE.encode(), "package")[0] == "5956caee3cc9c7ab"


def test_an_empty_constant_of_a_format_string_is_no_code():
    """Python 3.12 puts one at the end of a nested format; the other versions do not."""
    tree = ast.parse("x = f'{a:>{w}}'")
    before = code_text(tree)
    tree.body[0].value.values[0].format_spec.values.append(ast.Constant(""))
    assert code_text(tree) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(*, a): pass", "def f(*, a=None): pass"),
        ("x = {**a}", "x = {None: a}"),
        ("x = f'{a}'", "x = f'{a:>3}'"),
        ("x = f'{a}'", "x = f'{a!s}'"),
        ("x = ''", "x = None"),
        ("x = 1", "x = 1.0"),
        ("x = 'a'", "x = b'a'"),
        ("x = a", "x = 'a'"),
        ("from . import a", "from .. import a"),
        ("x = [a, b]", "x = (a, b)"),
        ("def f(): 'text'; return 1", "def f(): return 1; 'text'"),
    ],
)
def test_code_of_another_meaning_has_another_digest(before, after):
    digests = {_read_code.__wrapped__(text.encode(), "package")[0] for text in (before, after)}
    assert len(digests) == 2


def test_the_parts_of_a_key_that_have_changed_are_named():
    made = {
        "settings": {"lr": 0.001, "tol": 0.1},
        "data": "a",
        "sources": {"dekm.a": "1", "dekm.b": "2", "dekm.c": "3"},
        "n_clusters": 10,
        "pretrained": "p",
        "format": 4,
    }
    asked = {
        "settings": {"lr": 0.01, "hidden": (5, 5)},
        "data": "b",
        "sources": {"dekm.a": "9", "dekm.c": "3", "dekm.d": "4"},
        "n_clusters": 12,
        "pretrained": "q",
        "format": 5,
    }
    assert describe_changes(made, made) == ""
    assert describe_changes(made, asked) == (
        "settings (lr 0.001 -> 0.01, tol 0.1 -> default, hidden default -> [5, 5]), data, "
        "code (dekm.a, dekm.b, dekm.d), n_clusters 10 -> 12, pretraining, format 4 -> 5"
    )
    many = {"sources": {f"dekm.{i}": "1" for i in range(9)}}
    assert describe_changes({"sources": {}}, many).endswith("dekm.5 and 3 more)")
    assert describe_changes({"sources": "of a format without modules"}, many) == "code"


def test_the_sources_of_a_method_and_of_a_pretraining_are_all_that_decides_them(own):
    method = method_sources("dekm.methods.dkm")
    assert {"dekm.methods.dkm", "dekm.methods.deep", "dekm.nn.training", "dekm.clustering.kmeans"} <= set(
        method
    )
    assert not {"dekm.errors", "dekm.files"} & set(method)
    assert set(method_sources("outside_b")) >= {"outside_b", "dekm.metrics", "dekm.scaling"}
    pretraining = pretraining_sources("outside_a:network")
    assert {"dekm.methods.autoencoder", "dekm.scaling", "outside_a", "outside_b"} <= set(pretraining)
    assert set(pretraining_sources()) < set(pretraining)


def test_facts_tell_versions_machine_and_time_and_never_the_same_id():
    first, second = facts(hardware("cpu")), facts(hardware("cpu"))
    assert first["device"] == "cpu"
    assert first["threads"] == torch.get_num_threads()
    assert {"python", "torch", "numpy", "scipy", "scikit-learn"} <= set(first["versions"])
    assert first["kernels"]["instruction_set"] == torch.backends.cpu.get_cpu_capability()
    assert first["created"].endswith("+00:00")
    assert first["id"] != second["id"]
    assert json.loads(json.dumps(first)) == first


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder of modules of a user, and the digest of one of them."""
    monkeypatch.syspath_prepend(tmp_path)
    sources = {
        "outside_a.py": "from outside_b import f\nfrom dekm import DEKM\nimport numpy\n",
        "outside_b.py": "f = 1\n",
        "outside_c.py": "g = 1\n",
        "outside_p/__init__.py": "h = 1\n",
        "outside_p/d.py": "from . import e\nfrom .e import i\n",
        "outside_p/e.py": "i = 1\n",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def changes(module, name):
        before = source_digests.__wrapped__(module)
        (tmp_path / name).write_text((tmp_path / name).read_text() + "changed = 1\n")
        return source_digests.__wrapped__(module) != before

    return changes


@pytest.mark.parametrize(
    ("module", "name", "changed"),
    [
        ("outside_a", "outside_a.py", True),
        ("outside_a", "outside_b.py", True),
        ("outside_a", "outside_c.py", False),
        ("outside_p.d", "outside_p/e.py", True),
        ("outside_p.d", "outside_p/__init__.py", True),
    ],
)
def test_the_digest_covers_the_modules_of_a_user(module, name, changed, own):
    assert own(module, name) is changed


def test_the_digest_of_a_users_module_covers_the_classes_of_the_package_that_it_uses(own):
    assert source_file("outside_a") is not None
    assert source_file("numpy") is source_file("json") is None
    assert source_digests.__wrapped__("outside_a") != source_digests.__wrapped__("outside_b")
    assert "dekm.methods.dekm" in _modules("dekm.DEKM")
    assert set(_modules("dekm")) >= {"dekm.methods.base", "dekm.methods.deep"}


def test_the_digest_of_the_code_does_not_depend_on_the_locale():
    code = "from dekm.experiment.provenance import source_digest; print(source_digest('dekm.tables.scores'))"
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == source_digest("dekm.tables.scores")


def test_a_commit_with_changes_is_dirty(package, monkeypatch, tmp_path):
    names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    for name in names:
        monkeypatch.setenv(f"GIT_{name}", "a@example.org")

    def git(*arguments):
        done = subprocess.run(["git", "-C", tmp_path, *arguments], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", "dekm/scaling.py")
    git("commit", "--quiet", "--message", "one")
    commit.cache_clear()
    assert commit() == git("rev-parse", "HEAD")
    (tmp_path / "dekm/scaling.py").write_text("changed = 1\n")
    commit.cache_clear()
    assert commit() == f"{git('rev-parse', 'HEAD')}-dirty"
    commit.cache_clear()


def test_a_checkout_that_git_does_not_read_is_named(package, monkeypatch, tmp_path, caplog):
    monkeypatch.setattr("dekm.experiment.provenance.PACKAGE", tmp_path / "dekm")
    commit.cache_clear()
    assert commit() is None
    assert caplog.text == ""  # not a checkout
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    for name, value in {
        "TEST_ASSUME_DIFFERENT_OWNER": "1",
        "CONFIG_GLOBAL": "",
        "CONFIG_NOSYSTEM": "1",
    }.items():
        monkeypatch.setenv(f"GIT_{name}", value)
    commit.cache_clear()
    assert commit() is None
    assert "will not name the commit of the code: fatal: detected dubious ownership" in caplog.text
    commit.cache_clear()
