import zipfile

import numpy as np
import pytest

from dekm.datasets.field.vectors import har, letter, pendigits
from dekm.errors import InputError


def archive(file, members):
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w") as opened:
        for name, text in members.items():
            opened.writestr(name, text)


def test_pendigits_are_the_training_then_the_test_digits(tmp_path):
    first, second = ", ".join(["47", "100", *["0"] * 14, " 8"]), ", ".join(["1"] * 16 + ["2"])
    archive(
        tmp_path / "pendigits/pendigits.zip",
        {"pendigits.names": "text", "pendigits.tes": second, "pendigits.tra": f"{first}\n{first}\n"},
    )
    X, y = pendigits(tmp_path)
    assert (X.shape, X.dtype) == ((3, 16), np.float32)
    np.testing.assert_array_equal(X[0, :3], [47, 100, 0])
    np.testing.assert_array_equal(y, [8, 8, 2])


def test_letters_are_encoded_in_their_order(tmp_path):
    file = tmp_path / "letter/letter-recognition.data"
    file.parent.mkdir()
    file.write_text("".join(f"{name}{',1' * 15},{i}\n" for i, name in enumerate("TAT")))
    X, y = letter(tmp_path)
    np.testing.assert_array_equal(X[:, -1], [0, 1, 2])
    np.testing.assert_array_equal(y, [1, 0, 1])


def test_the_windows_of_har_have_their_features_and_activities_from_zero(tmp_path):
    members = {}
    for part, values, labels in (("train", "0.5 -1", "5"), ("test", " 2.8e-001 1.0", "6")):
        members[f"UCI HAR Dataset/{part}/X_{part}.txt"] = f"  {values}\n"
        members[f"UCI HAR Dataset/{part}/y_{part}.txt"] = f"{labels}\n"
    archive(tmp_path / "har/UCI_HAR_Dataset.zip", members)
    X, y = har(tmp_path)
    np.testing.assert_allclose(X, [[0.5, -1], [0.28, 1]])
    np.testing.assert_array_equal(y, [0, 1])


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"pendigits.tra": "1,2"}, r"lacks pendigits\.tes"),
        ({"pendigits.tra": "1,2", "pendigits.tes": "1,2,3"}, "not a readable table of numbers"),
        ({"pendigits.tra": "1,x", "pendigits.tes": "1,2"}, "not a readable table of numbers"),
    ],
)
def test_a_damaged_archive_is_one_clear_error(tmp_path, members, text):
    archive(tmp_path / "pendigits/pendigits.zip", members)
    with pytest.raises(InputError, match=text):
        pendigits(tmp_path)


@pytest.mark.parametrize("text", ["", "T\n", "T,x\n"])
def test_damaged_letters_are_one_clear_error(tmp_path, text):
    file = tmp_path / "letter/letter-recognition.data"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(InputError, match=r"letter-recognition\.data is not a readable table of"):
        letter(tmp_path)
