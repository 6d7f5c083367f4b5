"""Images of samples as small pictures for a page."""

import base64
import io

import numpy as np
from PIL import Image

THUMBNAIL = 40  # pixels of the longer side of a picture; smaller images keep their own


def value_range(images: np.ndarray) -> tuple[float, float]:
    """What is black and white: 0 and 1, or the smallest and the largest value of images beyond."""
    return min(0.0, float(images.min())), max(1.0, float(images.max()))


def to_image(image: np.ndarray, low: float, high: float) -> Image.Image:
    """An image (h, w, c): in colour for three channels, otherwise the mean of the channels."""
    pixels = (255 * (image.clip(low, high) - low) / (high - low)).round().astype(np.uint8)
    return Image.fromarray(pixels if image.shape[-1] == 3 else pixels.mean(-1).round().astype(np.uint8))


def data_url(content: bytes, kind: str) -> str:
    """A file as a part of a page."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def thumbnails(images: np.ndarray, chosen: np.ndarray) -> list[str]:
    """The chosen ones of images (n, h, w, c) as data URLs."""
    limits, found = value_range(images), []
    for i in chosen:
        picture, content = to_image(images[i], *limits), io.BytesIO()
        picture.thumbnail((THUMBNAIL, THUMBNAIL))
        picture.save(content, "PNG")
        found.append(data_url(content.getvalue(), "image/png"))
    return found
