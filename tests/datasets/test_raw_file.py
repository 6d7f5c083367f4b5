import dataclasses
import gzip
import hashlib
import zipfile

import numpy as np
import pytest

from dekm.datasets import DATASETS
from dekm.datasets.raw_file import RawFile, file_digests
from dekm.errors import InputError
from tests.helpers.upstream import coil_archive, posts, write


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", ["sha256", "git_blob"])
def test_any_one_checksum_is_sufficient(tmp_path, name):
    file = write(tmp_path / "raw", b"content")
    digests = file_digests(file)
    raw_file = RawFile("raw", (), content=None, **{name: digests[name]})
    assert raw_file.verify(file) == sha256(b"content")
    write(file, b"other")
    with pytest.raises(InputError, match=f"{name} .* is not {digests[name]}"):
        raw_file.verify(file)


@pytest.mark.parametrize("known", ["sha256", "content_sha256"])
def test_the_id_of_git_decides_nothing_where_a_sha_256_is_known(tmp_path, known):
    file = write(tmp_path / "raw", gzip.compress(b"forged"))
    content = {} if known == "content_sha256" else {"content": None}
    raw_file = RawFile(
        "raw", (), git_blob=file_digests(file)["git_blob"], **{known: sha256(b"content")}, **content
    )
    with pytest.raises(InputError, match="sha256"):
        raw_file.verify(file)


def test_every_download_but_that_of_frgc_has_a_sha_256():
    files = [
        file for row in DATASETS.values() for raw_set in row.raw_sets() for file in raw_set.raw if file.urls
    ]
    weak = [file.path for file in files if not file.sha256 and not file.content_sha256]
    assert weak == ["frgc/data4torch.h5"]
    assert len(files) > 10


def test_gits_blob_id_is_that_of_git(tmp_path):
    file = write(tmp_path / "raw", b"hello\n")
    assert file_digests(file)["git_blob"] == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_repacked_file_is_verified_by_its_content(tmp_path):
    raw_file = RawFile(
        "raw", (), sha256=sha256(gzip.compress(b"content", 1)), content_sha256=sha256(b"content")
    )
    assert raw_file.verify(write(tmp_path / "raw", gzip.compress(b"content", 9))) == sha256(b"content")
    with pytest.raises(InputError, match="content with sha256"):
        raw_file.verify(write(tmp_path / "raw", gzip.compress(b"other")))
    with pytest.raises(InputError, match="cannot be unpacked"):
        raw_file.verify(write(tmp_path / "raw", b"<html>not found</html>"))


def test_repacked_archives_of_images_and_posts_are_verified_by_their_content(tmp_path):
    coil = coil_archive(tmp_path / "a.zip", {(1, 0): np.zeros((128, 128), np.uint8)}, zipfile.ZIP_DEFLATED)
    news = posts(tmp_path / "a.tar.gz", {"20news-bydate-train/a/1": b"x", "20news-bydate-test/a/2": b"y"})
    for row, file, content in (("coil20", coil, bytes(128 * 128)), ("news20", news, b"yx")):
        raw_file = dataclasses.replace(DATASETS[row].raw[0], content_sha256=sha256(content))
        assert raw_file.verify(file) == sha256(content)
