import gzip
import io
import tarfile

import numpy as np
import pytest

from dekm.datasets.field.images import fashion_mnist, kmnist, stl10
from dekm.errors import InputError
from tests.helpers.upstream import idx


@pytest.mark.parametrize("load", [fashion_mnist, kmnist])
def test_a_dataset_in_the_form_of_mnist_is_read_from_its_own_folder(tmp_path, load):
    rng = np.random.default_rng(0)
    folder = tmp_path / load.__name__
    folder.mkdir()
    images, labels = rng.integers(256, size=(5, 28, 28)), np.array([3, 1, 4, 1, 5])
    for part, rows in (("train", slice(3)), ("t10k", slice(3, None))):
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(idx(images[rows]))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(idx(labels[rows]))
    X, y = load(tmp_path)
    assert X.dtype == np.uint8
    np.testing.assert_array_equal(X[..., 0], images)
    np.testing.assert_array_equal(y, labels)


def write_stl10(raw_dir, members):
    file = raw_dir / "stl10/stl10_binary.tar.gz"
    file.parent.mkdir(parents=True)
    with tarfile.open(file, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(f"stl10_binary/{name}.bin")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def stl10_members():
    """Images, and how the archive stores them: channels first, then columns, then rows."""
    images = np.random.default_rng(0).integers(256, size=(3, 96, 96, 3)).astype(np.uint8)
    stored = images.transpose(0, 3, 2, 1)
    return images, {
        "test_X": stored[2:].tobytes(),
        "test_y": bytes([10]),
        "train_X": stored[:2].tobytes(),
        "train_y": bytes([1, 7]),
        "unlabeled_X": b"x" * 1000,
    }


def test_the_labelled_images_of_stl10_are_upright_and_the_training_images_come_first(tmp_path):
    images, members = stl10_members()
    write_stl10(tmp_path, members)
    X, y = stl10(tmp_path)
    np.testing.assert_array_equal(X, images)
    np.testing.assert_array_equal(y, [0, 6, 9])


def test_an_archive_of_stl10_that_lacks_a_file_or_a_part_of_it_is_refused(tmp_path):
    _, members = stl10_members()
    write_stl10(tmp_path / "a", members | {"train_y": b"\1"})
    with pytest.raises(InputError, match="should hold 96x96x3 values for each label"):
        stl10(tmp_path / "a")
    write_stl10(tmp_path / "b", {"train_X": members["train_X"]})
    with pytest.raises(InputError, match=r"lacks stl10_binary/train_y\.bin"):
        stl10(tmp_path / "b")
    file = tmp_path / "b/stl10/stl10_binary.tar.gz"
    file.write_bytes(gzip.compress(b"no archive"))
    with pytest.raises(InputError, match="stl10_binary"):
        stl10(tmp_path / "b")
