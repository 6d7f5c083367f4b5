"""Images: Fashion-MNIST and KMNIST in the form of MNIST, and the labelled images of STL-10."""

from pathlib import Path

import numpy as np

from dekm.datasets.dataset import Dataset
from dekm.datasets.paper.mnist import read_parts
from dekm.datasets.raw.archives import LIMIT, tar_members
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError

STL10_ARCHIVE = "stl10/stl10_binary.tar.gz"
STL10_SHAPE = (3, 96, 96)  # of an image in the file, whose columns come first


def fashion_mnist(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load Fashion-MNIST, training then test images: uint8 (70000, 28, 28, 1) and int64 labels."""
    return read_parts(raw_dir / "fashion_mnist")


def kmnist(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load KMNIST, training then test images: uint8 (70000, 28, 28, 1) and int64 labels."""
    return read_parts(raw_dir / "kmnist")


def stl10(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load the labelled images of STL-10, training then test: uint8 (13000, 96, 96, 3), labels from 0.

    Raises `InputError` if the archive lacks one of their files, or a file has another length.
    """
    file, parts = raw_dir / STL10_ARCHIVE, ("train_X", "train_y", "test_X", "test_y")
    paths = [f"stl10_binary/{part}.bin" for part in parts]
    found = dict(tar_members(file, LIMIT, paths))
    if missing := [path for path in paths if path not in found]:
        raise InputError(f"{file} lacks {missing[0]}.")
    values = [np.frombuffer(found[path], np.uint8) for path in paths]
    if any(pixels.size != labels.size * np.prod(STL10_SHAPE) for pixels, labels in (values[:2], values[2:])):
        raise InputError(f"{file} should hold 96x96x3 values for each label.")
    images, labels = np.concatenate(values[::2]), np.concatenate(values[1::2])
    X = images.reshape(-1, *STL10_SHAPE).transpose(0, 3, 2, 1)
    return np.ascontiguousarray(X), labels.astype(np.int64) - 1


def _in_the_form_of_mnist(
    label: str, key: str, licence: str, bases: tuple[str, ...], checksums: dict[str, str]
) -> Dataset:
    raw = (
        RawFile(f"{key}/{name}", tuple(base + name for base in bases), sha256, content=None)
        for name, sha256 in checksums.items()
    )
    loader = f"dekm.datasets.field.images:{key}"
    counts = (7000,) * 10
    return Dataset(label, "images", 70_000, 10, (28, 28, 1), loader, licence, tuple(raw), counts)


FASHION_MNIST = _in_the_form_of_mnist(
    "Fashion-MNIST",
    "fashion_mnist",
    "MIT",
    (
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    ),
    {
        "train-images-idx3-ubyte.gz": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        "train-labels-idx1-ubyte.gz": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "t10k-images-idx3-ubyte.gz": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "t10k-labels-idx1-ubyte.gz": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    },
)
KMNIST = _in_the_form_of_mnist(
    "KMNIST",
    "kmnist",
    "CC BY-SA 4.0",
    (
        "https://codh.rois.ac.jp/kmnist/dataset/kmnist/",
        "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
    ),
    {
        "train-images-idx3-ubyte.gz": "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
        "train-labels-idx1-ubyte.gz": "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
        "t10k-images-idx3-ubyte.gz": "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
        "t10k-labels-idx1-ubyte.gz": "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
    },
)
STL10 = Dataset(
    label="STL-10",
    kind="images",
    n_samples=13_000,
    n_clusters=10,
    shape=(96, 96, 3),
    loader="dekm.datasets.field.images:stl10",
    licence="none stated by its collectors; images from ImageNet",
    raw=(
        RawFile(
            STL10_ARCHIVE,
            (
                "https://cs.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
                "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
            ),
            "f31fd99273a1acb8609c8db427cebb1de3f71de77758cdc0e22956e1289b9866",
            content=None,
            max_bytes=2**32,
        ),
    ),
    class_counts=(1300,) * 10,
)
