"""The parameters that a configuration can set are those of the classes, with their bounds and defaults."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config import generate
from dekm import Autoencoder
from dekm.errors import InputError
from dekm.experiment.schema import read_schema, validator
from dekm.methods import METHODS
from dekm.methods.validation import Choice, Integer, Integers, Number

ROOT = Path(__file__).parents[2]
SCHEMA = read_schema(ROOT / "config" / "config.schema.yaml")
CLASSES = {"pretraining": Autoencoder} | {row.load().__name__: row.load() for row in METHODS.values()}
CELL = {"n_clusters", "autoencoder", "device", "random_state", "on_iteration", "progress"}
PARAMETERS = [
    pytest.param(block, name, id=f"{block}-{name}")
    for block, estimator in CLASSES.items()
    for name in inspect.signature(estimator).parameters
    if name not in CELL | {"architecture", "network"}
]
TRIED = [-1, -1e-9, 0, 0.0, 1e-9, 0.5, 1, 1.0, 1.5, 2, 3, 10**5, 10**5 + 1, 2**31 - 1, 2**31, float("inf")]
TRIED += [
    float("nan"),
    True,
    False,
    "auto",
    "pass",
    "fresh",
    "xavier",
    "images",
    "sgd",
    "2n_iter",
    "Y",
    "x",
    "",
]
TRIED += [[1, 2, 3], [1, 2], [0, 1, 2], [1.0, 2, 3], [], "123"]


def test_the_file_is_what_the_classes_make() -> None:
    assert generate.FILE.read_text(encoding="utf-8") == generate.text(), "run make schema"


def test_every_method_has_the_block_of_its_class() -> None:
    blocks = SCHEMA["$defs"]["methods"]["properties"]
    found = {name: block["$ref"].rpartition("/")[2] for name, block in blocks.items()}
    assert found == {name: row.load().__name__ for name, row in METHODS.items()}


@pytest.mark.parametrize("block", CLASSES)
def test_every_parameter_that_no_cell_decides_can_be_set(block: str) -> None:
    parameters = set(inspect.signature(CLASSES[block]).parameters) - CELL - {"architecture"}
    assert set(SCHEMA["$defs"][block]["properties"]) - {"pretraining"} == parameters
    has_autoencoder = "autoencoder" in inspect.signature(CLASSES[block]).parameters
    assert ("pretraining" in SCHEMA["$defs"][block]["properties"]) == has_autoencoder


@pytest.mark.parametrize(("block", "name"), PARAMETERS)
def test_the_schema_allows_what_the_class_allows(block: str, name: str) -> None:
    schema, constraint = (
        SCHEMA["$defs"][block]["properties"][name],
        CLASSES[block].parameter_constraints[name],
    )
    for value in TRIED:
        assert validator(schema).is_valid(value) is is_allowed(constraint, name, value), value
    assert schema["default"] == as_json(inspect.signature(CLASSES[block]).parameters[name].default)


def is_allowed(constraint: Integer | Integers | Number | Choice, name: str, value: Any) -> bool:
    """Whether a class takes a value; text is no list of integers."""
    if isinstance(constraint, Integers) and isinstance(value, str):
        return False
    try:
        constraint.check(name, value)
    except InputError:
        return False
    return True


def as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def test_every_parameter_is_described_in_one_sentence() -> None:
    assert list(texts(generate.content())) == [
        text for text in texts(generate.content()) if text.endswith(".") and ". " not in text
    ]


def texts(part: Any) -> Iterator[str]:
    """All descriptions in a schema."""
    for key, value in part.items() if isinstance(part, dict) else ():
        if key == "description":
            yield value
        yield from texts(value)
