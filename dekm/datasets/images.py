"""Loaders of image datasets: uint8 or float32 arrays (n, h, w, c) and int64 labels (n,)."""

import math
from pathlib import Path

import numpy as np

from dekm.datasets.streams import unpacked
from dekm.errors import InputError

UINT8 = 0x08
IDX_LIMIT = 2**28


def digits(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's 1,797 handwritten digits, 8x8x1; their 17 grey levels 0..16 scaled to [0, 1]."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return (images / 16).reshape(-1, 8, 8, 1).astype(np.float32), labels.astype(np.int64)


def mnist(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """MNIST, training and test images together: uint8 of shape (70000, 28, 28, 1)."""
    parts = [
        (
            read_idx(raw_dir / f"mnist/{part}-images-idx3-ubyte.gz", ndim=3),
            read_idx(raw_dir / f"mnist/{part}-labels-idx1-ubyte.gz", ndim=1),
        )
        for part in ("train", "t10k")
    ]
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return images[..., np.newaxis], labels.astype(np.int64)


def read_idx(file: Path, *, ndim: int) -> np.ndarray:
    """Read a gzipped idx file of unsigned bytes with `ndim` axes.

    Raises
    ------
    InputError
        If the file does not unpack, or its header and length are not those of such an array.
    """
    with unpacked(file, IDX_LIMIT) as stream:
        content = stream.read()
    header = 4 + 4 * ndim
    if len(content) < header or content[:4] != bytes([0, 0, UINT8, ndim]):
        raise InputError(f"{file} is not an idx file of unsigned bytes with {ndim} axes.")
    shape = tuple(int(side) for side in np.frombuffer(content, ">u4", ndim, offset=4))
    if len(content) - header != math.prod(shape):
        raise InputError(f"{file} holds {len(content) - header} values; its header says {shape}.")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)
