"""Arrays in ``.npy`` and ``.npz`` files, without pickled objects."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dekm.files.atomic import atomic_file
from dekm.files.reading import damaged, readable

KINDS = {"b": "bool", "i": "integer", "u": "unsigned integer", "f": "float", "U": "text", "S": "bytes"}


class Form(NamedTuple):
    """Form of an array: kinds of dtype as NumPy abbreviates them, and numbers of dimensions, or any."""

    kinds: str
    ndim: tuple[int, ...] = ()
    required: bool = True


def read_array(file: Path, form: Form, remedy: str = "") -> np.ndarray:
    """Read one array from a ``.npy`` file; `InputError` if it holds another one, or pickled objects."""
    with readable(file, "file of one NumPy array", remedy=remedy), file.open("rb") as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
    _check_array(file, "the array", array, form, remedy)
    return array


def read_arrays(file: Path, forms: Mapping[str, Form], remedy: str = "") -> dict[str, np.ndarray]:
    """Read those arrays from an ``.npz`` file that exist; pickled objects are refused.

    `InputError` if the file does not exist or holds something else, or an array is missing or has not its
    form.
    """
    with (
        readable(file, "file of NumPy arrays", remedy=remedy),
        file.open("rb") as stream,
        np.load(stream, allow_pickle=False) as opened,
    ):
        if not isinstance(opened, np.lib.npyio.NpzFile):
            raise ValueError("it holds a single array")
        arrays = {name: opened[name] for name in forms if name in opened}
    for name, form in forms.items():
        if name in arrays:
            _check_array(file, repr(name), arrays[name], form, remedy)
        elif form.required:
            raise damaged(file, f"it lacks {name!r}", remedy)
    return arrays


def _check_array(file: Path, name: str, array: np.ndarray, form: Form, remedy: str) -> None:
    if array.dtype.kind not in form.kinds:
        kinds = " or ".join(KINDS[kind] for kind in form.kinds)
        raise damaged(file, f"{name} of dtype {array.dtype} should be {kinds}", remedy)
    if form.ndim and array.ndim not in form.ndim:
        raise damaged(file, f"{name} has shape {array.shape}", remedy)


def write_array(target: Path, array: np.ndarray) -> None:
    """Write an array to a ``.npy`` file atomically."""
    with atomic_file(target) as temporary, temporary.open("wb") as stream:
        np.lib.format.write_array(stream, array, allow_pickle=False)


def write_arrays(target: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays to a compressed ``.npz`` file atomically."""
    with atomic_file(target) as temporary:
        np.savez_compressed(temporary, **arrays)  # type: ignore[arg-type]
