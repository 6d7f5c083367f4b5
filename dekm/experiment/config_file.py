"""Reading a configuration file more strictly than Snakemake does."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from dekm.errors import InputError, shown
from dekm.files.reading import readable

MAX_VALUES = 100_000  # of a configuration whose aliases are expanded; that of the paper has 200
MAX_DEPTH = 50
MAX_BITS = 10_000  # of an integer; Python refuses to print very long ones


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that a block has twice, of which YAML libraries keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise ValueError(f"line {line}: a key should be text.")
            if key.value in lines:
                raise ValueError(f"line {line}: {shown(key.value)} is already in line {lines[key.value]}.")
            lines[key.value] = line
        return super().construct_mapping(node, deep)


def read_config_file(file: Path) -> dict[str, Any]:
    """Read a configuration in YAML or JSON.

    Raises
    ------
    InputError
        If the file cannot be read, is not a block of settings, has a key twice in a block, or is too large.
    """
    with readable(file, "configuration", yaml.YAMLError, AttributeError):
        config = yaml.load(file.read_text(encoding="utf-8"), _StrictLoader)
        if not isinstance(config, dict):
            raise ValueError("it should be a block of settings.")
    check_values(config)
    return config


def check_values(config: Mapping[str, Any]) -> None:
    """Check that a configuration holds only what can be passed on to the jobs, and not too much of it.

    Raises
    ------
    InputError
        If it has more than `MAX_VALUES` values, with its aliases expanded, or `MAX_DEPTH` levels, or a value
        is a date or another type that JSON does not have.
    """
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


def _values(config: Mapping[str, Any]) -> Iterator[tuple[Any, int]]:
    """Every value with its level, aliases expanded."""
    pending: list[tuple[Iterator[Any], int]] = [(iter([config]), 0)]
    while pending:
        values, depth = pending[-1]
        value = next(values, pending)
        if value is pending:
            pending.pop()
            continue
        yield value, depth
        if isinstance(value, Mapping | list):
            children = value.values() if isinstance(value, Mapping) else value
            pending.append((iter(children), depth + 1))
