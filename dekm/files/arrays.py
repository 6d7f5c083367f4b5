"""Arrays in ``.npy`` and ``.npz`` files, without pickled objects."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dekm.files.atomic import atomic_file
from dekm.files.reading import damaged, readable

KINDS = {"b": "bool", "i": "integer", "u": "unsigned integer", "f": "float", "U": "text", "S": "bytes"}


class Form(NamedTuple):
    """What an array should be.

    Attributes
    ----------
    kinds : str
        Accepted kinds of its dtype, as NumPy abbreviates them.
    ndim : tuple of int
        Accepted numbers of dimensions; any if empty.
    required : bool
        Whether the array has to exist.
    """

    kinds: str
    ndim: tuple[int, ...] = ()
    required: bool = True


def read_array(file: Path, form: Form | None = None, remedy: str = "") -> np.ndarray:
    """Read one array from a ``.npy`` file; pickled objects are refused.

    Raises
    ------
    InputError
        If the file holds something else, or the array has not the form.
    """
    with readable(file, "file of one NumPy array", remedy=remedy), file.open("rb") as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
    _check_array(file, "the array", array, form, remedy)
    return array


def read_arrays(file: Path, forms: Mapping[str, Form], remedy: str = "") -> dict[str, np.ndarray]:
    """Read arrays from an ``.npz`` file; pickled objects are refused.

    Parameters
    ----------
    file : Path
        The file.
    forms : mapping of str to Form
        The form of each array that is read.
    remedy : str
        What to do about an unusable file.

    Returns
    -------
    dict of str to ndarray
        The arrays that exist.

    Raises
    ------
    InputError
        If the file does not exist or holds something else, or an array is missing or has not its form.
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


def _check_array(file: Path, name: str, array: np.ndarray, form: Form | None, remedy: str) -> None:
    if form is None:
        return
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
