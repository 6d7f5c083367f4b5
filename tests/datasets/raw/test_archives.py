import gzip
import io
import stat
import tarfile
import zipfile

import pytest

from dekm.datasets.raw.archives import tar_members, unpacked, zip_members
from dekm.errors import InputError
from tests.helpers.upstream import posts, write


def test_a_compressed_file_that_unpacks_to_too_much_is_an_error(tmp_path):
    file = write(tmp_path / "bomb.gz", gzip.compress(bytes(10**6)))
    with pytest.raises(InputError, match="more than 1000 bytes"), unpacked(file, 1000) as stream:
        stream.read()


def test_a_compressed_file_that_unpacks_to_many_times_its_size_is_an_error_early(tmp_path):
    file = write(tmp_path / "bomb.gz", gzip.compress(bytes(10**7)))
    with pytest.raises(InputError, match=r"unpacks to more than \d{7} bytes"), unpacked(file) as stream:
        stream.read()


def test_a_zip_bomb_is_an_error_before_it_is_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(10**6))
    with pytest.raises(InputError, match="unpacks to 1000000 bytes, more than the maximum of 1000"):
        list(zip_members(tmp_path / "bomb.zip", 1000))


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "a/../../secret", "C:/secret", "a\\..\\..\\b"])
def test_a_member_with_a_path_outside_the_archive_is_an_error(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"x")
    posts(tmp_path / "a.tar.gz", {name: b"x"})
    with pytest.raises(InputError, match="a path outside the archive"):
        list(zip_members(tmp_path / "a.zip", 1000))
    with pytest.raises(InputError, match="a path outside the archive"):
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
