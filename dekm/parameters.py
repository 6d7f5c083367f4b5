"""Checks of the parameters that estimators share; each error names the value and what is right."""

import math
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

from dekm.errors import InputError

SMALLEST_INTEGER = {
    "n_clusters": 1,
    "n_init": 1,
    "batch_size": 1,
    "max_iter": 0,
    "n_batches": 1,
    "n_init_update": 1,
    "update_interval": 1,
    "epochs_per_iter": 1,
    "embedding_dim": 1,
    "n_epochs": 0,
}
POSITIVE = ("alpha",)
NOT_NEGATIVE = ("lr", "tol", "gamma", "lam")


def check_parameters(estimator: BaseEstimator, words: Mapping[str, Collection[str]] | None = None) -> None:
    """Check every parameter of `estimator` whose limits are the same for all estimators.

    `words` are what its integer parameters may be instead.

    Raises
    ------
    InputError
        Naming the first parameter that is outside its limits.
    """
    for name, value in estimator.get_params(deep=False).items():
        if name in SMALLEST_INTEGER:
            check_integer(name, value, minimum=SMALLEST_INTEGER[name], words=(words or {}).get(name, ()))
        elif name in POSITIVE and not (is_number(value) and value > 0):
            raise InputError(f"{name}={value!r} should be a number > 0.")
        elif name in NOT_NEGATIVE and not (is_number(value) and value >= 0):
            raise InputError(f"{name}={value!r} should be a number >= 0.")


def check_integer(name: str, value: Any, *, minimum: int, words: Collection[str] = ()) -> None:
    """Check an integer parameter that may also be one of a few words."""
    if isinstance(value, str) and value in words:
        return
    if not is_number(value) or not isinstance(value, Integral) or int(value) < minimum:
        choices = "".join(f" or {word!r}" for word in words)
        raise InputError(f"{name}={value!r} should be an integer >= {minimum}{choices}.")


def check_choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Check a parameter that has a few values."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        *others, last = map(repr, choices)
        raise InputError(f"{name}={value!r} should be {', '.join(others)} or {last}.")


def is_number(value: Any) -> bool:
    """Whether a value is a finite real number, and no truth value."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
