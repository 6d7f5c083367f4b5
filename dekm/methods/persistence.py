"""Fitted estimators as safetensors files: arrays, and JSON metadata for the rest; no code is stored."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.errors import InputError
from dekm.files.reading import damaged, readable
from dekm.files.writing import write_bytes

Tensors = dict[str, Tensor]
Facts = dict[str, Any]


def write_model(path: str | Path, kind: str, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write an estimator to a file, which appears whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file; its folder must exist.
    kind : str
        Name of the estimator's class.
    tensors : mapping of str to tensor
        Its arrays.
    facts : mapping of str to Any
        The rest, stored as JSON; NumPy scalars and arrays become Python numbers and lists.

    Raises
    ------
    InputError
        If the folder does not exist, or the file cannot be written.
    """
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"{path} cannot be written: its folder does not exist.")
    metadata = {f"dekm.{kind}": json.dumps(facts, default=lambda value: value.tolist())}
    content = save({name: value.cpu().contiguous() for name, value in tensors.items()}, metadata)
    write_bytes(Path(path), content)


@contextlib.contextmanager
def opened_model(path: str | Path, kind: str) -> Iterator[tuple[Tensors, Facts]]:
    """The tensors and facts that `write_model` wrote, for a block that makes an estimator of them.

    Raises
    ------
    InputError
        If the file is not a safetensors file, does not hold a whole estimator of class `kind`, has weights
        that are NaN or infinite, or the block fails.
    """
    file = Path(path)
    with readable(file, "safetensors file", SafetensorError):
        content = file.read_bytes()
        tensors, metadata = load(content), _metadata(content)
    if f"dekm.{kind}" not in metadata:
        raise InputError(
            f"{path} should hold a dekm.{kind}; it holds {', '.join(metadata) or 'weights only'}."
        )
    for name, value in tensors.items():
        if value.is_floating_point() and not torch.isfinite(value).all():
            raise damaged(file, f"{name} has values that are NaN or infinite")
    with readable(file, f"dekm.{kind}"):
        yield tensors, json.loads(metadata[f"dekm.{kind}"])


def _metadata(content: bytes) -> dict[str, str]:
    """The metadata in the header of a safetensors file, whose first 8 bytes are the header's length."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    metadata: dict[str, str] = header.get("__metadata__", {})
    return metadata


def learned(estimator: BaseEstimator) -> tuple[Tensors, Facts]:
    """The learned attributes of an estimator: numeric arrays as tensors, and those that JSON can store."""
    attributes = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    tensors: Tensors = {}
    facts: Facts = {}
    for name, value in attributes.items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            tensors[name] = torch.from_numpy(value)
        elif isinstance(value, np.ndarray):
            facts[name] = list(value)
        elif isinstance(value, int | float | np.number | list | tuple):
            facts[name] = value
    return tensors, facts


def set_learned(estimator: BaseEstimator, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Set the learned attributes that `learned` returned for another estimator."""
    for name, value in tensors.items():
        setattr(estimator, name, value.numpy())
    for name, value in facts.items():
        setattr(estimator, name, value)
    if "sample_shape_" in facts:
        estimator.sample_shape_ = tuple(facts["sample_shape_"])
    if "feature_names_in_" in facts:
        estimator.feature_names_in_ = np.array(facts["feature_names_in_"], dtype=object)


def with_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> Tensors:
    """`tensors` with `prefix` before every name."""
    return {prefix + name: value for name, value in tensors.items()}


def without_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> Tensors:
    """The tensors whose names begin with `prefix`, which is removed."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


class Saved(BaseEstimator):
    """Base class of estimators that are written to a file and read again with all that they learned."""

    def save(self, path: str | Path) -> None:
        """Write the parameters and the learned attributes to a safetensors file, which holds no code."""
        check_is_fitted(self)
        write_model(path, type(self).__name__, *self._state())

    @classmethod
    def load(cls, path: str | Path, *, device: str = "auto") -> Self:
        """Read a file that `save` wrote; it holds neither `on_iteration` nor a RandomState instance."""
        with opened_model(path, cls.__name__) as (tensors, facts):
            return cls._from_state(tensors, facts, device)

    @classmethod
    def _from_state(cls, tensors: Tensors, facts: Facts, device: str) -> Self:
        loaded = cls(**facts.pop("params"))
        loaded.device = device
        loaded._restore(tensors, facts)
        return loaded

    def _state(self) -> tuple[Tensors, Facts]:
        params = self.get_params(deep=False)
        for name, value in params.items():
            if name == "on_iteration" or isinstance(value, np.random.RandomState):
                params[name] = None
        tensors, facts = learned(self)
        return tensors, facts | {"params": params}

    def _restore(self, tensors: Tensors, facts: Facts) -> None:
        set_learned(self, tensors, facts)
