"""Vectors of the UCI repository: Pendigits, Letter and HAR."""

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from dekm.datasets.dataset import Dataset
from dekm.datasets.labels import encode_labels
from dekm.datasets.raw.archives import zip_members
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError
from dekm.files.reading import readable

UNPACKED_LIMIT = 2**29
UCI = "https://archive.ics.uci.edu/"


def pendigits(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load Pendigits, training then test digits: float32 (10992, 16), 8 points of a pen in [0, 100]."""
    file = raw_dir / "pendigits/pendigits.zip"
    parts = [_numbers(text, file, ",") for text in _members(file, ("pendigits.tra", "pendigits.tes"))]
    values = _stacked(parts, file)
    return values[:, :-1], values[:, -1].astype(np.int64)


def letter(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load Letter: float32 (20000, 16), integers in [0, 15] that describe the image, and letters."""
    file = raw_dir / "letter/letter-recognition.data"
    with readable(file, "table of letters"):
        letters, numbers = zip(
            *(line.split(b",", 1) for line in file.read_bytes().splitlines() if line), strict=True
        )
    return _numbers(b"\n".join(numbers), file, ","), encode_labels(np.array(letters), file)


def har(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load HAR, training then test windows: float32 (10299, 561), features in [-1, 1], and activities."""
    file = raw_dir / "har/UCI_HAR_Dataset.zip"
    names = [f"UCI HAR Dataset/{part}/{kind}_{part}.txt" for kind in "Xy" for part in ("train", "test")]
    parts = [_numbers(text, file) for text in _members(file, names)]
    return _stacked(parts[:2], file), encode_labels(_stacked(parts[2:], file), file)


def _members(file: Path, names: Iterable[str]) -> list[bytes]:
    """The contents of some files in an archive."""
    found = dict(zip_members(file, UNPACKED_LIMIT))
    if missing := [name for name in names if name not in found]:
        raise InputError(f"{file} lacks {missing[0]}.")
    return [found[name] for name in names]


def _numbers(text: bytes, file: Path, separator: str | None = None) -> np.ndarray:
    with readable(file, "table of numbers"):
        return np.loadtxt(io.BytesIO(text), np.float32, delimiter=separator, ndmin=2)


def _stacked(parts: list[np.ndarray], file: Path) -> np.ndarray:
    with readable(file, "table of numbers"):
        return np.concatenate(parts)


PENDIGITS = Dataset(
    label="Pendigits",
    kind="table",
    n_samples=10_992,
    n_clusters=10,
    shape=(16,),
    loader="dekm.datasets.field.vectors:pendigits",
    licence="CC BY 4.0 (UCI, Pen-Based Recognition of Handwritten Digits)",
    raw=(
        RawFile(
            "pendigits/pendigits.zip",
            (f"{UCI}static/public/81/pen+based+recognition+of+handwritten+digits.zip",),
            "1e02bea023613c2b11c9492f6f34caf975420455934f3527d270cee9a1f03b64",
            content=None,
        ),
    ),
    class_counts=(1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055),
    scaling="auto",
)
LETTER = Dataset(
    label="Letter",
    kind="table",
    n_samples=20_000,
    n_clusters=26,
    shape=(16,),
    loader="dekm.datasets.field.vectors:letter",
    licence="CC BY 4.0 (UCI, Letter Recognition)",
    raw=(
        RawFile(
            "letter/letter-recognition.data",
            (f"{UCI}ml/machine-learning-databases/letter-recognition/letter-recognition.data",),
            "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
            content=None,
        ),
    ),
    class_counts=(
        *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
        *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
    ),
    scaling="auto",
)
HAR = Dataset(
    label="HAR",
    kind="table",
    n_samples=10_299,
    n_clusters=6,
    shape=(561,),
    loader="dekm.datasets.field.vectors:har",
    licence="CC BY 4.0 (UCI, Human Activity Recognition Using Smartphones)",
    raw=(
        RawFile(
            "har/UCI_HAR_Dataset.zip",
            (f"{UCI}ml/machine-learning-databases/00240/UCI%20HAR%20Dataset.zip",),
            "2045e435c955214b38145fb5fa00776c72814f01b203fec405152dac7d5bfeb0",
            content=None,
            max_bytes=2**27,
        ),
    ),
    class_counts=(1722, 1544, 1406, 1777, 1906, 1944),
    scaling="auto",
)
