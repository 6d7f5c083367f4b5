"""Validation of the parameters of an estimator."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from dekm.errors import InputError, shown

# Limits far above what can be computed, so that a slip of the pen is an error at once.
LARGEST = 2**31 - 1
MOST_RESTARTS = 100_000  # of K-means
WIDEST = 100_000  # units of a layer


@dataclass(frozen=True)
class Integer:
    """Constraint: an integer, or one of a few strings.

    Attributes
    ----------
    minimum : int
        The smallest valid integer.
    words : tuple of str
        The strings that are valid too, such as "auto".
    maximum : int
        The largest valid integer, far above what can be computed.
    """

    minimum: int
    words: tuple[str, ...] = ()
    maximum: int = LARGEST

    def check(self, name: str, value: Any) -> None:
        """Raise `InputError` unless `value` is valid; a bool is not an integer."""
        if isinstance(value, str) and value in self.words:
            return
        is_integer = isinstance(value, Integral) and not isinstance(value, bool)
        if not (is_integer and self.minimum <= value <= self.maximum):
            limit = f" and <= {self.maximum}" if is_integer and value > self.maximum else ""
            words = _alternatives(self.words)
            raise InputError(f"{name}={shown(value)} should be an integer >= {self.minimum}{limit}{words}.")


@dataclass(frozen=True)
class Integers:
    """Constraint: a sequence of integers.

    Attributes
    ----------
    minimum : int
        The smallest valid integer.
    length : int or None
        Number of integers; None for any number.
    maximum : int
        The largest valid integer.
    """

    minimum: int
    length: int | None = None
    maximum: int = LARGEST

    def check(self, name: str, value: Any) -> None:
        """Raise `InputError` unless `value` is valid."""
        if not isinstance(value, Sequence | np.ndarray):
            raise InputError(f"{name}={shown(value)} should be a list of integers >= {self.minimum}.")
        if self.length not in (None, len(value)):
            raise InputError(f"{name}={shown(value)} should be {self.length} integers >= {self.minimum}.")
        for i, element in enumerate(value):
            Integer(self.minimum, maximum=self.maximum).check(f"{name}[{i}]", element)


@dataclass(frozen=True)
class Number:
    """Constraint: a finite real number, or one of a few strings.

    Attributes
    ----------
    minimum : float
        Lower bound, not valid itself unless `inclusive`.
    maximum : float or None
        Upper bound, not valid itself unless `closed`; None for no upper bound.
    inclusive : bool
        Whether `minimum` is valid.
    closed : bool
        Whether `maximum` is valid.
    words : tuple of str
        The strings that are valid too, such as "auto".
    """

    minimum: float
    maximum: float | None = None
    inclusive: bool = False
    closed: bool = False
    words: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Raise `InputError` unless `value` is valid; a bool is not a number."""
        if isinstance(value, str) and value in self.words:
            return
        above = is_number(value) and (value > self.minimum or (self.inclusive and value == self.minimum))
        largest = math.inf if self.maximum is None else self.maximum
        if above and (value < largest or (self.closed and value == largest)):
            return
        limits = f"{'>=' if self.inclusive else '>'} {self.minimum}"
        if self.maximum is not None:
            limits = f"between {self.minimum} and {self.maximum}"
        raise InputError(f"{name}={shown(value)} should be a number {limits}{_alternatives(self.words)}.")


@dataclass(frozen=True)
class Choice:
    """Constraint: one of a few values.

    Attributes
    ----------
    values : tuple
        The valid values. Types count as well: 1 is not True.
    """

    values: tuple[Any, ...]

    def check(self, name: str, value: Any) -> None:
        """Raise `InputError` unless `value` is valid."""
        if not any(type(value) is type(valid) and value == valid for valid in self.values):
            *others, last = map(repr, self.values)
            raise InputError(f"{name}={shown(value)} should be {', '.join(others)} or {last}.")


Constraints = Mapping[str, Integer | Integers | Number | Choice]


def check_parameters(estimator: BaseEstimator) -> None:
    """Check the parameters of an estimator by the `parameter_constraints` of its class.

    Raises
    ------
    InputError
        If a parameter is not valid; the text names the first such parameter.
    """
    for name, value in estimator.get_params(deep=False).items():
        if name in estimator.parameter_constraints:
            estimator.parameter_constraints[name].check(name, value)


def _alternatives(words: Sequence[str]) -> str:
    return "".join(f" or {word!r}" for word in words)


def is_number(value: Any) -> bool:
    """Whether a value is a finite real number and not a bool."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that float64 does not hold
        return False
