"""A user's folders: the images or texts in one folder, unlabelled, or in one subfolder per class."""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from dekm.datasets.labels import label_vector
from dekm.errors import InputError

logger = logging.getLogger(__name__)

IMAGE_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
TEXT_SUFFIXES = (".txt",)
WINDOWS_FILES = {"desktop.ini", "thumbs.db"}
MODES = {1: "L", 3: "RGB"}


def images(
    raw_dir: Path, *, path: str, image_size: Any = None, channels: int = 3
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
        3 converts all images to RGB, 1 to grey.

    Returns
    -------
    X : ndarray of shape (n, h, w, channels)
        Images, uint8.
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
        raise InputError(f"channels={channels!r} should be 1 or 3.")
    size = _size(image_size)
    files, y = list_files(Path(path), IMAGE_SUFFIXES)
    log_ignored(Path(path), IMAGE_SUFFIXES)
    pixels = [_read_image(file, MODES[channels], size) for file in files]
    for file, image in zip(files, pixels, strict=True):
        if image.shape != pixels[0].shape:
            raise InputError(
                f"{file}: shape {image.shape[:2]} differs from that of {files[0]}, {pixels[0].shape[:2]}; "
                "set image_size."
            )
    X = np.stack(pixels).reshape(len(pixels), *pixels[0].shape[:2], channels)
    return X, y, [str(file) for file in files]


def list_files(folder: Path, suffixes: tuple[str, ...]) -> tuple[list[Path], np.ndarray | None]:
    """List the files of a folder, or of its subfolders, one per class.

    Parameters
    ----------
    folder : Path
        The folder.
    suffixes : tuple of str
        Endings of the file names to list, in lower case.

    Returns
    -------
    files : list of Path
        The files, sorted by path.
    y : ndarray of shape (n,) or None
        Labels: the names of the subfolders; None if there are no subfolders.

    Raises
    ------
    InputError
        If there are no such files, or they are at different depths.
    """
    files = [file for file in visible_files(folder) if file.suffix.lower() in suffixes]
    if not files:
        raise InputError(f"{folder} holds no file that ends with {', '.join(suffixes)}.")
    depth = len(files[0].relative_to(folder).parts)
    for file in files:
        if len(file.relative_to(folder).parts) != depth or depth > 2:
            raise InputError(
                f"{file}: all files should be in {folder}, or all in one subfolder of it per class."
            )
    return files, None if depth == 1 else label_vector([file.parent.name for file in files], folder)


def visible_files(folder: Path) -> list[Path]:
    """All files in a folder and its subfolders without hidden files and system files.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    list of Path
        The files, sorted by path.
    """
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file()
        and file.name.lower() not in WINDOWS_FILES
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def log_ignored(folder: Path, suffixes: tuple[str, ...]) -> None:
    """Log a warning that names the first files of a folder with other endings.

    Parameters
    ----------
    folder : Path
        The folder.
    suffixes : tuple of str
        Endings of the files that are not ignored, in lower case.
    """
    ignored = [file for file in visible_files(folder) if file.suffix.lower() not in suffixes]
    if ignored:
        named = ", ".join(str(file.relative_to(folder)) for file in ignored[:5])
        more = f" and {len(ignored) - 5} more" if len(ignored) > 5 else ""
        logger.warning("%s: ignored, not ending with %s: %s%s", folder, ", ".join(suffixes), named, more)


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
        raise InputError(
            f"image_size={image_size!r} should be an integer from 1 to 4096, or [height, width]."
        )
    return sides[0], sides[1]


def _read_image(file: Path, mode: str, size: tuple[int, int] | None) -> np.ndarray:
    from PIL import Image, ImageOps

    from dekm.datasets.raw.pictures import picture

    with picture(file, file) as image:
        if image.mode.startswith(("I", "F")):
            raise InputError(f"{file}: an image of mode {image.mode!r} should have 8 bits per channel.")
        upright = ImageOps.exif_transpose(image).convert(mode)
        if size is not None:
            upright = upright.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        return np.asarray(upright)
