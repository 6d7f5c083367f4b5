"""Images of a page side by side; images, arrays and descriptions as text that stays within its element."""

import base64
import gzip
import io
import json
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from dekm.results.pictures import data_url, to_image, value_range

MAX_PIXELS = 16_000_000  # of a sheet: larger ones do not fit into the memory of a phone
MAX_SIDE = 64  # pixels of an image on it


class Pictures(NamedTuple):
    """Images of one size, side by side."""

    address: str | None = None  # a data URL: a PNG file of grey images, or a JPEG file of coloured ones
    grid: dict[str, int] | None = None  # height and width of an image, and the number of columns


def sheet(images: np.ndarray | None, chosen: np.ndarray) -> Pictures:
    """The chosen ones of images (n, h, w, c), made smaller where they are many or large."""
    if images is None:
        return Pictures()
    h, w = images.shape[1:3]
    factor = min(1.0, MAX_SIDE / max(h, w), (MAX_PIXELS / (len(chosen) * h * w)) ** 0.5)
    size, limits = (max(1, int(w * factor)), max(1, int(h * factor))), value_range(images)
    shown = (to_image(images[i], *limits).resize(size, Image.Resampling.BOX) for i in chosen)
    return paste(list(shown), int(np.ceil(len(chosen) ** 0.5)))


def strip(decoded: np.ndarray | None, images: np.ndarray | None) -> Pictures:
    """Decoded centers (k, h, w, c) in one row, in the range of values of the images."""
    if decoded is None or images is None:
        return Pictures()
    limits = value_range(images)
    return paste([to_image(image, *limits) for image in decoded], len(decoded))


def paste(images: list[Image.Image], columns: int) -> Pictures:
    """Paste images of one size on a sheet, row by row."""
    w, h = images[0].size
    whole = Image.new(images[0].mode, (columns * w, -(-len(images) // columns) * h))
    for i, image in enumerate(images):
        whole.paste(image, (i % columns * w, i // columns * h))
    content, kind = io.BytesIO(), "jpeg" if whole.mode == "RGB" else "png"
    whole.save(content, kind, quality=90, subsampling=0)
    address = data_url(content.getvalue(), f"image/{kind}")
    return Pictures(address, {"h": h, "w": w, "columns": columns})


def encode_json(value: Any) -> str:
    """A value as JSON without any ``<``, so that it may stand in a script element."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def encode_array(array: np.ndarray) -> dict[str, str]:
    """The type of an array and its compressed values; counts and indices get the smallest type for them."""
    if array.dtype.kind in "iu":
        array = array.astype(np.min_scalar_type(int(array.max(initial=0))))
    little = array.astype(array.dtype.newbyteorder("<"))
    values = gzip.compress(np.ascontiguousarray(little).tobytes(), 6, mtime=0)
    return {"type": array.dtype.name, "values": base64.b64encode(values).decode()}
