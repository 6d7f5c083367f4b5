"""COIL-20: 128x128 images of 20 objects in 72 poses."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dekm.datasets.dataset import Dataset
from dekm.datasets.raw.archives import zip_members
from dekm.datasets.raw_file import RawFile
from dekm.errors import InputError

ARCHIVE = "coil20/coil-20-proc.zip"
NAME = re.compile(r"(?:.*/)?obj(\d+)__(\d+)\.png", re.ASCII)
SIDE = 128
UNPACKED_LIMIT = 2**28


def coil20(raw_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Load COIL-20, resized to 28x28 and scaled to [0, 1]: float32 images (1440, 28, 28, 1), int64 labels."""
    pixels, labels = read_coil(raw_dir / ARCHIVE)
    return (resize(pixels, 28)[..., np.newaxis] / 255).astype(np.float32), labels


def resize(images: np.ndarray, side: int) -> np.ndarray:
    """Resize grey images (n, h, w) bilinearly to float64: half-pixel centres, without antialiasing."""
    import torch

    exact = torch.from_numpy(images[:, np.newaxis].astype(np.float64))  # float32 depends on the processor
    resized = torch.nn.functional.interpolate(
        exact,
        size=(side, side),
        mode="bilinear",
        align_corners=False,
        antialias=False,
    )
    return resized[:, 0].numpy()


def read_coil(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the archive by object and pose: uint8 images (n, 128, 128), and objects from 0, int64.

    Raises `InputError` if it is damaged or unsafe, or an image has another size or appears twice.
    """
    images: dict[tuple[int, int], np.ndarray] = {}
    for name, png in zip_members(file, UNPACKED_LIMIT):
        match = NAME.fullmatch(name)
        if match is None:
            continue
        key = (int(match[1]), int(match[2]))
        if key in images:
            raise InputError(f"{file}: object {key[0]} in pose {key[1]} appears twice.")
        images[key] = _decode(png, file / name)
    if not images:
        raise InputError(f"{file} has no member named like 'obj1__0.png'.")
    order = sorted(images)
    return np.stack([images[key] for key in order]), np.array([key[0] - 1 for key in order], np.int64)


def content(file: Path) -> Iterator[bytes]:
    """Pixels of each image, by object and pose; they do not depend on how the archive was packed."""
    for image in read_coil(file)[0]:
        yield image.tobytes()


def _decode(png: bytes, file: Path) -> np.ndarray:
    from dekm.datasets.raw.pictures import picture

    with picture(io.BytesIO(png), file, formats=["PNG"]) as image:
        if image.size != (SIDE, SIDE) or image.mode != "L":
            raise InputError(
                f"{file}: {image.mode} image of size {image.size} should be grey, {SIDE}x{SIDE}."
            )
        return np.asarray(image)


COIL_PATH = "databases/SLAM_coil-20_coil-100/coil-20/coil-20-proc.zip"

COIL20 = Dataset(
    label="COIL-20",
    kind="images",
    n_samples=1440,
    n_clusters=20,
    shape=(28, 28, 1),
    loader="dekm.datasets.paper.coil20:coil20",
    licence="research use",
    raw=(
        RawFile(
            "coil20/coil-20-proc.zip",
            (
                f"https://www.cs.columbia.edu/CAVE/{COIL_PATH}",
                f"https://cave.cs.columbia.edu/old/{COIL_PATH}",
            ),
            content_sha256="7274cbacb79ea6c57340827c9f9301745a8e9b3173dea4aa828e00b49c42946c",
            content="dekm.datasets.paper.coil20:content",
        ),
    ),
    class_counts=(72,) * 20,
)
