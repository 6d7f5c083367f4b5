import subprocess
import sys

import pytest

from dekm.files import atomic_file, atomic_folder, digest, locked, read_json, write_json, write_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fill(target, text, *, error=None):
    """Write a folder with one file, and fail before the end if told so."""
    with atomic_folder(target) as temporary:
        (temporary / "a.txt").write_text(text)
        if error is not None:
            raise error


def write_half(target):
    """Write the first half of a file and fail."""
    with atomic_file(target) as temporary:
        temporary.write_bytes(b"half")
        raise KeyboardInterrupt


def test_a_digest_does_not_depend_on_the_order_of_keys_but_on_every_value():
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    values = [{"a": 1}, {"a": 2}, {"a": "1"}, {"b": 1}, {"a": None}, {"a": [1]}]
    assert len({digest(value) for value in values}) == len(values)


def test_a_folder_appears_when_the_block_ends(tmp_path):
    target = tmp_path / "runs" / "seed0"
    with atomic_folder(target) as temporary:
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
        with atomic_folder(target) as temporary:
            (temporary / name).write_text(name)
    assert names(target) == ["new.txt"]
    assert names(tmp_path) == ["seed0"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    for name in (".seed1.part.4711", ".seed1.part.replaced", ".seed10.part.4711", "seed10", ".other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "half.txt").write_text("half")
    with atomic_folder(tmp_path / "seed1"):
        pass
    assert names(tmp_path) == [".other", ".seed10.part.4711", "seed1", "seed10"]


def test_a_file_gets_its_name_when_the_block_ends(tmp_path):
    target = tmp_path / "new" / "data.npz"
    with atomic_file(target) as temporary:
        temporary.write_bytes(b"new")
        assert not target.exists()
        assert (temporary.parent, temporary.suffix) == (target.parent, ".npz")
    assert target.read_bytes() == b"new"
    assert names(target.parent) == ["data.npz"]


def test_an_error_leaves_the_old_file_as_it_was(tmp_path):
    target = tmp_path / "data.npz"
    target.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_half(target)
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["data.npz"]


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
        "import sys, time; from pathlib import Path; from dekm.files import locked, atomic_folder\n"
        "target = Path(sys.argv[1])\n"
        "with locked(target):\n"
        "    with atomic_folder(target) as folder:\n"
        "        print('started', flush=True); time.sleep(1)\n"
        "        (folder / 'by.txt').write_text('the first')\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, target], stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        with locked(target):
            assert (target / "by.txt").read_text() == "the first"
    assert first.returncode == 0
