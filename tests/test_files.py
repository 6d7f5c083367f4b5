import errno
import fcntl
import os
import resource
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from glob import escape
from pathlib import Path

import numpy as np
import pytest

from dekm.errors import InputError
from dekm.files import (
    atomic_folder,
    digest,
    locked,
    locks,
    read_json,
    recover,
    write_json,
    write_manifest,
    write_text,
)
from dekm.files.arrays import Form, read_array, read_arrays
from dekm.files.atomic import atomic_file
from dekm.files.leftovers import final_name, read_temporary, temporaries, temporary_path, this_process
from dekm.files.manifest import find_damage
from dekm.files.reading import UnavailableError, read_numbers
from tests.helpers.temporaries import number_of_an_ended_process, written_by


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
    assert names(target) == ["a.txt", "manifest.json"]
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
    assert names(target) == ["manifest.json", "new.txt"]
    assert names(tmp_path) == ["seed0"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path, dead):
    others = [tmp_path / name for name in (".other", ".seed1.part", ".seed1.part.a.b.1", "seed10")]
    others.append(dead(tmp_path / "seed10"))
    for path in (*others, dead(tmp_path / "seed1"), dead(tmp_path / "seed1", "replaced")):
        path.mkdir()
        (path / "half.txt").write_text("half")
    with atomic_folder(tmp_path / "seed1"):
        pass
    assert names(tmp_path) == sorted(["seed1", *(path.name for path in others)])


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


@pytest.fixture
def on_disk(monkeypatch):
    """For each name that gets new content, the inodes that are on the disk then; and those at the end."""
    fsync, replace, written, at_replace = os.fsync, os.replace, set(), {}

    def fsync_and_note(descriptor):
        fsync(descriptor)
        written.add(os.fstat(descriptor).st_ino)

    def replace_and_note(source, target):
        at_replace[Path(target)] = set(written)
        replace(source, target)
        written.discard(Path(target).parent.stat().st_ino)

    monkeypatch.setattr(os, "fsync", fsync_and_note)
    monkeypatch.setattr(os, "replace", replace_and_note)
    return at_replace, written


def test_a_file_is_on_the_disk_before_it_gets_its_name(tmp_path, on_disk):
    at_replace, written = on_disk
    write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").stat().st_ino in at_replace[tmp_path / "a.txt"]
    assert tmp_path.stat().st_ino in written


def test_a_folder_is_on_the_disk_with_all_its_files_before_it_gets_its_name(tmp_path, on_disk):
    at_replace, written = on_disk
    target = tmp_path / "folder"
    with atomic_folder(target) as temporary:
        (temporary / "inner").mkdir()
        (temporary / "inner" / "b.txt").write_text("b")
        (temporary / "a.txt").write_text("a")
    paths = [target, *target.rglob("*")]
    assert {path.stat().st_ino for path in paths} <= at_replace[target]
    assert len(paths) == 5  # with the manifest
    assert tmp_path.stat().st_ino in written


def test_text_replaces_the_old_text(tmp_path):
    target = tmp_path / "new" / "summary.json"
    for text in ("old", "new"):
        write_text(target, text)
    assert target.read_text() == "new"
    assert names(target.parent) == ["summary.json"]


def test_text_that_cannot_be_written_leaves_the_old_text_and_no_leftovers(tmp_path, monkeypatch):
    target = tmp_path / "summary.json"
    write_text(target, "old")

    def write_half(file, content):
        with file.open("wb") as stream:
            stream.write(content[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_half)
    with pytest.raises(InputError, match=r"summary\.json cannot be written: No space left"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["summary.json"]


def test_what_utf_8_cannot_encode_is_written_as_an_escape_sequence(tmp_path):
    write_text(tmp_path / "a.txt", "new \ud800")
    assert (tmp_path / "a.txt").read_text() == "new \\ud800"


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


@pytest.fixture
def dead():
    """A name for what a process that has ended left."""
    return partial(written_by, pid=number_of_an_ended_process())


def whole_folder(path, text):
    path.mkdir()
    (path / "a.txt").write_text(text)
    write_manifest(path)


def test_a_kill_between_the_two_renames_loses_nothing(tmp_path, dead):
    target = tmp_path / "seed0"
    whole_folder(dead(target), "new")
    whole_folder(dead(target, "replaced"), "old")
    recover(target)
    assert (target / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["seed0"]


def test_a_replaced_folder_comes_back_if_the_new_one_is_not_whole(tmp_path, dead):
    target = tmp_path / "seed0"
    new = dead(target)
    whole_folder(new, "new")
    (new / "a.txt").write_text("damaged")
    whole_folder(dead(target, "replaced"), "old")
    recover(target)
    assert (target / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["seed0"]


def test_what_another_process_writes_stays(tmp_path, dead):
    target = tmp_path / "seed0"
    living = subprocess.Popen(["sleep", "60"])
    others = [
        written_by(target, pid=living.pid),
        dead(target, host="another-machine", kernel="abc"),
        dead(target, namespace="4711"),  # a container of the same host name, where other numbers are in use
        written_by(target, namespace="4711"),
    ]
    try:
        for path in others:
            path.mkdir()
        fill(target, "new")
        assert names(tmp_path) == sorted(["seed0", *(path.name for path in others)])
    finally:
        living.kill()
        living.wait()


def test_what_this_machine_wrote_before_it_was_started_again_is_removed(tmp_path):
    target = tmp_path / "seed0"
    before, now = written_by(target, kernel="abc"), written_by(target, kernel="abc")
    for path in (before, now):
        path.mkdir()
    os.utime(before, (1e9, 1e9))
    fill(target, "new")
    assert names(tmp_path) == sorted(["seed0", now.name])


def test_a_process_tells_what_another_one_of_its_number_left(tmp_path):
    target = tmp_path / "data.npz"
    with atomic_file(target) as mine:
        mine.write_bytes(b"mine")
        written_by(target).write_bytes(b"half")
        write_text(target, "second")
        assert names(tmp_path) == sorted([mine.name, "data.npz"])
    assert target.read_bytes() == b"mine"


def test_the_next_writer_of_a_file_removes_what_a_killed_one_left(tmp_path, dead):
    target = tmp_path / "data.npz"
    dead(target).write_bytes(b"half")
    other = dead(target, host="another-machine", kernel="abc")
    other.write_bytes(b"half")
    write_text(target, "new")
    assert names(tmp_path) == sorted([other.name, "data.npz"])


def test_two_writers_without_locks_do_not_disturb_each_other(tmp_path):
    target = tmp_path / "seed0"
    with atomic_folder(target) as first:
        (first / "a.txt").write_text("first")
        fill(target, "second")
        assert (target / "a.txt").read_text() == "second"
    assert (target / "a.txt").read_text() == "first"
    assert names(tmp_path) == ["seed0"]


@pytest.mark.parametrize(
    "name", ["seed0", "a.b.npz", ".hidden", "x.part.y", "line\nbreak", "x[1]*", "no suffix."]
)
def test_a_temporary_name_says_what_is_written_under_it(tmp_path, name):
    target = tmp_path / name
    for kind in ("part", "replaced"):
        path = temporary_path(target, kind)
        found = read_temporary(path)
        assert (found.path, found.target, found.kind, found.writer) == (path, target, kind, this_process())
        assert final_name(path / "file.csv") == target / "file.csv"
        assert path.name.endswith(target.suffix)
        path.touch()
    assert [found.kind for found in temporaries(tmp_path, escape(name))] == ["part"]
    assert len(temporaries(tmp_path, "*", "part", "replaced")) == 2


def test_a_manifest_finds_every_kind_of_damage(tmp_path):
    folder = tmp_path / "seed0"
    whole_folder(folder, "text")
    assert find_damage(folder) == ""
    for damage in ("", "tex", "texts", "tent"):
        (folder / "a.txt").write_text(damage)
        assert find_damage(folder).startswith(f"{folder / 'a.txt'} is damaged: ")
    (folder / "a.txt").unlink()
    assert "a.txt does not exist" in find_damage(folder)
    for content in ("", "{}", "[]", '{"files": {"a.txt": 1}}'):
        (folder / "manifest.json").write_text(content)
        assert "manifest.json" in find_damage(folder)
    shutil.rmtree(folder)
    assert "manifest.json does not exist" in find_damage(folder)


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127, f"{'x' * 100}.{'y' * 150}", f"{'x' * 251}.npz"])
def test_a_name_of_the_greatest_length_is_written(tmp_path, name, dead):
    dead(tmp_path / name).write_bytes(b"half")
    write_text(tmp_path / name, "new")
    assert names(tmp_path) == [name]


def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "model.safetensors"
    link.symlink_to(tmp_path / "disk" / "model.safetensors")
    write_text(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "disk" / "model.safetensors").read_text() == "new"


def test_a_device_is_written_and_not_replaced(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE, text=True) as reader:
        write_text(fifo, "text")
        assert reader.stdout.read() == "text"
    assert fifo.is_fifo()


def test_files_have_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("write", [write_text, lambda file, text: fill(file, text)])
def test_a_limit_of_the_file_size_is_one_line_and_leaves_the_old_file(tmp_path, write):
    target = tmp_path / "target"
    write(target, "old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(InputError, match=r"target cannot be written: File too large; the old one stays"):
            write(target, "new" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "old" in (target / "a.txt" if target.is_dir() else target).read_text()
    assert names(tmp_path) == ["target"]


def test_a_file_system_without_locks_is_one_line_and_no_error(tmp_path, monkeypatch, caplog):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / "seed0"), locked(tmp_path / "seed0"):
        pass
    assert "this file system has no locks (No locks available)" in caplog.text


def test_a_job_that_waits_says_for_whom(tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO")
    monkeypatch.setattr(locks, "PATIENCE", 0.0)
    monkeypatch.setattr(locks, "PAUSE", 0.01)
    impatient = iter([False, False, True])
    waiting = locked(tmp_path / "seed0", lambda: next(impatient))
    with locks.Lock(tmp_path / "seed0", purpose="cluster mnist dekm"), ThreadPoolExecutor() as pool:
        assert not pool.submit(waiting.acquire).result()
    holder = f"process {os.getpid()} on {socket.gethostname()} (cluster mnist dekm)"
    assert caplog.text.count(f"waiting for {holder}, which writes") == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "line 1 column 1"),
        (b"[]", "it holds no object"),
        (b"{}", "it lacks 'key'"),
        (b'{"key": 1}', "key='1' should be text"),
        (b'{"key": true}', "key='True' should be text"),
        (b"\xff\xfe", "utf-8"),
        (b'{"key":' + b"[" * 100_000, "recursion"),
        (b"\x00" * 10, "line 1 column 1"),
    ],
)
def test_a_json_file_of_another_form_is_one_line(tmp_path, content, problem):
    file = tmp_path / "facts.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=rf"(?i)facts\.json .*{problem}.* Make it again\.$") as error:
        read_json(file, {"key": str}, "Make it again.")
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_opened_now_is_not_taken_for_damaged(tmp_path, monkeypatch):
    whole_folder(tmp_path / "seed0", "a")

    def refuse(self, *arguments, **keywords):
        raise OSError(errno.EMFILE, "Too many open files", str(self))

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(UnavailableError, match=r"manifest\.json cannot be read: Too many open files\.$"):
        find_damage(tmp_path / "seed0")
    monkeypatch.undo()
    assert find_damage(tmp_path / "seed0") == ""


@pytest.mark.parametrize(
    "content", ["a,n_iter\n1,word\n", "a,n_iter\n1\n", "a,n_iter\n1,2,3\n", "a,b\n1,2\n"]
)
def test_a_csv_file_of_another_form_is_one_line(tmp_path, content):
    file = tmp_path / "history.csv"
    file.write_text(content)
    with pytest.raises(InputError, match=r"history\.csv"):
        read_numbers(file, ("n_iter",))


def test_arrays_of_another_form_are_one_line(tmp_path):
    form = Form("f", (2,))
    whole = np.ones((3, 2))
    for name, array in {
        "kind": whole.astype(int),
        "shape": whole[0],
        "objects": whole.astype(object),
    }.items():
        np.save(tmp_path / f"{name}.npy", array)
        np.savez(tmp_path / f"{name}.npz", X=array)
        with pytest.raises(InputError, match=f"{name}.npy"):
            read_array(tmp_path / f"{name}.npy", form)
        with pytest.raises(InputError, match=f"{name}.npz"):
            read_arrays(tmp_path / f"{name}.npz", {"X": form})
    np.save(tmp_path / "a.npy", whole)
    content = (tmp_path / "a.npy").read_bytes()
    for broken in (b"", content[:-1], content[:50], b"PK" + content):
        (tmp_path / "a.npy").write_bytes(broken)
        with pytest.raises(InputError, match=r"a\.npy"):
            read_array(tmp_path / "a.npy", form)
    with pytest.raises(InputError, match=r"a\.npz does not exist"):
        read_arrays(tmp_path / "a.npz", {"X": form})
