"""USPS: 9,298 digits, from LIBSVM's text files or the authors' HDF5 file, which give the same array."""

import io
from pathlib import Path

import numpy as np

from dekm.datasets.dataset import Dataset, RawSet
from dekm.datasets.labels import encode_labels
from dekm.datasets.raw.archives import unpacked
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError
from dekm.files.reading import readable

N_PIXELS = 256
LEVELS = 2000  # every grey value is a multiple of 1 / LEVELS
UNPACKED_LIMIT = 2**28


def from_libsvm(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load USPS from LIBSVM's files, training digits first; a value v in [-1, 1] becomes (v + 1) / 2."""
    return _together([read_libsvm(raw_dir / f"usps/{part}.bz2") for part in ("usps", "usps.t")])


def from_hdf5(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load USPS from the authors' HDF5 file, training digits first: float32 (9298, 16, 16, 1) in [0, 1].

    Raises `InputError` if the file is damaged, or its arrays have another shape or values out of range.
    """
    from dekm.datasets.raw.hdf5 import read_hdf5

    file = raw_dir / "usps/USPS.h5"
    arrays = read_hdf5(file, "train/data", "train/target", "test/data", "test/target")
    for values, labels in (arrays[:2], arrays[2:]):
        if values.shape != (labels.size, N_PIXELS):
            raise InputError(
                f"{file}: data of shape {values.shape} should be ({labels.size}, {N_PIXELS}), one per label."
            )
    return _together([(_grey(arrays[i], file), encode_labels(arrays[i + 1], file)) for i in (0, 2)])


def read_libsvm(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read digits in LIBSVM's text format, compressed: float32 (n, 256) in [0, 1], and labels 0 to 9, int64.

    Raises `InputError` if the file cannot be unpacked or has another format, or a feature number, value or
    label is out of range.
    """
    from sklearn.datasets import load_svmlight_file

    with unpacked(file, UNPACKED_LIMIT) as stream:
        text = stream.read()
    with readable(file, "LIBSVM file"):
        rows, labels = load_svmlight_file(io.BytesIO(text), n_features=N_PIXELS, zero_based=False)
    if len(text.splitlines()) != len(labels) or not len(labels):
        raise InputError(f"{file}: {len(labels)} rows were read from {len(text.splitlines())} lines.")
    if not np.isin(labels, np.arange(1, 11)).all():
        raise InputError(f"{file}: labels should be integers from 1 to 10.")
    return _grey((rows.toarray() + 1) / 2, file), labels.astype(np.int64) - 1


def _grey(values: np.ndarray, file: Path) -> np.ndarray:
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        row, pixel = (int(i) for i in np.argwhere(wrong)[0])
        raise InputError(
            f"{file}: row {row + 1}, pixel {pixel + 1}: grey value {values[row, pixel]} should be in [0, 1]."
        )
    return (np.round(values.astype(np.float64) * LEVELS) / LEVELS).astype(np.float32)


def _together(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return images.reshape(-1, 16, 16, 1), labels


LIBSVM_URL = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"

USPS = Dataset(
    label="USPS",
    kind="images",
    n_samples=9298,
    n_clusters=10,
    shape=(16, 16, 1),
    loader="dekm.datasets.paper.usps:from_libsvm",
    licence="none stated by its collectors",
    raw=(
        RawFile(
            "usps/usps.bz2",
            (LIBSVM_URL + "usps.bz2",),
            sha256="3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f",
            content=None,
        ),
        RawFile(
            "usps/usps.t.bz2",
            (LIBSVM_URL + "usps.t.bz2",),
            sha256="a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e",
            content=None,
        ),
    ),
    class_counts=(1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821),
    alternatives=(
        RawSet(
            "dekm.datasets.paper.usps:from_hdf5",
            (
                RawFile(
                    "usps/USPS.h5",
                    (),
                    sha256="734f88c541104a956d88be2c95d03b4a463ffd74ccc2ba9c80841fb98e3fcb36",
                    content=None,
                ),
            ),
        ),
    ),
)
