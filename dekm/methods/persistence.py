"""Fitted estimators as safetensors files: arrays, and JSON metadata for the rest; no code is stored."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dekm.errors import InputError, is_out_of_memory, shown
from dekm.files.reading import damaged, readable
from dekm.files.writing import write_bytes
from dekm.scaling import InputScaling

Tensors = dict[str, Tensor]
Facts = dict[str, Any]


class UnreadableError(InputError):
    """An estimator could not be read back from what would be written, so no file is written."""


def write_model(
    path: str | Path,
    kind: str,
    tensors: Mapping[str, Tensor],
    facts: Mapping[str, Any],
    read_back: Callable[[Tensors, Facts], object],
) -> None:
    """Write an estimator of a class `kind` to a file, which appears whole or not at all.

    `tensors` are its arrays; `facts` is the rest, stored as JSON: NumPy scalars and arrays become Python
    numbers and lists. `read_back` makes an estimator of what was written; if it fails, that is an
    `UnreadableError`. `InputError` if the folder does not exist or the file cannot be written.
    """
    file = Path(path)
    if not file.absolute().parent.is_dir():
        raise InputError(f"{path} cannot be written: its folder does not exist.")
    try:
        metadata = {f"dekm.{kind}": json.dumps(facts, default=_as_json)}
        content = save(_apart(tensors), metadata)
        with parsed_model(content, file, kind) as parts:
            read_back(*parts)
    except InputError as error:
        if is_out_of_memory(error.__cause__ or error):
            raise
        raise UnreadableError(f"{path} is not written, because it could not be read back: {error}") from error
    write_bytes(file, content)


def _apart(tensors: Mapping[str, Tensor]) -> Tensors:
    """Contiguous tensors on the CPU without common memory, as a file has them; tied weights have."""
    apart: Tensors = {}
    memory: set[int] = set()
    for name, value in tensors.items():
        kept = value.detach().cpu().contiguous()
        apart[name] = kept.clone() if kept.untyped_storage().data_ptr() in memory else kept
        memory.add(kept.untyped_storage().data_ptr())
    return apart


def _as_json(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, torch.device):
        return str(value)
    raise InputError(f"a file holds no {type(value).__name__} such as {shown(value)}.")


@contextlib.contextmanager
def opened_model(path: str | Path, kind: str) -> Iterator[tuple[Tensors, Facts]]:
    """The tensors and facts that `write_model` wrote, for a block that makes an estimator of them.

    `InputError` if the file is not a safetensors file, does not hold a whole estimator of class `kind`, has
    weights that are NaN or infinite, or the block fails.
    """
    file = Path(path)
    with readable(file, "safetensors file"):
        content = file.read_bytes()
    with parsed_model(content, file, kind) as parts:
        yield parts


@contextlib.contextmanager
def parsed_model(content: bytes, file: Path, kind: str) -> Iterator[tuple[Tensors, Facts]]:
    """The tensors and facts in the content of a file, see `opened_model`."""
    with readable(file, "safetensors file", SafetensorError):
        tensors, metadata = load(content), _metadata(content)
    if f"dekm.{kind}" not in metadata:
        raise InputError(
            f"{file} should hold a dekm.{kind}; it holds {', '.join(metadata) or 'weights only'}."
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
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            tensors[name] = torch.from_numpy(np.require(value, value.dtype.newbyteorder("="), ["C", "W"]))
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

    input_scaling_: InputScaling

    def set_input_scaling(self, scaling: InputScaling) -> None:
        """Set the rule that maps raw samples to those of the fit, which were scaled by it before."""
        self.input_scaling_ = scaling

    def save(self, path: str | Path) -> None:
        """Write the parameters and the learned attributes to a safetensors file, which holds no code.

        Raises
        ------
        UnreadableError
            If `load` could not read it back.
        InputError
            If the file cannot be written.
        """
        check_is_fitted(self)
        write_model(path, type(self).__name__, *self._state(), self._read_back)

    def _read_back(self, tensors: Tensors, facts: Facts) -> None:
        """Raise an exception unless an estimator can be made of its state and has all learned attributes."""
        loaded = self._from_state(tensors, facts, "cpu")
        learned = {name for name, value in vars(self).items() if name.endswith("_") and value is not None}
        if lost := sorted(learned - vars(loaded).keys()):
            raise InputError(f"{type(self).__name__} would lose {', '.join(lost)}.")

    @classmethod
    def load(cls, path: str | Path, *, device: str | torch.device = "auto") -> Self:
        """Read a file that `save` wrote; it holds neither `on_iteration` nor a RandomState instance."""
        with opened_model(path, cls.__name__) as (tensors, facts):
            return cls._from_state(tensors, facts, device)

    @classmethod
    def _from_state(cls, tensors: Tensors, facts: Facts, device: str | torch.device) -> Self:
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
        return tensors, facts | {"params": params, "input_scaling": self.input_scaling_.facts()}

    def _restore(self, tensors: Tensors, facts: Facts) -> None:
        self.input_scaling_ = InputScaling.from_facts(facts.pop("input_scaling", None))
        set_learned(self, tensors, facts)
