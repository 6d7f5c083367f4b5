"""How raw samples become the values that a method is fitted on; one rule for every fit and all new data.

The rule is part of what is learned: prepared data and saved models hold it.
"""

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dekm.errors import InputError, shown

LARGEST_BYTE = 255
COLUMN_SCALINGS = ("standard", "minmax")
TABLE_SCALINGS = ("auto", *COLUMN_SCALINGS, "counts", "none")
SCALED = 10.0  # largest absolute value of samples that need no scaling
COUNTS = 1e4  # total of a cell under "counts"
CHANNELS = (1, 3, 4)
SHORTEST_SIDE = 8  # pixels
FAR = (-1.0, 2.0)  # scaled values outside of this range are in other units than those of the fit
DARK = 0.1  # scaled images that are all below it may be in other units
KEPT = 1e-6  # rounding error of float32 that is harmless, as a fraction of the range of the values


@dataclass(frozen=True)
class InputScaling:
    """A rule that maps raw samples to the values that a method is fitted on.

    Attributes
    ----------
    kind : {"none", "pixels", "range", "standard", "minmax", "counts"}
        For images, "pixels" divides integers by 255 and keeps floats in [0, 1], and "range" maps `low` to 0
        and `high` to 1. For tables, "standard" and "minmax" map each column x to (x - offset) / scale, and
        "counts" each row as `log_normalized`. "none" keeps the values.
    offset, scale : tuple of float
        One value per column of a table, else empty.
    low, high : float
        Range of the images that a rule of kind "none" or "range" was learned on.
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
        """Scale samples; a table is scaled in float64 before it is rounded to float32.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d), or array of shape (n, h, w, c)
            Raw samples.
        integers : bool, optional
            Whether they were integers before they became floats; by default the dtype says so.

        Returns
        -------
        float32 array or sparse matrix of the same shape
            `X` itself if no value changes.

        Raises
        ------
        InputError
            If the values of images have another range than those of the fit, or cannot be told from such,
            or if a row of counts has a negative value.
        """
        if self.kind in COLUMN_SCALINGS:
            return self._scale_columns(X.toarray() if sparse.issparse(X) else X)
        if self.kind == "counts":
            return log_normalized(X)
        if X.ndim != 4 or not X.size:
            return X.astype(np.float32, copy=False)
        integers = is_integer(X.dtype) if integers is None else integers
        if self.kind == "pixels":
            return _scale_pixels(X.astype(np.float32, copy=False), integers=integers)
        self._check_range(X, integers=integers)
        if self.kind == "range":
            X = (X - self.low) / self._span
        return X.astype(np.float32, copy=False)

    def facts(self) -> dict[str, Any]:
        """The rule as JSON can store it."""
        return asdict(self) | {"offset": list(self.offset), "scale": list(self.scale)}

    def inverse(self, X: np.ndarray) -> np.ndarray:
        """Samples in the units of the raw ones; images of bytes stay in [0, 1], counts log-normalized."""
        if self.kind == "range":
            return X * self._span + self.low
        return X * np.array(self.scale) + np.array(self.offset) if self.scale else X

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

    @property
    def _span(self) -> float:
        return self.high - self.low or 1.0

    def _scale_columns(self, X: np.ndarray) -> np.ndarray:
        if X.ndim != 2 or X.shape[1] != len(self.scale):
            raise InputError(
                f"X of shape {X.shape} should have {len(self.scale)} columns, as the fitted table."
            )
        scaled = X - np.array(self.offset)
        scaled /= np.array(self.scale)
        return scaled.astype(np.float32)

    def _check_range(self, X: np.ndarray, *, integers: bool) -> None:
        """Refuse images in other units than those of the fit, as far as the values tell."""
        if self.high <= self.low:  # not known, as in files of earlier versions
            return
        low, high = float(X.min()), float(X.max())
        fitted = f"the model was fitted on values from {self.low:g} to {self.high:g}"
        was_scaled = self.kind == "none" and not self.integers and not (self.low >= 0 and self.high > FAR[1])
        was_binary = self.integers and self.high == 1 and high > 1
        if integers and (was_scaled or was_binary):
            raise InputError(
                f"X holds integers from {low:g} to {high:g}, but {fitted}: prepare X in the same way."
            )
        was_large = self.low >= 0 and self.high > LARGEST_BYTE // 2
        if not integers and was_large and low >= 0 and high <= 1 and not _is_whole(X):
            remedy = "255" if self.high <= LARGEST_BYTE else "its largest value before it was scaled"
            raise InputError(f"X holds values in [0, 1], but {fitted}: multiply X by {remedy}.")
        if self.kind == "range":
            bounds = [(value - self.low) / self._span for value in (low, high)]
            if bounds[0] < FAR[0] or bounds[1] > FAR[1]:
                raise InputError(
                    f"X holds values from {low:g} to {high:g}, but {fitted}: prepare X in the same units."
                )
            if bounds[1] < DARK:
                text = f"X holds values up to {high:g}, and {fitted}: are they in the same units?"
                warnings.warn(text, UserWarning, stacklevel=2)


NO_SCALING = InputScaling()
PIXELS = InputScaling("pixels")


def learn_image_scaling(X: np.ndarray, *, integers: bool | None = None) -> InputScaling:
    """The rule for images.

    "pixels" for bytes and for floats in [0, 1]; "range" for other values beyond [-10, 10], such as those of
    16 bits; otherwise "none". Integers that are all 0 or 1 are black and white, and keep their values.

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
    kind = "none" if max(-low, high) <= SCALED else "range"
    return InputScaling(kind, low=low, high=high, integers=integers)


def learn_scaling(X: np.ndarray, *, integers: bool) -> InputScaling:
    """The rule that an estimator learns from its samples: that of images, or none for vectors."""
    return learn_image_scaling(X, integers=integers) if X.ndim == 4 else NO_SCALING


def learn_column_scaling(X: Any, kind: str) -> InputScaling:
    """The rule for the columns of a table.

    Parameters
    ----------
    X : array or csr_matrix of shape (n, d)
        Training samples.
    kind : {"auto", "standard", "minmax", "counts", "none"}
        "standard" gives each column mean 0 and variance 1, "minmax" the range [0, 1]; a constant column
        becomes 0. "counts" is `log_normalized`. "auto" is "none" if all values are in [-10, 10] and float32
        keeps their digits, otherwise "minmax".

    Raises
    ------
    InputError
        If `kind` is another one, a range is beyond float64, or a count is negative.
    """
    if kind not in TABLE_SCALINGS:
        raise InputError(f"scaling={shown(kind)} should be one of {', '.join(TABLE_SCALINGS)}.")
    if kind == "auto":
        kind = "none" if abs(X).max() <= SCALED and not loses_digits(X) else "minmax"
    if kind == "counts":
        check_counts(X)
    if kind not in COLUMN_SCALINGS:
        return InputScaling(kind)
    values = (X.toarray() if sparse.issparse(X) else X).astype(np.float64, copy=False)
    low, high = values.min(0), values.max(0)
    with np.errstate(over="ignore", invalid="ignore"):
        offset, scale = (values.mean(0), values.std(0)) if kind == "standard" else (low, high - low)
    scale, offset = np.where(high == low, 1, scale), np.where(high == low, low, offset)
    if not np.isfinite(scale).all():
        raise InputError(f"column {int(np.argmin(np.isfinite(scale)))} has a range beyond float64.")
    return InputScaling(kind, tuple(offset.tolist()), tuple(scale.tolist()))


def log_normalized(X: Any) -> Any:
    """Counts of single cells, scaled to a total of 10,000 per cell, as log(1 + x); float32.

    The usual normalization of sequencing depth, ``normalize_total(target_sum=1e4)`` and ``log1p`` of Scanpy
    (Wolf, Angerer and Theis, 2018). A sparse matrix stays sparse; a cell without counts stays 0.
    """
    check_counts(X)
    totals = np.asarray(X.sum(axis=1), dtype=np.float64).reshape(-1)
    factors = COUNTS / np.where(totals > 0, totals, 1)
    if not sparse.issparse(X):
        return np.log1p(X * factors[:, np.newaxis]).astype(np.float32)
    rows = sparse.csr_matrix(X, copy=False)
    data = np.log1p(rows.data * np.repeat(factors, np.diff(rows.indptr))).astype(np.float32)
    return sparse.csr_matrix((data, rows.indices, rows.indptr), shape=rows.shape)


def check_counts(X: Any) -> None:
    """Raise `InputError` if a value is negative."""
    lowest = float(X.min())
    if lowest < 0:
        raise InputError(f"scaling='counts' needs values >= 0; the smallest is {lowest:g}.")


def looks_like_counts(X: Any) -> bool:
    """Whether the values are whole numbers >= 0, most of them 0 and some above 10: counts of single cells."""
    values = X.data if sparse.issparse(X) else X
    n_values = X.shape[0] * X.shape[1]
    if not values.size or np.count_nonzero(values) > n_values / 2:
        return False
    return bool(values.min() >= 0 and values.max() > SCALED and _is_whole(values))


def loses_digits(X: Any) -> bool:
    """Whether float32 rounds away differences between the values of a column, or of images.

    An offset that is large against the range, such as that of times in milliseconds, takes the digits.
    """
    if sparse.issparse(X) or X.dtype == np.float32 or not X.size:
        return False
    axis = 0 if X.ndim == 2 else None
    with np.errstate(over="ignore", invalid="ignore"):
        error = abs(X.astype(np.float32) - X).max(axis)
        spread = X.max(axis) - X.min(axis)
    return bool(((error > KEPT * spread) & (spread > 0) | ~np.isfinite(error)).any())


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
