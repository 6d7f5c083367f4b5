"""Arrays, images and descriptions as text in a page, in which no name of a user can end its element."""

import base64
import gzip
import json
from typing import Any

import numpy as np

from dekm.figures.explore.pictures import Pictures
from dekm.results.pictures import data_url


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


def encode_image(pictures: Pictures) -> str | None:
    """A file as a data URL; None without images."""
    if not pictures.content:
        return None
    return data_url(pictures.content, pictures.kind)
