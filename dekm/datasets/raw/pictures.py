"""Untrusted image files, decoded by Pillow."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from PIL import Image

from dekm.errors import InputError
from dekm.files.reading import readable

MAX_PIXELS = 2**26


@contextlib.contextmanager
def picture(source: Path | IO[bytes], file: Path, formats: list[str] | None = None) -> Iterator[Image.Image]:
    """Open an image.

    Parameters
    ----------
    source : Path or binary file
        The image.
    file : Path
        Name of the image in error messages.
    formats : list of str, optional
        Pillow's names of the accepted formats; all formats if None.

    Yields
    ------
    PIL.Image.Image
        The opened image, not yet decoded.

    Raises
    ------
    InputError
        If the image is damaged, has another format or more than `MAX_PIXELS` pixels.
    """
    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    with readable(file, "image", *bombs), Image.open(source, formats=formats) as image:
        if image.width * image.height > MAX_PIXELS:
            raise InputError(f"{file}: {image.width}x{image.height} is more than {MAX_PIXELS} pixels.")
        yield image
