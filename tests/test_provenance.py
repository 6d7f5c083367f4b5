import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dekm.provenance import digest, facts, locked, read_json, whole_folder, write_json, write_text

PACKAGE = Path(__file__).parents[1] / "dekm"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fill(target, text, *, error=None):
    """Write a folder with one file, and fail before the end if told so."""
    with whole_folder(target) as temporary:
        (temporary / "a.txt").write_text(text)
        if error is not None:
            raise error


@pytest.fixture
def package(tmp_path):
    """A copy of the package's code, and the digest of a module in it."""
    shutil.copytree(PACKAGE, tmp_path / "dekm", ignore=shutil.ignore_patterns("__pycache__"))

    def source_digest(*modules):
        code = "import sys; from dekm.provenance import source_digest; print(source_digest(*sys.argv[1:]))"
        command = [sys.executable, "-c", code, *modules]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    def edit(module, old, new):
        file = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    return source_digest, edit


def test_comments_and_docstrings_do_not_change_the_digest_of_the_code(package):
    source_digest, edit = package
    before = source_digest("dekm.scatter")
    edit(
        "dekm.scatter",
        "    D = (H - U[labels]).double()\n",
        "    # the residuals\n\n    D = ((H - U[labels])).double()\n",
    )
    edit("dekm.scatter", "Within-class scatter matrix of a K-means partition", "The scatter")
    edit("dekm.scatter", '"""Equations (2) to (5)', '"""Some equations')
    assert source_digest("dekm.scatter") == before


def test_code_changes_the_digest_of_its_module_and_of_those_that_import_it(package):
    source_digest, edit = package
    modules = ("dekm.scatter", "dekm.methods.dekm", "dekm.methods.baselines")
    before = [source_digest(module) for module in modules]
    edit("dekm.scatter", "D.T @ D", "D.T @ D / 2")
    after = [source_digest(module) for module in modules]
    assert [a != b for a, b in zip(before, after, strict=True)] == [True, True, False]


def test_imports_are_followed_through_several_modules(package):
    source_digest, edit = package
    before = source_digest("dekm.methods.dekm")
    edit("dekm.lloyd", "ELEMENTS_CPU = 2**18", "ELEMENTS_CPU = 2**17")
    assert source_digest("dekm.methods.dekm") != before


def test_a_default_value_is_code(package):
    source_digest, edit = package
    before = source_digest("dekm.methods.dekm")
    edit("dekm.methods.dekm", "max_iter: int = 350", "max_iter: int = 351")
    assert source_digest("dekm.methods.dekm") != before


def test_a_digest_does_not_depend_on_the_order_of_keys_but_on_every_value():
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    values = [{"a": 1}, {"a": 2}, {"a": "1"}, {"b": 1}, {"a": None}, {"a": [1]}]
    assert len({digest(value) for value in values}) == len(values)


def test_facts_tell_versions_machine_and_time_and_never_the_same_id():
    first, second = facts("cpu"), facts("cpu")
    assert first["device"] == "cpu"
    assert {"python", "torch", "numpy", "scipy", "scikit-learn"} <= set(first["versions"])
    assert first["created"].endswith("+00:00")
    assert first["id"] != second["id"]
    assert json.loads(json.dumps(first)) == first


def test_a_folder_appears_when_the_block_ends(tmp_path):
    target = tmp_path / "runs" / "seed0"
    with whole_folder(target) as temporary:
        (temporary / "a.txt").write_text("a")
        assert not target.exists()
        assert temporary.parent == target.parent
    assert names(target) == ["a.txt"]
    assert names(target.parent) == ["seed0"]


def test_an_error_leaves_no_folder_behind(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "seed0", "a", error=KeyboardInterrupt)
    assert names(tmp_path) == []


def test_an_error_leaves_the_old_folder_as_it_was(tmp_path):
    target = tmp_path / "seed0"
    fill(target, "old")
    with pytest.raises(ZeroDivisionError):
        fill(target, "new", error=ZeroDivisionError)
    assert names(tmp_path) == ["seed0"]
    assert (target / "a.txt").read_text() == "old"


def test_a_folder_replaces_the_old_one_with_all_its_files(tmp_path):
    target = tmp_path / "seed0"
    for name in ("old.txt", "new.txt"):
        with whole_folder(target) as temporary:
            (temporary / name).write_text(name)
    assert names(target) == ["new.txt"]
    assert names(tmp_path) == ["seed0"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    for name in (".seed1.part.4711", ".seed1.part.replaced", ".seed10.part.4711", "seed10", ".other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "half.txt").write_text("half")
    with whole_folder(tmp_path / "seed1"):
        pass
    assert names(tmp_path) == [".other", ".seed10.part.4711", "seed1", "seed10"]


def test_text_replaces_the_old_text(tmp_path):
    target = tmp_path / "new" / "summary.json"
    for text in ("old", "new"):
        write_text(target, text)
    assert target.read_text() == "new"
    assert names(target.parent) == ["summary.json"]


def test_text_that_cannot_be_written_leaves_the_old_text_and_no_leftovers(tmp_path):
    target = tmp_path / "summary.json"
    write_text(target, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(target, "new \ud800")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["summary.json"]


def test_json_comes_back(tmp_path):
    value = {"acc": 0.5, "none": None, "list": [1, 2], "text": "Zürich"}
    write_json(tmp_path / "a.json", value)
    assert read_json(tmp_path / "a.json") == value
    assert (tmp_path / "a.json").read_text().endswith("}\n")


def test_a_folder_that_is_being_made_is_waited_for(tmp_path):
    target = tmp_path / "seed1"
    script = (
        "import sys, time; from pathlib import Path; from dekm.provenance import locked, whole_folder\n"
        "target = Path(sys.argv[1])\n"
        "with locked(target):\n"
        "    with whole_folder(target) as folder:\n"
        "        print('started', flush=True); time.sleep(1)\n"
        "        (folder / 'by.txt').write_text('the first')\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, target], stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        with locked(target):
            assert (target / "by.txt").read_text() == "the first"
    assert first.returncode == 0
