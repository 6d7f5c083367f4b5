"""How raw samples become the values that a method is fitted on; one rule for every fit and all new data.

The rule is part of what is learned: prepared data and saved models hold it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dekm.errors import InputError, shown

LARGEST_BYTE = 255
TABLE_SCALINGS = ("auto", "standard", "minmax", "none")
SCALED = 10.0  # largest absolute value of a table that needs no scaling
CHANNELS = (1, 3, 4)
SHORTEST_SIDE = 8  # pixels
FAR = (-1.0, 2.0)  # floats outside of this range were not scaled to [0, 1]


@dataclass(frozen=True)
class InputScaling:
    """A rule that maps raw samples to the values that a method is fitted on.

    Attributes
    ----------
    kind : {"none", "pixels", "standard", "minmax"}
        "pixels" divides integers by 255 and keeps floats in [0, 1]; "standard" and "minmax" map each column
        x to (x - offset) / scale; "none" keeps the values.
    offset, scale : tuple of float
        One value per column of a table, else empty.
    low, high : float
        Range of the images that a rule of kind "none" was learned on.
    integers : bool
        Whether these images were integers.
    """

    kind: str = "none"
    offset: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0
    integers: bool = False

    def __call__(self, X: Any, *, integers: bool | None = None) -> Any:
        """Scale samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d), or array of shape (n, h, w, c)
            Raw samples.
        integers : bool, optional
            Whether they were integers before they became float32; by default the dtype says so.

        Returns
        -------
        float32 array of the same shape
            `X` itself if no value changes.

        Raises
        ------
        InputError
            If the values of images have another range than those of the fit, or cannot be told from such.
        """
        if self.kind in ("standard", "minmax"):
            return self._scale_columns(X.toarray() if hasattr(X, "toarray") else X)
        if X.ndim != 4 or not X.size:
            return X
        integers = is_integer(X.dtype) if integers is None else integers
        values = X.astype(np.float32, copy=False)
        if self.kind == "pixels":
            return _scale_pixels(values, integers=integers)
        self._check_range(values, integers=integers)
        return values

    def facts(self) -> dict[str, Any]:
        """The rule as JSON can store it."""
        return asdict(self) | {"offset": list(self.offset), "scale": list(self.scale)}

    def inverse(self, X: np.ndarray) -> np.ndarray:
        """Samples in the units of the raw ones; images of bytes stay in [0, 1]."""
        return X * np.array(self.scale, np.float32) + np.array(self.offset, np.float32) if self.scale else X

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any] | None) -> "InputScaling":
        """The rule that `facts` returned; for None, of files of earlier versions, the one that keeps values.

        Raises
        ------
        TypeError, ValueError
            If the facts are not those of a rule.
        """
        if facts is None:
            return cls()
        columns = {name: tuple(map(float, facts[name])) for name in ("offset", "scale")}
        return cls(**{**facts, **columns})

    def _scale_columns(self, X: np.ndarray) -> np.ndarray:
        if X.ndim != 2 or X.shape[1] != len(self.scale):
            raise InputError(
                f"X of shape {X.shape} should have {len(self.scale)} columns, as the fitted table."
            )
        return (X - np.array(self.offset, np.float32)) / np.array(self.scale, np.float32)

    def _check_range(self, X: np.ndarray, *, integers: bool) -> None:
        """Refuse bytes for a model of scaled floats or of zeros and ones, scaled floats for one of bytes."""
        if self.high <= self.low:  # not known, as in files of earlier versions
            return
        fitted = f"the model was fitted on values from {self.low:g} to {self.high:g}"
        was_scaled = not self.integers and not (self.low >= 0 and self.high > FAR[1])
        was_binary = self.integers and self.high == 1 and X.max() > 1
        if integers and (was_scaled or was_binary):
            raise InputError(
                f"X holds integers from {X.min():g} to {X.max():g}, but {fitted}: prepare X in the same way."
            )
        like_bytes = self.low >= 0 and LARGEST_BYTE // 2 < self.high <= LARGEST_BYTE
        if like_bytes and not integers and X.min() >= 0 and X.max() <= 1 and not _is_whole(X):
            raise InputError(f"X holds values in [0, 1], but {fitted}: multiply X by 255.")


NO_SCALING = InputScaling()
PIXELS = InputScaling("pixels")


def learn_image_scaling(X: np.ndarray, *, integers: bool | None = None) -> InputScaling:
    """The rule for images: "pixels" for bytes and for floats in [0, 1], otherwise "none".

    Integers that are all 0 or 1 are black and white, and keep their values.

    Parameters
    ----------
    X : array of shape (n, h, w, c)
        Raw images.
    integers : bool, optional
        Whether they were integers before they became float32; by default the dtype says so.
    """
    if not X.size:
        return NO_SCALING
    integers = is_integer(X.dtype) if integers is None else integers
    low, high = float(X.min()), float(X.max())
    if low >= 0 and (1 < high <= LARGEST_BYTE if integers else high <= 1):
        return PIXELS
    return InputScaling(low=low, high=high, integers=integers)


def learn_scaling(X: np.ndarray, *, integers: bool) -> InputScaling:
    """The rule that an estimator learns from its samples: that of images, or none for vectors."""
    return learn_image_scaling(X, integers=integers) if X.ndim == 4 else NO_SCALING


def learn_column_scaling(X: Any, kind: str) -> InputScaling:
    """The rule for the columns of a table.

    Parameters
    ----------
    X : float32 array or csr_matrix of shape (n, d)
        Training samples.
    kind : {"auto", "standard", "minmax", "none"}
        "standard" gives each column mean 0 and variance 1, "minmax" the range [0, 1]; a constant column
        becomes 0. "auto" is "none" if all values are in [-10, 10], otherwise "minmax".

    Raises
    ------
    InputError
        If `kind` is another one.
    """
    if kind not in TABLE_SCALINGS:
        raise InputError(f"scaling={shown(kind)} should be one of {', '.join(TABLE_SCALINGS)}.")
    if kind == "auto":
        kind = "none" if abs(X).max() <= SCALED else "minmax"
    if kind == "none":
        return NO_SCALING
    values = (X.toarray() if hasattr(X, "toarray") else X).astype(np.float64)
    low = values.min(0)
    offset, scale = (values.mean(0), values.std(0)) if kind == "standard" else (low, values.max(0) - low)
    constant = values.max(0) == low
    scale, offset = np.where(constant, 1, scale), np.where(constant, low, offset)
    return InputScaling(kind, tuple(offset.tolist()), tuple(scale.tolist()))


def check_channels_last(name: object, shape: tuple[int, ...], remedy: str) -> None:
    """Raise `InputError` if images (n, h, w, c) seem to have their channels first, (n, c, h, w).

    They do if the second axis has the length of a channel axis, and the others are longer than channels.
    """
    if shape[1] in CHANNELS and min(shape[2:]) >= SHORTEST_SIDE:
        raise InputError(
            f"{name}: shape {shape} seems to be (n, channels, h, w) and should be (n, h, w, channels): "
            f"{remedy}."
        )


def is_integer(dtype: np.dtype) -> bool:
    """Whether values of a dtype are integers; truth values are not."""
    return dtype.kind in "iu"


def _scale_pixels(X: np.ndarray, *, integers: bool) -> np.ndarray:
    low, high = float(X.min()), float(X.max())
    if integers and high == 1:
        raise InputError(
            "X holds no integers but 0 and 1, which may be bytes or black and white: pass X / 255, or X as "
            "floats or truth values."
        )
    if integers and not (low >= 0 and high <= LARGEST_BYTE):
        raise InputError(f"X holds integers from {low:g} to {high:g}; images should be in [0, 255].")
    if integers:
        return X / np.float32(LARGEST_BYTE)
    if low < FAR[0] or high > FAR[1] or (high > 1 and _is_whole(X)):
        raise InputError(
            f"X holds floats from {low:g} to {high:g}, but the model was fitted on images in [0, 1]: pass "
            "bytes as integers, or divide X by 255."
        )
    return X


def _is_whole(X: np.ndarray) -> bool:
    return bool((np.floor(X) == X).all())
