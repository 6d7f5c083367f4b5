"""MNIST: 70,000 handwritten digits, from four idx files."""

from pathlib import Path

import numpy as np

from dekm.datasets.dataset import Dataset
from dekm.datasets.raw import idx
from dekm.datasets.raw.archives import unpacked
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError

IDX_LIMIT = 2**28


def mnist(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load MNIST, training then test images: uint8 (70000, 28, 28, 1) and int64 labels."""
    return read_parts(raw_dir / "mnist")


def read_parts(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the four files of MNIST or of a dataset in its form, training then test images."""
    parts = [
        (
            read_idx(folder / f"{part}-images-idx3-ubyte.gz", ndim=3),
            read_idx(folder / f"{part}-labels-idx1-ubyte.gz", ndim=1),
        )
        for part in ("train", "t10k")
    ]
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return images[..., np.newaxis], labels.astype(np.int64)


def read_idx(file: Path, *, ndim: int) -> np.ndarray:
    """Read a gzipped idx file of unsigned bytes.

    Raises `InputError` if the file cannot be unpacked, or its header or length does not match such an array.
    """
    with unpacked(file, IDX_LIMIT) as stream:
        values = idx.read_values(stream, file)
    if values.dtype != np.uint8 or values.ndim != ndim:
        raise InputError(f"{file} is not an idx file of unsigned bytes with {ndim} axes.")
    return values


MNIST_URLS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)


def _mnist_file(name: str, sha256: str, content_sha256: str) -> RawFile:
    urls = tuple(base + name for base in MNIST_URLS)
    return RawFile(f"mnist/{name}", urls, sha256, content_sha256)


MNIST = Dataset(
    label="MNIST",
    kind="images",
    n_samples=70_000,
    n_clusters=10,
    shape=(28, 28, 1),
    loader="dekm.datasets.paper.mnist:mnist",
    licence="CC BY-SA 3.0",
    raw=(
        _mnist_file(
            "train-images-idx3-ubyte.gz",
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ),
        _mnist_file(
            "train-labels-idx1-ubyte.gz",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
        _mnist_file(
            "t10k-images-idx3-ubyte.gz",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ),
        _mnist_file(
            "t10k-labels-idx1-ubyte.gz",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ),
    class_counts=(6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
)
