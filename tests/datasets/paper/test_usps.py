import numpy as np
import pytest

from dekm.datasets.paper import usps
from dekm.errors import InputError
from tests.helpers.upstream import (
    libsvm,
    usps_digits,
    write,
    write_usps_hdf5,
    write_usps_libsvm,
)


def test_usps_is_the_same_array_from_libsvm_and_from_hdf5(tmp_path):
    train, test = usps_digits(20), usps_digits(10, seed=1)
    write_usps_libsvm(tmp_path, train, test)
    write_usps_hdf5(tmp_path, train, test)
    images, labels = usps.from_libsvm(tmp_path)
    images_h5, labels_h5 = usps.from_hdf5(tmp_path)
    assert images.shape == (30, 16, 16, 1)
    assert images.dtype == np.float32
    np.testing.assert_array_equal(images, images_h5)
    np.testing.assert_array_equal(labels, labels_h5)
    np.testing.assert_array_equal(images[:20].reshape(20, 256), train[0].astype(np.float32))


def test_usps_maps_minus_one_zero_and_one_to_black_half_and_white(tmp_path):
    values = np.zeros((1, 256))
    values[0, :2] = -1, 1
    grey, labels = usps.read_libsvm(write(tmp_path / "usps.bz2", libsvm(values, [10])))
    assert grey[0, :3].tolist() == [0.0, 1.0, 0.5]
    assert labels.tolist() == [9]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"11 1:0.5", "labels should be integers from 1 to 10"),
        (b"1 257:0.5", "not a readable LIBSVM file"),
        (b"1 0:0.5", "not a readable LIBSVM file"),
        (b"1 3:1.5", r"row 1, pixel 3: grey value 1\.25 should be in \[0, 1\]"),
        (b"1 3:nan", r"row 1, pixel 3: grey value nan should be in \[0, 1\]"),
        (b"<html>", "not a readable LIBSVM file"),
        (b"1 1:0.5\n\n", "1 rows were read from 2 lines"),
        (b"", "0 rows"),
    ],
)
def test_a_libsvm_line_that_is_not_a_digit_is_an_error(tmp_path, line, reason):
    import bz2

    with pytest.raises(InputError, match=reason):
        usps.read_libsvm(write(tmp_path / "usps.bz2", bz2.compress(line)))


def test_usps_hdf5_with_rows_and_labels_of_different_length_is_an_error(tmp_path):
    values, labels = usps_digits(5)
    write_usps_hdf5(tmp_path, (values, labels), (values, labels[:4]))
    with pytest.raises(InputError, match=r"\(5, 256\) should be \(4, 256\)"):
        usps.from_hdf5(tmp_path)
