import dataclasses
import hashlib

import pytest

from dekm.cli import main
from dekm.datasets import DATASETS
from dekm.datasets.dataset import Dataset, RawSet
from dekm.datasets.raw.fetch import fetch_dataset, missing_files
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError
from tests.helpers.upstream import write


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def two_ways(tmp_path):
    """A dataset for which either file "a/a" or files "b/b" and "b/c" are sufficient."""
    a, b, c = (
        RawFile(path, (), sha256=sha256(path.encode()), content=None) for path in ("a/a", "b/b", "b/c")
    )
    load = "dekm.datasets.paper.digits:digits"
    return Dataset("two", "images", 1, 1, (1,), load, "", (a,), alternatives=(RawSet(load, (b, c)),))


def test_either_of_two_raw_sets_is_sufficient(tmp_path):
    dataset = two_ways(tmp_path)
    assert [[f.path for f in files] for files in missing_files(dataset, tmp_path)] == [
        ["a/a"],
        ["b/b", "b/c"],
    ]
    write(tmp_path / "b/b", b"b/b")
    assert [[f.path for f in files] for files in missing_files(dataset, tmp_path)] == [["a/a"], ["b/c"]]
    write(tmp_path / "b/c", b"b/c")
    assert missing_files(dataset, tmp_path) == []
    assert set(fetch_dataset(dataset, tmp_path)) == {"b/b", "b/c"}
    assert dataset.raw_set(tmp_path) is dataset.alternatives[0]


def test_a_wrong_file_is_a_missing_file(tmp_path):
    dataset = two_ways(tmp_path)
    write(tmp_path / "a/a", b"wrong")
    assert [f.path for f in missing_files(dataset, tmp_path)[0]] == ["a/a"]
    with pytest.raises(InputError, match="not the expected file"):
        fetch_dataset(dataset, tmp_path)


def test_a_second_raw_set_on_the_mirror_is_used_before_the_network(tmp_path):
    dataset = two_ways(tmp_path)
    unreachable = dataclasses.replace(dataset.raw[0], urls=("http://unreachable.invalid/a",))
    dataset = dataclasses.replace(dataset, raw=(unreachable,))
    for path in ("b/b", "b/c"):
        write(tmp_path / "mirror" / path, path.encode())
    assert set(fetch_dataset(dataset, tmp_path / "raw", str(tmp_path / "mirror"))) == {"b/b", "b/c"}
    assert not (tmp_path / "raw/a/a").exists()


def test_an_error_names_each_raw_set_and_leaves_the_raw_folder_clean(tmp_path):
    write(tmp_path / "mirror/a/a", b"<html>moved</html>")
    with pytest.raises(InputError, match="no set of raw files could be downloaded") as caught:
        fetch_dataset(two_ways(tmp_path), tmp_path / "raw", str(tmp_path / "mirror"))
    assert "a/a" in str(caught.value)
    assert "b/b" in str(caught.value)
    assert [file for file in (tmp_path / "raw").rglob("*") if file.is_file()] == []


def test_a_file_without_a_checksum_is_read_but_never_downloaded(tmp_path):
    raw_file = RawFile("a/a", (), content=None)
    dataset = dataclasses.replace(two_ways(tmp_path), raw=(raw_file,), alternatives=())
    write(tmp_path / "mirror/a/a", b"pickle")
    with pytest.raises(InputError, match="no known checksum and is not downloaded"):
        fetch_dataset(dataset, tmp_path / "raw", str(tmp_path / "mirror"))
    write(tmp_path / "raw/a/a", b"pickle")
    assert fetch_dataset(dataset, tmp_path / "raw") == {"a/a": sha256(b"pickle")}


def test_the_missing_command_names_each_file_its_place_and_its_addresses(tmp_path, capsys):
    assert main(["missing", "digits", "usps", "--raw-dir", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "digits: no files are missing" in out
    for expected in (tmp_path / "usps/usps.bz2", DATASETS["usps"].raw[0].urls[0], tmp_path / "usps/USPS.h5"):
        assert str(expected) in out


def test_the_missing_command_distinguishes_damaged_from_missing_files(tmp_path, capsys):
    damaged, absent = (tmp_path / raw_file.path for raw_file in DATASETS["usps"].raw)
    write(damaged, b"<html>")
    assert main(["missing", "usps", "--raw-dir", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"  {damaged} is damaged or a different file: move it away" in lines
    assert f"  {absent}" in lines


def test_a_damaged_raw_set_is_missing_although_a_second_one_is_valid(tmp_path):
    dataset = two_ways(tmp_path)
    for path, content in (("a/a", b"wrong"), ("b/b", b"b/b"), ("b/c", b"b/c")):
        write(tmp_path / path, content)
    assert [[f.path for f in files] for files in missing_files(dataset, tmp_path)] == [["a/a"]]
    with pytest.raises(InputError, match="a/a is not the expected file"):
        fetch_dataset(dataset, tmp_path)


def test_the_missing_command_says_which_data_need_a_licence(tmp_path, capsys):
    assert main(["missing", "frgc", "digits", "--raw-dir", str(tmp_path)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "licence" in line]
    assert len(lines) == 1
    assert lines[0].startswith("frgc: needs a licence (NIST agreement, not redistributable)")
    assert "--licence-held" in lines[0]
