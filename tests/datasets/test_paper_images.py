import zipfile

import h5py
import numpy as np
import pytest

from dekm.datasets.paper import coil20, frgc, usps
from dekm.errors import InputError
from tests.helpers.upstream import (
    coil_archive,
    faces,
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
        (b"11 1:0.5", "labels should be whole numbers from 1 to 10"),
        (b"1 257:0.5", "not a readable LIBSVM file"),
        (b"1 0:0.5", "not a readable LIBSVM file"),
        (b"1 3:1.5", "row 1, pixel 3 is out of range"),
        (b"1 3:nan", "row 1, pixel 3 is out of range"),
        (b"<html>", "not a readable LIBSVM file"),
        (b"1 1:0.5\n\n", "1 rows were read from 2 lines"),
        (b"", "0 rows"),
    ],
)
def test_a_libsvm_line_that_is_no_digit_is_an_error(tmp_path, line, reason):
    import bz2

    with pytest.raises(InputError, match=reason):
        usps.read_libsvm(write(tmp_path / "usps.bz2", bz2.compress(line)))


def test_usps_hdf5_with_rows_and_labels_of_different_length_is_an_error(tmp_path):
    values, labels = usps_digits(5)
    write_usps_hdf5(tmp_path, (values, labels), (values, labels[:4]))
    with pytest.raises(InputError, match=r"\(5, 256\) should be \(4, 256\)"):
        usps.from_hdf5(tmp_path)


def test_coil_images_are_ordered_by_object_and_pose_as_numbers(tmp_path):
    grey = {
        (number, pose): np.full((128, 128), 20 * number + pose, np.uint8)
        for number in (2, 10, 1)
        for pose in (10, 9, 0)
    }
    coil_archive(tmp_path / "coil20/coil-20-proc.zip", grey)
    images, labels = coil20.coil20(tmp_path)
    assert images.shape == (9, 28, 28, 1)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 9, 9, 9]
    expected = np.array([20, 29, 30, 40, 49, 50, 200, 209, 210], np.float32) / np.float32(255)
    np.testing.assert_array_equal(images[:, 5, 5, 0], expected)


def test_resize_takes_the_four_pixels_around_a_half_pixel_centre():
    ramp = np.arange(128.0)[np.newaxis, np.newaxis].repeat(128, axis=1)
    centres = (np.arange(28) + 0.5) * 128 / 28 - 0.5
    np.testing.assert_allclose(coil20.resize(ramp, 28)[0, 3], centres, rtol=1e-12)
    dot = np.zeros((1, 128, 128))
    dot[0, 0, 0] = 1  # further than one pixel from every centre: antialiasing would see it
    assert coil20.resize(dot, 28).sum() == 0


def test_the_content_of_a_coil_archive_does_not_depend_on_its_packing(tmp_path):
    grey = {(1, pose): np.full((128, 128), pose, np.uint8) for pose in range(3)}
    backwards = dict(reversed(grey.items()))
    stored = coil_archive(tmp_path / "a.zip", grey)
    deflated = coil_archive(tmp_path / "b.zip", backwards, zipfile.ZIP_DEFLATED)
    assert b"".join(coil20.content(stored)) == b"".join(coil20.content(deflated))


@pytest.mark.parametrize("shape", [(64, 64), (128, 128, 3)])
def test_a_coil_image_of_another_size_is_an_error_that_names_it(tmp_path, shape):
    file = coil_archive(tmp_path / "coil.zip", {(1, 0): np.zeros(shape, np.uint8)})
    with pytest.raises(InputError, match=r"obj1__0\.png"):
        coil20.read_coil(file)


def test_faces_are_the_same_from_both_axis_orders(tmp_path):
    rng = np.random.default_rng(0)
    channels_last = rng.integers(0, 256, size=(6, 32, 32, 3), dtype=np.uint8)
    labels = np.array([7, 3, 7, 30, 3, 30])
    faces(tmp_path / "frgc/data4torch.h5", channels_last.transpose(0, 3, 1, 2).astype(np.float32), labels)
    faces(tmp_path / "frgc/FRGC.h5", channels_last, labels.reshape(-1, 1))
    for images, numbers in (frgc.from_jule(tmp_path), frgc.from_dekm(tmp_path)):
        np.testing.assert_array_equal(images, channels_last)
        assert images.dtype == np.uint8
        assert numbers.tolist() == [1, 0, 1, 2, 0, 2]


def test_faces_already_scaled_keep_their_values(tmp_path):
    data = np.random.default_rng(0).random((2, 3, 32, 32), dtype=np.float32)
    images, _ = frgc.read_faces(faces(tmp_path / "f.h5", data, np.arange(2)))
    np.testing.assert_array_equal(images, data.transpose(0, 2, 3, 1))


@pytest.mark.parametrize(
    ("data", "labels", "reason"),
    [
        (np.zeros((2, 28, 28, 3)), np.arange(2), r"\(2, 28, 28, 3\)"),
        (np.zeros((2, 32, 32, 3)), np.arange(3), "3 labels for 2 images"),
        (np.full((2, 32, 32, 3), 256.0), np.arange(2), "from 0 to 255"),
        (np.full((2, 32, 32, 3), np.nan), np.arange(2), "from 0 to 255"),
        (np.zeros((2, 32, 32, 3), "S1"), np.arange(2), "not an array of numbers"),
    ],
)
def test_faces_of_another_form_are_an_error(tmp_path, data, labels, reason):
    with pytest.raises(InputError, match=reason):
        frgc.read_faces(faces(tmp_path / "f.h5", data, labels))


def test_hdf5_links_to_other_files_are_an_error(tmp_path):
    secret = faces(tmp_path / "secret.h5", np.zeros((2, 32, 32, 3)), np.arange(2))
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["data"] = h5py.ExternalLink(secret, "data")
        file["labels"] = np.arange(2)
    with pytest.raises(InputError, match="'data' is a link"):
        frgc.read_faces(tmp_path / "f.h5")
    with h5py.File(tmp_path / "g.h5", "w") as file:
        file.create_dataset("data", (2, 32, 32, 3), "u1", external=[(secret, 0, 2 * 32 * 32 * 3)])
        file["labels"] = np.arange(2)
    with pytest.raises(InputError, match="lie in another file"):
        frgc.read_faces(tmp_path / "g.h5")


def test_an_hdf5_array_that_claims_terabytes_is_an_error_before_it_is_read(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("data", (10**9, 32, 32, 3), "u1", chunks=(1, 32, 32, 3))
        file["labels"] = np.arange(2)
    with pytest.raises(InputError, match="larger than"):
        frgc.read_faces(tmp_path / "f.h5")
