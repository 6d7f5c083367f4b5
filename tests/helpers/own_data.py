"""Small data of a user, prepared."""

from PIL import Image

from dekm.datasets import prepared
from dekm.datasets.user.own import own_dataset


def prepare(tmp_path, block, **options):
    dataset = own_dataset("mine", {"n_clusters": 2, **block})
    prepared.prepare(dataset, tmp_path / "raw", tmp_path / "prepared", **options)
    return prepared.load(tmp_path / "prepared")


def save_image(file, size, colour, mode="RGB"):
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(file)
