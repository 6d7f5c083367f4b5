"""Untrusted image files, decoded by Pillow."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from PIL import Image

from dekm.errors import InputError
from dekm.files.reading import readable

MAX_PIXELS = 2**26


class TooLargeError(InputError):
    """An image has more than `MAX_PIXELS` pixels; it need not be damaged."""


@contextlib.contextmanager
def picture(source: Path | IO[bytes], file: Path, formats: list[str] | None = None) -> Iterator[Image.Image]:
    """Open an image, which is not decoded yet; `file` is its name in messages, `formats` are Pillow's names.

    Raises `InputError` if it is damaged, has another format or more than `MAX_PIXELS` pixels.
    """
    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    with readable(file, "image", *bombs), Image.open(source, formats=formats) as image:
        if image.width * image.height > MAX_PIXELS:
            raise TooLargeError(f"{file}: {image.width}x{image.height} is more than {MAX_PIXELS} pixels.")
        yield image
