"""A user's folder of images."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from dekm.datasets.dataset import Loaded
from dekm.datasets.raw.pictures import MAX_PIXELS, TooLargeError, picture
from dekm.datasets.user.features import as_samples
from dekm.datasets.user.folders import IMAGE_SUFFIXES, first_names, list_files, log_ignored
from dekm.errors import InputError, shown

logger = logging.getLogger(__name__)

MODES = {1: "L", 3: "RGB"}
LARGEST_SIDE = 2**12
TIFF_STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


@dataclass
class Findings:
    """What is told of the images that were read, by file: `cut` ones had 16 bits per channel of colour.

    `damaged` and `unknown` have what is wrong with those that are damaged, and that are sound but not read.
    """

    transparent: list[Path] = field(default_factory=list)
    paged: list[Path] = field(default_factory=list)
    cut: list[Path] = field(default_factory=list)
    damaged: dict[Path, str] = field(default_factory=dict)
    unknown: dict[Path, str] = field(default_factory=dict)


def images(
    raw_dir: Path, *, path: str, image_size: Any = None, channels: int = 3, skip_damaged: bool = False
) -> Loaded:
    """Load the images of a folder, sorted by path; of a file of several pages or frames, the first.

    Images of 8 bits per channel are uint8; grey ones of 16 or 32 bits or of floats are float32, with their
    own values.

    Parameters
    ----------
    path : str
        Folder of images, see `list_files`.
    image_size : int or [int, int], optional
        Side, or height and width, to which all images are resized; required if their sizes differ.
    channels : {3, 1}, default=3
        3 converts all images to RGB, 1 to grey; transparent pixels become white first.
    skip_damaged : bool, default=False
        Whether to leave out images that are damaged.

    Raises
    ------
    InputError
        If an option is invalid, an image cannot be read, or sizes or depths differ.
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
        if image.dtype != pixels[0].dtype:
            bits = ["8 bits" if array.dtype == np.uint8 else "more" for array in (image, pixels[0])]
            raise InputError(
                f"{file} has {bits[0]} per pixel, {files[0]} {bits[1]}: their grey values cannot be "
                "compared; convert them to one depth."
            )
        if not np.isfinite(image).all():
            raise InputError(f"{file}: a pixel is not a finite number; fill it, for example with 0.")
        if image.shape != pixels[0].shape:
            raise InputError(
                f"{file}: shape {image.shape[:2]} differs from that of {files[0]}, {pixels[0].shape[:2]}; "
                "set image_size."
            )
    X = np.stack(pixels).reshape(len(pixels), *pixels[0].shape[:2], channels)
    if X.dtype != np.uint8:
        logger.info("%s: grey values from %g to %g", folder, X.min(), X.max())
    return Loaded(as_samples(X, folder), y, [str(file) for file in files])


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
            if getattr(image, "n_frames", 1) > 1:
                findings.paged.append(file)
            if any(";16" in str(tile[3]) for tile in getattr(image, "tile", ())) and not _is_deep(image):
                findings.cut.append(file)
            upright = ImageOps.exif_transpose(image)
            if _is_deep(upright):  # Pillow resizes floats, and would cut all else to 8 bits
                upright = Image.fromarray(np.asarray(upright).astype(np.float32))
            else:
                upright = _on_white(upright, file, findings).convert(mode)
            if size is not None:
                upright = upright.resize((size[1], size[0]), Image.Resampling.BILINEAR)
            pixels = np.asarray(upright)
            return np.stack([pixels] * len(mode), axis=-1) if _is_deep(upright) else pixels
    except InputError as error:
        is_unknown = isinstance(error.__cause__, UnidentifiedImageError) and _is_tiff(file)
        is_unknown = is_unknown or isinstance(error, TooLargeError)
        (findings.unknown if is_unknown else findings.damaged)[file] = str(error)
        return None


def _is_deep(image: Image.Image) -> bool:
    """Whether an image is grey with more than 8 bits per pixel."""
    return image.mode.startswith(("I", "F"))


def _is_tiff(file: Path) -> bool:
    """Whether a file starts as a TIFF, of whose many forms Pillow reads the usual ones."""
    with file.open("rb") as stream:
        return stream.read(4) in TIFF_STARTS


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
    """Log what was found; `InputError` if images are damaged, unless they are skipped and others are left."""
    if findings.unknown:
        first = next(iter(findings.unknown.values()))
        raise InputError(
            f"{folder}: {len(findings.unknown)} of {n_files} images have a form that cannot be read; convert "
            f"them, for example to PNG or to a TIFF of one grey channel and at most {MAX_PIXELS} pixels. The "
            f"first: {first}"
        )
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
        ("16 bits per channel of colour were read as 8", findings.cut),
    ):
        if files:
            logger.warning("%s: %s: %s", folder, text, first_names(folder, files))
