"""A user's folder of images."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from dekm.datasets.raw.pictures import picture
from dekm.datasets.user.folders import IMAGE_SUFFIXES, first_names, list_files, log_ignored
from dekm.errors import InputError, shown

logger = logging.getLogger(__name__)

MODES = {1: "L", 3: "RGB"}
LARGEST_SIDE = 2**12


@dataclass
class Findings:
    """What is told of the images that were read.

    Attributes
    ----------
    transparent : list of Path
        Images with transparent pixels.
    paged : list of Path
        Images with further pages or frames.
    damaged : dict of Path to str
        What is wrong with the images that cannot be read.
    """

    transparent: list[Path] = field(default_factory=list)
    paged: list[Path] = field(default_factory=list)
    damaged: dict[Path, str] = field(default_factory=dict)


def images(
    raw_dir: Path, *, path: str, image_size: Any = None, channels: int = 3, skip_damaged: bool = False
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Load the images of a folder, sorted by path.

    Parameters
    ----------
    raw_dir : Path
        Ignored.
    path : str
        Folder of images, see `list_files`.
    image_size : int or [int, int], optional
        Side, or height and width, to which all images are resized; required if their sizes differ.
    channels : {3, 1}, default=3
        3 converts all images to RGB, 1 to grey; transparent pixels become white first.
    skip_damaged : bool, default=False
        Whether to leave out images that cannot be read.

    Returns
    -------
    X : ndarray of shape (n, h, w, channels)
        Images, uint8; of a file of several pages or frames, the first.
    y : ndarray of shape (n,) or None
        Labels; None for unlabelled data.
    names : list of str
        The files.

    Raises
    ------
    InputError
        If an option is invalid, a file is not an image with 8 bits per channel, or sizes differ.
    """
    if channels not in MODES or isinstance(channels, bool):
        raise InputError(f"channels={shown(channels)} should be 1 or 3.")
    if not isinstance(skip_damaged, bool):
        raise InputError(f"skip_damaged={shown(skip_damaged)} should be true or false.")
    size, findings = _size(image_size), Findings()
    folder = Path(path)
    files, y = list_files(folder, IMAGE_SUFFIXES)
    log_ignored(folder, IMAGE_SUFFIXES)
    read = [_read_image(file, MODES[channels], size, findings) for file in files]
    _tell(folder, findings, len(files), skip_damaged=skip_damaged)
    whole = [i for i, image in enumerate(read) if image is not None]
    files, y = [files[i] for i in whole], None if y is None else y[whole]
    pixels = [image for image in read if image is not None]
    for file, image in zip(files, pixels, strict=True):
        if image.shape != pixels[0].shape:
            raise InputError(
                f"{file}: shape {image.shape[:2]} differs from that of {files[0]}, {pixels[0].shape[:2]}; "
                "set image_size."
            )
    X = np.stack(pixels).reshape(len(pixels), *pixels[0].shape[:2], channels)
    return X, y, [str(file) for file in files]


def _size(image_size: Any) -> tuple[int, int] | None:
    if image_size is None:
        return None
    sides = [image_size, image_size] if isinstance(image_size, int) else image_size
    if (
        not isinstance(sides, list | tuple)
        or len(sides) != 2
        or not all(type(side) is int and 0 < side <= LARGEST_SIDE for side in sides)
    ):
        raise InputError(
            f"image_size={shown(image_size)} should be an integer from 1 to {LARGEST_SIDE}, or "
            "[height, width]."
        )
    return sides[0], sides[1]


def _read_image(file: Path, mode: str, size: tuple[int, int] | None, findings: Findings) -> np.ndarray | None:
    """The pixels of an image; None, with an entry in the findings, if it cannot be read."""
    try:
        with picture(file, file) as image:
            if image.mode.startswith(("I", "F")):
                raise InputError(
                    f"{file}: an image of mode {shown(image.mode)} should have 8 bits per channel."
                )
            upright = _on_white(ImageOps.exif_transpose(image), file, findings).convert(mode)
            if size is not None:
                upright = upright.resize((size[1], size[0]), Image.Resampling.BILINEAR)
            if getattr(image, "n_frames", 1) > 1:
                findings.paged.append(file)
            return np.asarray(upright)
    except InputError as error:
        findings.damaged[file] = str(error)
        return None


def _on_white(image: Image.Image, file: Path, findings: Findings) -> Image.Image:
    """An image over a white background, if some of its pixels are transparent."""
    if not image.has_transparency_data:
        return image
    layers = image.convert("RGBA")
    if layers.getchannel("A").getextrema() == (255, 255):
        return image
    findings.transparent.append(file)
    return Image.alpha_composite(Image.new("RGBA", layers.size, "white"), layers).convert("RGB")


def _tell(folder: Path, findings: Findings, n_files: int, *, skip_damaged: bool) -> None:
    """Log what was found.

    Raises
    ------
    InputError
        If images are damaged, unless they are skipped and others are left.
    """
    damaged = list(findings.damaged)
    if damaged and (not skip_damaged or len(damaged) == n_files):
        reasons = "\n  ".join(findings.damaged.values())
        hint = "" if skip_damaged else " Set skip_damaged to true to go on without them."
        if len(damaged) == 1:
            raise InputError(f"{reasons}{hint.replace('them', 'it')}")
        raise InputError(f"{folder}: {len(damaged)} of {n_files} images cannot be read.{hint}\n  {reasons}")
    for text, files in (
        ("left out, because they cannot be read", damaged),
        ("transparent pixels became white", findings.transparent),
        ("only the first page or frame was read", findings.paged),
    ):
        if files:
            logger.warning("%s: %s: %s", folder, text, first_names(folder, files))
