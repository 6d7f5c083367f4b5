import zipfile

import numpy as np
import pytest

from dekm.datasets.paper import coil20
from dekm.errors import InputError
from tests.helpers.upstream import (
    coil_archive,
)


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


def test_the_content_of_a_coil_archive_does_not_depend_on_how_it_was_packed(tmp_path):
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
