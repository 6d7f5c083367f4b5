"""Small data of a user, prepared."""

from PIL import Image

from dekm.datasets import preparation, prepared
from dekm.datasets.user.own import own_dataset
from tests.helpers.prepared_files import files


def prepare(tmp_path, block, **options):
    """Prepare the data of a block of settings; samples, labels and facts as they are read back."""
    dataset = own_dataset("mine", {"n_clusters": 2, **block})
    data = files(tmp_path / "prepared")
    preparation.prepare(dataset, tmp_path / "raw", **data, **options)
    return prepared.load(**data)


def save_image(file, size, colour, mode="RGB"):
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(file)
