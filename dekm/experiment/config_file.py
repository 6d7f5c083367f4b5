"""Reading a configuration file more strictly than Snakemake does."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from dekm.errors import InputError, cut, shown
from dekm.files.reading import readable, without_duplicates

MAX_VALUES = 100_000  # of a configuration whose aliases are expanded; that of the paper has 200
MAX_DEPTH = 50
# A number that YAML 1.1 and 1.2 read alike.
NUMBER = re.compile(
    r"[-+]?(0|[1-9][0-9]*)|0x[0-9a-fA-F]+|[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan",
    re.IGNORECASE,
)
KEY_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")
MAX_BITS = 10_000  # of an integer; Python refuses to print very long ones


class StrictLoader(yaml.SafeLoader):
    """Refuses what YAML 1.1, which Snakemake uses, parses differently than a reader expects.

    That is a key twice in a block, of which libraries keep the last; a key that is no text, such as ``no``;
    and a number or date such as ``0100``, which is 64, ``1:30``, which is 90, or ``2024-01-01``.
    """

    def compose_scalar_node(self, anchor: Any) -> yaml.ScalarNode:
        """A number, text or truth value."""
        node = super().compose_scalar_node(anchor)
        kind, line = node.tag.rpartition(":")[2], node.start_mark.line + 1
        if kind in ("timestamp", "value"):
            raise ValueError(
                f"line {line}: {shown(node.value)} should be a number, or text, which is quoted."
            )
        if kind in ("int", "float") and not NUMBER.fullmatch(node.value):
            raise ValueError(
                f"line {line}: {cut(node.value)} is {shown(self.construct_object(node))} in YAML 1.1 and "
                "another in 1.2; write numbers without leading zeros, '_', ':', '0b', and text in quotes."
            )
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """A block. It is checked here, before the keys that it merges (``<<``) are added to its node."""
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if key.tag not in KEY_TAGS:
                name = shown(key.value) if isinstance(key, yaml.ScalarNode) else "a list or block"
                raise ValueError(f"line {line}: the key {name} should be text, which is quoted.")
            if key.value in lines:
                raise ValueError(f"line {line}: {shown(key.value)} is already in line {lines[key.value]}.")
            lines[key.value] = line
        return node


def read_config_file(file: Path) -> dict[str, Any]:
    """Read a configuration in YAML or JSON; `InputError` names what is wrong with the file."""
    with readable(file, "configuration", yaml.YAMLError, AttributeError):
        config = _read(file.read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError("it should be a block of settings.")
    check_values(config)
    return config


def _read(text: str) -> Any:
    """The content of a file in JSON, else in YAML; in this order, as Snakemake does."""
    try:
        return json.loads(text, object_pairs_hook=without_duplicates)
    except json.JSONDecodeError:
        return yaml.load(text, StrictLoader)


def check_values(config: Mapping[str, Any]) -> None:
    """Check that a configuration, aliases expanded, holds only what JSON can, and not too much of it."""
    for n_values, (value, depth) in enumerate(_values(config)):
        if n_values > MAX_VALUES or depth > MAX_DEPTH:
            raise InputError(
                f"the configuration should have at most {MAX_VALUES} values, with its aliases expanded, "
                f"and {MAX_DEPTH} levels."
            )
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise InputError("the configuration has a number of too many digits.")
        if not _can_be_passed(value):
            raise InputError(f"{shown(value)} should be a number, or text, which is quoted.")
        for key in value if isinstance(value, Mapping) else ():
            if not (isinstance(key, str) and _can_be_passed(key)):
                raise InputError(f"the key {shown(key)} should be text, which is quoted.")


def _can_be_passed(value: Any) -> bool:
    """Whether an argument of a command and a JSON file can hold a value."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
    return value is None or isinstance(value, Mapping | list | int | float)


def _values(value: Any, depth: int = 0) -> Iterator[tuple[Any, int]]:
    """A value and all values in it, each with its level, aliases expanded."""
    yield value, depth
    if isinstance(value, Mapping | list):
        for child in value.values() if isinstance(value, Mapping) else value:
            yield from _values(child, depth + 1)
