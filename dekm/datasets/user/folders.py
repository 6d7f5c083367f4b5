"""A user's folders of images or texts: flat and unlabelled, or one folder for each class."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.labels import encode_labels
from dekm.datasets.reading import readable
from dekm.datasets.tfidf import Scaling, Texts
from dekm.errors import InputError

logger = logging.getLogger(__name__)

IMAGE_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
TEXT_SUFFIXES = (".txt",)
LEFT_BY_WINDOWS = {"desktop.ini", "thumbs.db"}
MODES = {1: "L", 3: "RGB"}


def images(
    raw_dir: Path, *, path: str, image_size: Any = None, channels: int = 3
) -> tuple[np.ndarray, np.ndarray | None]:
    """Images as uint8 (n, h, w, channels), in the order of their paths.

    Parameters
    ----------
    image_size : a side or [height, width] to which every image is resized; None if all have one size
    channels : 1 for grey, 3 for colour; grey images are repeated, colour images become grey

    Raises
    ------
    InputError
        If an option is wrong, a file is no image of 8 bits, or sizes differ; the text names the file.
    """
    if channels not in MODES or isinstance(channels, bool):
        raise InputError(f"channels={channels!r} should be 1 or 3.")
    size = _size(image_size)
    files, y = list_files(Path(path), IMAGE_SUFFIXES)
    _log_ignored(Path(path), IMAGE_SUFFIXES)
    pixels = [_read_image(file, MODES[channels], size) for file in files]
    for file, image in zip(files, pixels, strict=True):
        if image.shape != pixels[0].shape:
            raise InputError(
                f"{file}: an image of {image.shape[:2]} differs from {files[0]} of {pixels[0].shape[:2]}; "
                "set image_size."
            )
    return np.stack(pixels).reshape(len(pixels), *pixels[0].shape[:2], channels), y


def texts(
    raw_dir: Path, *, path: str, stem: bool = False, scaling: Scaling = "unit"
) -> tuple[Texts, np.ndarray | None]:
    """The texts of ``.txt`` files in UTF-8, in the order of their paths."""
    files, y = list_files(Path(path), TEXT_SUFFIXES)
    _log_ignored(Path(path), TEXT_SUFFIXES)
    documents = []
    for file in files:
        with readable(file, "text in UTF-8"):
            documents.append(file.read_text(encoding="utf-8-sig"))
    return Texts(documents, stem, scaling), y


def list_files(folder: Path, suffixes: tuple[str, ...]) -> tuple[list[Path], np.ndarray | None]:
    """Sorted files with one of `suffixes`, and the number of each one's class folder; None if it is flat.

    Raises
    ------
    InputError
        If there are none, or they lie at different depths.
    """
    files = [file for file in visible_files(folder) if file.suffix.lower() in suffixes]
    if not files:
        raise InputError(f"{folder} holds no file that ends in {', '.join(suffixes)}.")
    depth = len(files[0].relative_to(folder).parts)
    for file in files:
        if len(file.relative_to(folder).parts) != depth or depth > 2:
            raise InputError(
                f"{file} should lie in {folder} like all others, or in one folder for each class."
            )
    return files, None if depth == 1 else encode_labels([file.parent.name for file in files], folder)


def visible_files(folder: Path) -> list[Path]:
    """All files in a folder and below, sorted, but for those that systems hide."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file()
        and file.name.lower() not in LEFT_BY_WINDOWS
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def _log_ignored(folder: Path, suffixes: tuple[str, ...]) -> None:
    ignored = [file for file in visible_files(folder) if file.suffix.lower() not in suffixes]
    if ignored:
        named = ", ".join(str(file.relative_to(folder)) for file in ignored[:5])
        more = f" and {len(ignored) - 5} more" if len(ignored) > 5 else ""
        logger.warning("%s: ignored, not ending in %s: %s%s", folder, ", ".join(suffixes), named, more)


def _size(image_size: Any) -> tuple[int, int] | None:
    if image_size is None:
        return None
    sides = [image_size, image_size] if isinstance(image_size, int) else image_size
    if (
        not isinstance(sides, list | tuple)
        or len(sides) != 2
        or not all(
            isinstance(side, int) and not isinstance(side, bool) and 0 < side <= 2**12 for side in sides
        )
    ):
        raise InputError(f"image_size={image_size!r} should be a side from 1 to 4096, or [height, width].")
    return sides[0], sides[1]


def _read_image(file: Path, mode: str, size: tuple[int, int] | None) -> np.ndarray:
    from PIL import Image, ImageOps

    from dekm.datasets.raw.pictures import picture

    with picture(file, file) as image:
        if image.mode.startswith(("I", "F")):
            raise InputError(f"{file}: an image of mode {image.mode!r} should have 8 bits a channel.")
        upright = ImageOps.exif_transpose(image).convert(mode)
        if size is not None:
            upright = upright.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        return np.asarray(upright)
