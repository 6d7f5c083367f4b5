import dataclasses
import gzip
import hashlib
import io
import stat
import tarfile
import zipfile

import numpy as np
import pytest

from dekm.cli import main
from dekm.datasets import DATASETS
from dekm.datasets.dataset import Dataset, Source
from dekm.datasets.raw.archives import tar_members, unpacked, zip_members
from dekm.datasets.raw.fetch import fetch_dataset, missing_files
from dekm.datasets.raw_file import RawFile, file_digests
from dekm.errors import InputError
from tests.helpers.upstream import coil_archive, posts, usps_digits, write, write_usps_hdf5, write_usps_libsvm

TABLE_II = {
    "MNIST": (70_000, 10, (28, 28, 1)),
    "USPS": (9298, 10, (16, 16, 1)),
    "COIL-20": (1440, 20, (28, 28, 1)),
    "FRGC": (2462, 20, (32, 32, 3)),
    "REUTERS-10K": (10_000, 4, (2000,)),
    "20NEWS": (18_846, 20, (2000,)),
    "RCV1-10K": (10_000, 4, (2000,)),
}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def test_the_rows_are_those_of_the_papers_table():
    rows = {row.label: (row.n_samples, row.n_clusters, row.shape) for row in DATASETS.values()}
    assert {label: rows[label] for label in TABLE_II} == TABLE_II


@pytest.mark.parametrize("row", DATASETS.values(), ids=DATASETS)
def test_every_row_names_loaders_that_exist_and_files_that_can_be_told(row):
    assert all(source.options() <= {"stem", "scaling", "subset"} for source in row.sources())
    assert row.class_counts is None or sum(row.class_counts) == row.n_samples
    assert all(raw_file.path.count("/") >= 1 for source in row.sources() for raw_file in source.raw)


@pytest.mark.parametrize("name", ["sha256", "md5", "git_blob"])
def test_any_one_checksum_is_enough_to_know_a_file(tmp_path, name):
    file = write(tmp_path / "raw", b"content")
    digests = file_digests(file)
    raw_file = RawFile("raw", (), content=None, **{name: digests[name]})
    assert raw_file.verify(file) == sha256(b"content")
    write(file, b"other")
    with pytest.raises(InputError, match=f"{name} .* is not {digests[name]}"):
        raw_file.verify(file)


def test_gits_blob_id_is_that_of_git(tmp_path):
    file = write(tmp_path / "raw", b"hello\n")
    assert file_digests(file)["git_blob"] == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_repacked_file_counts_by_its_content(tmp_path):
    raw_file = RawFile(
        "raw", (), sha256=sha256(gzip.compress(b"content", 1)), content_sha256=sha256(b"content")
    )
    assert raw_file.verify(write(tmp_path / "raw", gzip.compress(b"content", 9))) == sha256(b"content")
    with pytest.raises(InputError, match="content with sha256"):
        raw_file.verify(write(tmp_path / "raw", gzip.compress(b"other")))
    with pytest.raises(InputError, match="does not unpack"):
        raw_file.verify(write(tmp_path / "raw", b"<html>not found</html>"))


def test_repacked_archives_of_images_and_posts_count_by_their_content(tmp_path):
    coil = coil_archive(tmp_path / "a.zip", {(1, 0): np.zeros((128, 128), np.uint8)}, zipfile.ZIP_DEFLATED)
    news = posts(tmp_path / "a.tar.gz", {"20news-bydate-train/a/1": b"x", "20news-bydate-test/a/2": b"y"})
    for row, file, content in (("coil20", coil, bytes(128 * 128)), ("news20", news, b"yx")):
        raw_file = dataclasses.replace(DATASETS[row].raw[0], content_sha256=sha256(content))
        assert raw_file.verify(file) == sha256(content)


def test_an_authors_face_file_counts_only_if_it_decodes_to_all_faces(tmp_path):
    from tests.helpers.upstream import faces

    raw_file = DATASETS["frgc"].alternatives[0].raw[0]
    data = np.zeros((2462, 32, 32, 3), np.uint8)
    file = faces(tmp_path / "FRGC.h5", data, np.arange(2462) % 20)
    assert len(raw_file.verify(file)) == 64
    with pytest.raises(InputError, match="2462 images of 19 persons should be 2462 of 20"):
        raw_file.verify(faces(tmp_path / "f.h5", data, np.arange(2462) % 19))


def two_ways(tmp_path):
    """A dataset that file "a/a" or files "b/b" and "b/c" are enough for."""
    a, b, c = (
        RawFile(path, (), sha256=sha256(path.encode()), content=None) for path in ("a/a", "b/b", "b/c")
    )
    load = "dekm.datasets.paper.digits:digits"
    return Dataset("two", "images", 1, 1, (1,), load, "", (a,), alternatives=(Source(load, (b, c)),))


def test_either_of_two_sets_of_files_is_enough(tmp_path):
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
    assert dataset.source(tmp_path) is dataset.alternatives[0]


def test_a_wrong_file_is_a_missing_file(tmp_path):
    dataset = two_ways(tmp_path)
    write(tmp_path / "a/a", b"wrong")
    assert [f.path for f in missing_files(dataset, tmp_path)[0]] == ["a/a"]
    with pytest.raises(InputError, match="not the expected file"):
        fetch_dataset(dataset, tmp_path)


def test_a_second_set_on_the_mirror_is_taken_before_the_network_is_tried(tmp_path):
    dataset = two_ways(tmp_path)
    unreachable = dataclasses.replace(dataset.raw[0], urls=("http://unreachable.invalid/a",))
    dataset = dataclasses.replace(dataset, raw=(unreachable,))
    for path in ("b/b", "b/c"):
        write(tmp_path / "mirror" / path, path.encode())
    assert set(fetch_dataset(dataset, tmp_path / "raw", str(tmp_path / "mirror"))) == {"b/b", "b/c"}
    assert not (tmp_path / "raw/a/a").exists()


def test_an_error_names_each_source_and_leaves_the_raw_folder_clean(tmp_path):
    write(tmp_path / "mirror/a/a", b"<html>moved</html>")
    with pytest.raises(InputError, match="could not be had from any source") as caught:
        fetch_dataset(two_ways(tmp_path), tmp_path / "raw", str(tmp_path / "mirror"))
    assert "a/a" in str(caught.value)
    assert "b/b" in str(caught.value)
    assert [file for file in (tmp_path / "raw").rglob("*") if file.is_file()] == []


def test_a_file_without_a_checksum_is_read_but_never_fetched(tmp_path):
    raw_file = RawFile("a/a", (), content=None)
    dataset = dataclasses.replace(two_ways(tmp_path), raw=(raw_file,), alternatives=())
    write(tmp_path / "mirror/a/a", b"pickle")
    with pytest.raises(InputError, match="no known checksum and is not fetched"):
        fetch_dataset(dataset, tmp_path / "raw", str(tmp_path / "mirror"))
    write(tmp_path / "raw/a/a", b"pickle")
    assert fetch_dataset(dataset, tmp_path / "raw") == {"a/a": sha256(b"pickle")}


def test_usps_is_loaded_from_whichever_files_are_there(tmp_path):
    train, test = usps_digits(20), usps_digits(10, seed=1)
    with pytest.raises(InputError, match=r"usps\.bz2 is not there"):
        DATASETS["usps"].load(tmp_path)
    write_usps_hdf5(tmp_path, train, test)
    from_hdf5 = DATASETS["usps"].load(tmp_path)
    write_usps_libsvm(tmp_path, train, test)
    assert DATASETS["usps"].source(tmp_path).loader.endswith("from_libsvm")
    np.testing.assert_array_equal(DATASETS["usps"].load(tmp_path)[0], from_hdf5[0])


def test_an_option_chooses_the_source_whose_loader_knows_it():
    row = DATASETS["reuters10k"].with_options({"subset": "dec_keras"})
    assert [source.loader for source in row.sources()] == ["dekm.datasets.paper.reuters10k:from_tokens"]
    with pytest.raises(InputError, match=r"\['stem'\] should be among \['scaling', 'subset'\]"):
        DATASETS["reuters10k"].with_options({"stem": True})


def test_restricted_data_need_the_users_word(tmp_path, capsys):
    arguments = ["frgc", "--raw-dir", str(tmp_path), "--results", str(tmp_path)]
    assert main(["prepare", *arguments]) == 1
    assert (
        "FRGC needs a licence (NIST agreement, not redistributable): if you hold it"
        in capsys.readouterr().err
    )
    assert main(["prepare", *arguments, "--licence-held"]) == 1
    assert "data4torch.h5 is not there" in capsys.readouterr().err


def test_the_missing_command_names_each_file_its_place_and_its_addresses(tmp_path, capsys):
    assert main(["missing", "digits", "usps", "--raw-dir", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "digits: nothing is missing" in out
    for expected in (tmp_path / "usps/usps.bz2", DATASETS["usps"].raw[0].urls[0], tmp_path / "usps/USPS.h5"):
        assert str(expected) in out


def test_the_missing_command_tells_a_damaged_file_from_one_that_is_not_there(tmp_path, capsys):
    damaged, absent = (tmp_path / raw_file.path for raw_file in DATASETS["usps"].raw)
    write(damaged, b"<html>")
    assert main(["missing", "usps", "--raw-dir", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"  {damaged} is damaged, or another file: move it away" in lines
    assert f"  {absent}" in lines


def test_a_damaged_set_of_files_is_missing_though_a_second_set_is_right(tmp_path):
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


def test_a_compressed_file_that_unpacks_to_too_much_is_an_error(tmp_path):
    file = write(tmp_path / "bomb.gz", gzip.compress(bytes(10**6)))
    with pytest.raises(InputError, match="more than 1000 bytes"), unpacked(file, 1000) as stream:
        stream.read()


def test_a_zip_bomb_is_an_error_before_it_is_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(10**6))
    with pytest.raises(InputError, match="unpacks to 1000000 bytes; at most 1000"):
        list(zip_members(tmp_path / "bomb.zip", 1000))


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "a/../../secret", "C:/secret", "a\\..\\..\\b"])
def test_a_member_named_outside_the_archive_is_an_error(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"x")
    posts(tmp_path / "a.tar.gz", {name: b"x"})
    with pytest.raises(InputError, match="named outside"):
        list(zip_members(tmp_path / "a.zip", 1000))
    with pytest.raises(InputError, match="named outside"):
        list(tar_members(tmp_path / "a.tar.gz", 10**6))


@pytest.mark.parametrize("type_", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_link_or_device_in_an_archive_is_an_error(tmp_path, type_):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("a")
        member.type, member.linkname = type_, "b"
        archive.addfile(member, io.BytesIO())
    with pytest.raises(InputError, match="neither a file nor a folder"):
        list(tar_members(tmp_path / "a.tar.gz", 10**6))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        link = zipfile.ZipInfo("a")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match="is a link"):
        list(zip_members(tmp_path / "a.zip", 1000))
