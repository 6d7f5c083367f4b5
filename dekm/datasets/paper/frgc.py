"""FRGC: 2,462 faces of 20 persons, from the HDF5 file of JULE (Yang, Parikh and Batra, 2016) or of DEKM."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dekm.datasets.dataset import Dataset, RawSet
from dekm.datasets.labels import encode_labels
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError

N_SAMPLES, N_PERSONS, SIDE, N_CHANNELS = 2462, 20, 32, 3


def from_jule(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load FRGC from the file of JULE: uint8 images (2462, 32, 32, 3) and int64 labels."""
    return read_faces(raw_dir / "frgc/data4torch.h5")


def from_dekm(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load FRGC from the file of the authors of DEKM: uint8 images (2462, 32, 32, 3) and int64 labels."""
    return read_faces(raw_dir / "frgc/FRGC.h5")


def read_faces(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read an HDF5 file: ``data``, (n, 3, 32, 32) or (n, 32, 32, 3) in [0, 255] or [0, 1], and ``labels``.

    The images (n, 32, 32, 3) are uint8 if the values are integers from 0 to 255, otherwise float32 in [0, 1];
    the labels are 0, 1, ..., int64. Raises `InputError` if the file is damaged, or its arrays have another
    shape or values out of range.
    """
    from dekm.datasets.raw.hdf5 import read_hdf5

    data, labels = read_hdf5(file, "data", "labels")
    channels_first = (N_CHANNELS, SIDE, SIDE)
    if data.shape[1:] not in (channels_first, (SIDE, SIDE, N_CHANNELS)):
        raise InputError(f"{file}: data of shape {data.shape} should be (n, 3, 32, 32) or (n, 32, 32, 3).")
    if labels.size != len(data) or not len(data):
        raise InputError(f"{file}: {labels.size} labels for {len(data)} images.")
    if not ((data >= 0) & (data <= 255)).all():
        raise InputError(f"{file}: values should be from 0 to 255.")
    images = np.moveaxis(data, 1, 3) if data.shape[1:] == channels_first else data
    return _pixels(images), encode_labels(labels, file)


def content(file: Path) -> Iterator[bytes]:
    """All decoded images, then all labels, checked against the 2,462 images of 20 persons of FRGC."""
    images, labels = read_faces(file)
    n_persons = len(np.unique(labels))
    if (len(images), n_persons) != (N_SAMPLES, N_PERSONS):
        raise InputError(
            f"{file}: {len(images)} images of {n_persons} persons should be {N_SAMPLES} of {N_PERSONS}."
        )
    yield images.tobytes()
    yield labels.tobytes()


def _pixels(images: np.ndarray) -> np.ndarray:
    if images.max() > 1 and (images == np.round(images)).all():
        return np.ascontiguousarray(images.astype(np.uint8))
    scale = 255 if images.max() > 1 else 1
    return np.ascontiguousarray((images / scale).astype(np.float32))


FRGC = Dataset(
    label="FRGC",
    kind="images",
    n_samples=2462,
    n_clusters=20,
    shape=(32, 32, 3),
    loader="dekm.datasets.paper.frgc:from_jule",
    licence="NIST agreement, not redistributable",
    raw=(
        RawFile(
            "frgc/data4torch.h5",
            ("https://github.com/jwyang/JULE.torch/raw/69bdfd8/datasets/FRGC/data4torch.h5",),
            git_blob="91e200768b454a6c238c5cb4abf16e756e6e9649",
            content=None,
            max_bytes=2**29,
        ),
    ),
    alternatives=(
        RawSet(
            "dekm.datasets.paper.frgc:from_dekm",
            (RawFile("frgc/FRGC.h5", (), content="dekm.datasets.paper.frgc:content"),),
        ),
    ),
    restricted=True,
)
