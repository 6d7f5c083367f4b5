import numpy as np
import pytest

from dekm.errors import InputError
from tests.helpers.own_data import prepare
from tests.helpers.upstream import write


@pytest.mark.parametrize("shape", [(5, 3), (2, 1), (7, 17, 23), (7, 17, 23, 3), (3, 1, 9, 5)])
def test_arrays_of_any_side_and_number_of_channels_are_prepared_without_labels(tmp_path, shape):
    values = np.random.default_rng(0).random(shape)
    np.save(tmp_path / "x.npy", values)
    X, y, facts = prepare(tmp_path, {"path": str(tmp_path / "x.npy")})
    assert y is None
    assert facts["class_counts"] is None
    assert facts["kind"] == ("table" if len(shape) == 2 else "images")
    assert X.shape == (shape if len(shape) != 3 else (*shape, 1))
    np.testing.assert_array_equal(X.reshape(shape), values.astype(np.float32))


def test_labels_of_arrays_come_from_the_archive_or_from_a_file(tmp_path):
    X = np.zeros((3, 2), np.uint8)
    np.savez(tmp_path / "x.npz", X=X, y=np.array([[2.5], [-1], [2.5]]))
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", np.array(["b", "a", "b"]))
    write(tmp_path / "y.txt", b"dog\ncat\ndog\n")
    for block in (
        {"path": str(tmp_path / "x.npz")},
        {"path": str(tmp_path / "x.npy"), "labels": str(tmp_path / "y.npy")},
        {"path": str(tmp_path / "x.npy"), "labels": str(tmp_path / "y.txt")},
    ):
        assert prepare(tmp_path, block)[1].tolist() == [1, 0, 1]


def test_bytes_of_images_are_scaled_and_other_bytes_are_not(tmp_path):
    np.save(tmp_path / "image.npy", np.full((2, 3, 3), 255, np.uint8))
    np.save(tmp_path / "table.npy", np.full((2, 3), 255, np.uint8))
    assert prepare(tmp_path, {"path": str(tmp_path / "image.npy")})[0].max() == 1
    assert prepare(tmp_path, {"path": str(tmp_path / "table.npy"), "scaling": "none"})[0].max() == 255


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.array([[1.0, np.nan]]), r"value at \[0, 1\] is not a finite number"),
        (np.array([[1.0, np.inf]]), r"value at \[0, 1\] is not a finite number"),
        (np.zeros(3), r"shape \(3,\) should be"),
        (np.zeros((0, 3)), r"shape \(0, 3\) should be"),
        (np.array([["a"]]), "should be numbers"),
        (np.array([[1j]]), "should be numbers"),
        (np.array([[{}]], dtype=object), "holds Python objects, which can run code"),
    ],
)
def test_an_array_that_no_method_can_use_is_an_error_that_names_the_place(tmp_path, values, reason):
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(InputError, match=reason):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy")})


def test_a_single_number_is_no_array_of_samples(tmp_path):
    np.save(tmp_path / "x.npy", np.float64(3))
    with pytest.raises(InputError, match=r"x.npy holds no array of samples; it has none"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy")})
    np.savez(tmp_path / "x.npz", X=np.ones((3, 2)), a=3)
    assert prepare(tmp_path, {"path": str(tmp_path / "x.npz")})[0].shape == (3, 2)
    with pytest.raises(InputError, match=r"array=\[1\]: .* has no such array"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npz"), "array": [1]})


def test_labels_that_are_not_one_per_row_are_an_error(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    write(tmp_path / "y.txt", b"a\nb\n")
    with pytest.raises(InputError, match=r"y.txt: 2 labels should be 3"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npy"), "labels": str(tmp_path / "y.txt")})
    np.savez(tmp_path / "x.npz", X=np.zeros((3, 2)), y=np.eye(3))
    with pytest.raises(InputError, match=r"shape \(3, 3\) should be a vector"):
        prepare(tmp_path, {"path": str(tmp_path / "x.npz")})
