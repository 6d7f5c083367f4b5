"""Image files, decoded by Pillow."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from PIL import Image

from dekm.datasets.reading import readable
from dekm.errors import InputError

MAX_PIXELS = 2**26


@contextlib.contextmanager
def picture(source: Path | IO[bytes], file: Path, formats: list[str] | None = None) -> Iterator[Image.Image]:
    """An opened image; `file` is its name in the text of an error.

    Raises
    ------
    InputError
        If it is damaged, of another format, or has more than `MAX_PIXELS`.
    """
    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    with readable(file, "image", *bombs), Image.open(source, formats=formats) as image:
        if image.width * image.height > MAX_PIXELS:
            raise InputError(f"{file}: {image.width}x{image.height} is more than {MAX_PIXELS} pixels.")
        yield image
