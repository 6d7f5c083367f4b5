"""The images of a page: one sheet of all samples, and a row of the decoded centers."""

import io
from typing import NamedTuple

import numpy as np
from PIL import Image

MAX_PIXELS = 16_000_000  # of a sheet: larger ones do not fit into the memory of a phone
MAX_SIDE = 64  # pixels of an image on it


class Pictures(NamedTuple):
    """Images of one size, side by side.

    Attributes
    ----------
    content : bytes
        A PNG file of grey images, or a JPEG file of coloured ones; empty without images.
    kind : str
        Its media type.
    grid : dict of str to int, or None
        Height and width of an image, and the number of columns.
    """

    content: bytes = b""
    kind: str = ""
    grid: dict[str, int] | None = None


def sheet(images: np.ndarray | None, chosen: np.ndarray) -> Pictures:
    """The chosen ones of images (n, h, w, c) in [0, 1], made smaller where they are many or large."""
    if images is None:
        return Pictures()
    h, w = images.shape[1:3]
    factor = min(1.0, MAX_SIDE / max(h, w), (MAX_PIXELS / (len(chosen) * h * w)) ** 0.5)
    size = (max(1, int(w * factor)), max(1, int(h * factor)))
    columns = int(np.ceil(len(chosen) ** 0.5))
    return paste(
        [image.resize(size, Image.Resampling.BOX) for image in map(to_image, images[chosen])], columns
    )


def strip(decoded: np.ndarray | None) -> Pictures:
    """Decoded centers (k, h, w, c) in one row."""
    return Pictures() if decoded is None else paste(list(map(to_image, decoded)), len(decoded))


def to_image(image: np.ndarray) -> Image.Image:
    """An image (h, w, c) in [0, 1]: in colour for three channels, otherwise the mean of the channels."""
    pixels = (image.clip(0, 1) * 255).round().astype(np.uint8)
    return Image.fromarray(pixels if image.shape[-1] == 3 else pixels.mean(-1).round().astype(np.uint8))


def paste(images: list[Image.Image], columns: int) -> Pictures:
    """Paste images of one size on a sheet, row by row."""
    w, h = images[0].size
    whole = Image.new(images[0].mode, (columns * w, -(-len(images) // columns) * h))
    for i, image in enumerate(images):
        whole.paste(image, (i % columns * w, i // columns * h))
    content, coloured = io.BytesIO(), whole.mode == "RGB"
    whole.save(content, *(("JPEG",) if coloured else ("PNG",)), quality=90, subsampling=0)
    kind = "image/jpeg" if coloured else "image/png"
    return Pictures(content.getvalue(), kind, {"h": h, "w": w, "columns": columns})
