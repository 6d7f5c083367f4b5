import numpy as np
import pytest

from dekm.datasets import DATASETS
from dekm.datasets.paper import frgc
from dekm.errors import InputError
from tests.helpers.upstream import (
    faces,
)


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


def test_an_authors_face_file_is_valid_only_with_all_faces(tmp_path):
    from tests.helpers.upstream import faces

    raw_file = DATASETS["frgc"].alternatives[0].raw[0]
    data = np.zeros((2462, 32, 32, 3), np.uint8)
    file = faces(tmp_path / "FRGC.h5", data, np.arange(2462) % 20)
    assert len(raw_file.verify(file)) == 64
    with pytest.raises(InputError, match="2462 images of 19 persons should be 2462 of 20"):
        raw_file.verify(faces(tmp_path / "f.h5", data, np.arange(2462) % 19))
