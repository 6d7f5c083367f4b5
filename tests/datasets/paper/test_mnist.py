import gzip
import re

import numpy as np
import pytest

from dekm.datasets.paper.mnist import mnist, read_idx
from dekm.errors import InputError


def idx(array, *, kind=0x08):
    """The bytes of an idx file."""
    header = bytes([0, 0, kind, array.ndim]) + b"".join(side.to_bytes(4, "big") for side in array.shape)
    return header + array.astype(np.uint8).tobytes()


@pytest.fixture
def array():
    return np.random.default_rng(0).integers(256, size=(5, 4, 3)).astype(np.uint8)


def refused(file, content, *, ndim=3):
    """Write a file and read it; it must be refused by name."""
    file.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(str(file))) as error:
        read_idx(file, ndim=ndim)
    return str(error.value)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "images-idx3-ubyte.gz"


def test_an_idx_file_is_read(file, array):
    file.write_bytes(gzip.compress(idx(array)))
    np.testing.assert_array_equal(read_idx(file, ndim=3), array)


def test_a_truncated_file_is_refused(file, array):
    whole = gzip.compress(idx(array))
    for length in (5, 12, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        refused(file, whole[:length])


def test_bit_flips_are_refused_or_harmless(file, array):
    whole = gzip.compress(idx(array))
    n_refused = 0
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 0x10]) + whole[position + 1 :])
        try:
            read = read_idx(file, ndim=3)
        except InputError:
            n_refused += 1
        else:
            np.testing.assert_array_equal(read, array)
    assert n_refused > len(whole) // 2


def test_a_page_of_html_is_refused(file):
    assert "is neither a gzip nor a bzip2 file" in refused(
        file, b"<!DOCTYPE html><html><body>Not found</body></html>"
    )


@pytest.mark.parametrize(
    "content", [b"", gzip.compress(b"", mtime=0), gzip.compress(b"\x00\x00\x08", mtime=0)]
)
def test_an_empty_file_is_refused(file, content):
    refused(file, content)


@pytest.mark.parametrize(
    "magic", [b"\x00\x00\x0d\x03", b"\x00\x00\x08\x01", b"\x01\x00\x08\x03", b"PK\x03\x04"]
)
def test_a_wrong_magic_number_is_refused(file, array, magic):
    text = refused(file, gzip.compress(magic + idx(array)[4:]))
    assert "is not an idx file" in text or "its header says" in text


@pytest.mark.parametrize("content", [b"\x00", b""])
def test_a_wrong_length_is_refused(file, array, content):
    body = idx(array)
    assert "(5, 4, 3)" in refused(file, gzip.compress(body + content if content else body[:-1]))


def test_sides_that_overflow_are_refused(file):
    refused(file, gzip.compress(b"\x00\x00\x08\x03" + b"\xff\xff\xff\xff" * 3 + b"\x00" * 10))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="absent"):
        read_idx(tmp_path / "absent.gz", ndim=3)


def test_mnist_is_training_and_test_images_in_one_array(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "mnist").mkdir()
    parts = {}
    for part, n in (("train", 6), ("t10k", 2)):
        images, labels = rng.integers(256, size=(n, 28, 28)).astype(np.uint8), rng.integers(10, size=n)
        parts[part] = images, labels
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            (tmp_path / f"mnist/{part}-{kind}-ubyte.gz").write_bytes(gzip.compress(idx(array)))
    X, y = mnist(tmp_path)
    assert (X.shape, X.dtype, y.dtype) == ((8, 28, 28, 1), np.uint8, np.int64)
    np.testing.assert_array_equal(X[:6, :, :, 0], parts["train"][0])
    np.testing.assert_array_equal(X[6:, :, :, 0], parts["t10k"][0])
    np.testing.assert_array_equal(y, np.concatenate([parts["train"][1], parts["t10k"][1]]))
