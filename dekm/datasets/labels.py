"""Class labels of any type, and their encoding as the integers 0, 1, ...; a sample may lack one."""

import re
from typing import Any

import numpy as np

from dekm.errors import InputError

UNLABELLED = -1  # the code of a sample without a label
WHOLE = re.compile(r"-?\d+\.0\Z", re.ASCII)
NUMBERS = (int, float, np.number, type(None))
NO_LABEL = {"", "nan"}  # texts, in lower case, that are no label


def label_vector(values: Any, origin: object) -> np.ma.MaskedArray:
    """Check labels of shape (n,), (n, 1) or (1, n) and return them as a masked array (n,), not encoded yet.

    Integers, floats or strings; NaN, None and an empty text are no label, and masked. Floats become integers
    if all are whole. Raises `InputError`, which names the `origin`, if the values are not a vector of numbers
    or strings, a label is infinite, or there is none.
    """
    labels = np.asarray(values)
    if labels.size != max(labels.shape, default=0) or labels.dtype.kind not in "buifUSO":
        raise InputError(
            f"{origin}: labels of type {labels.dtype} and shape {labels.shape} should be a vector of numbers "
            "or strings."
        )
    labels = labels.reshape(-1)
    if labels.dtype.kind == "O" and all(isinstance(label, NUMBERS) for label in labels.tolist()):
        labels = np.array([np.nan if label is None else float(label) for label in labels.tolist()])
    if labels.dtype.kind in "OS":
        labels = np.array([_text(label, origin) for label in labels.tolist()], dtype=str)
    if labels.dtype.kind == "U":
        labels = np.char.strip(labels)
        absent = np.isin(np.char.lower(labels), list(NO_LABEL))
        if all(WHOLE.match(label) for label in labels[~absent].tolist()):  # as pandas writes them beside NaN
            labels = np.char.replace(labels, ".0", "")
    else:
        absent = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), bool)
    if labels.dtype.kind == "f":
        labels = _numbers(labels, absent, origin)
    if len(labels) and absent.all():
        raise InputError(f"{origin}: no sample has a label.")
    return np.ma.MaskedArray(labels, absent)


def _text(label: Any, origin: object) -> str:
    if label is None:
        return ""
    if isinstance(label, bytes):
        return decoded(label)
    if not isinstance(label, str | int | float | np.generic):
        raise InputError(f"{origin}: a label of type {type(label).__name__} should be a number or a string.")
    return str(int(label) if isinstance(label, float) and label.is_integer() else label)


def decoded(text: bytes) -> str:
    """A text in UTF-8 or, failing that, in Latin-1."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _numbers(labels: np.ndarray, absent: np.ndarray, origin: object) -> np.ndarray:
    if np.isinf(labels).any():
        raise InputError(f"{origin}: label {int(np.flatnonzero(np.isinf(labels))[0])} is infinite.")
    filled = np.where(absent, 0, labels)
    whole = (np.floor(filled) == filled) & (abs(filled) < 2**53)
    return filled.astype(np.int64) if whole.all() else filled


def encode_labels(values: Any, origin: object) -> np.ndarray:
    """Labels as the positions int64 (n,) of their classes in sorted order; errors as of `label_vector`."""
    return name_classes(label_vector(values, origin))[0]


def name_classes(labels: np.ndarray) -> tuple[np.ndarray, list[Any] | None]:
    """Encode labels, of which some may be masked, and keep the names of their classes.

    Returns int64 positions (n,) of the classes in sorted order, -1 where a label is masked, and the label of
    each class; None instead if the labels are 0, 1, ... already.
    """
    known = ~np.ma.getmaskarray(labels)
    names, codes = np.unique(np.ma.getdata(labels)[known], return_inverse=True)
    y = np.full(len(known), UNLABELLED, np.int64)
    y[known] = codes
    is_encoded = known.all() and names.dtype.kind in "iu" and np.array_equal(names, np.arange(len(names)))
    if names.dtype.kind == "U":  # a folder may be named in another encoding than UTF-8
        return y, [name.encode(errors="backslashreplace").decode() for name in names.tolist()]
    return y, None if is_encoded else names.tolist()
