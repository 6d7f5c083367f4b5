"""The page of the configuration: every key of the schema."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from dekm.errors import InputError
from dekm.experiment.schema import read_schema
from dekm.methods import METHODS
from docs.extension.text import code, plain, table

ROOT = Path(__file__).parents[2]
SCHEMA_FILE = ROOT / "config" / "config.schema.yaml"
HEADER = ["key", "type and limits", "default", "meaning"]
BLOCKS = {  # of which the schema has one description for all places
    "pretraining": "The settings of the pretraining that differ here, as in the table of a pretraining.",
    "methods": "The settings of methods that differ here.",
}
LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
TYPES = {"object": "block", "array": "list"}
Block = Mapping[str, Any]


def page() -> str:
    """The tables of all keys.

    Raises
    ------
    InputError
        If a key is not described.
    """
    root = read_schema(SCHEMA_FILE)
    blocks = root["$defs"]
    figures = root["properties"]["figures"]["properties"]
    machine = blocks["machine"]["properties"]
    experiment = {key: value for key, value in root["properties"].items() if key not in machine}
    sections = {
        "Top level": _table(root, {**root, "properties": experiment}),
        "Top level: the machine and the call, which belong to no result": _table(root, blocks["machine"]),
        "A dataset: `datasets.<name>`": _table(root, blocks["dataset"]),
        "A pretraining: `pretraining`": _table(root, blocks["pretraining"]),
        **{f"A figure: `figures.{name}`": _table(root, figure) for name, figure in figures.items()},
        "A method of your own: `methods.<name>`": _table(root, blocks["own_method"]),
        "The methods: `methods.<name>`": "Which method takes which parameter:\n\n" + _takers(root),
        **{f"`methods.{name}`: {METHODS[name].label}": _method(root, name) for name in METHODS},
    }
    return "\n".join(f"## {title}\n\n{text}" for title, text in sections.items())


def undescribed() -> str:
    """The first key that has no description; empty if all have one."""
    try:
        page()
    except InputError as error:
        return str(error)
    return ""


def _method(root: Block, name: str) -> str:
    return _table(root, _block(root, name), METHODS[name].params)


def _block(root: Block, name: str) -> Block:
    """The schema of a method's block."""
    return _resolved(root, root["$defs"]["methods"]["properties"][name])


def _table(root: Block, block: Block, fixed: Block | None = None) -> str:
    rows = []
    for key, value in block["properties"].items():
        schema = _resolved(root, value)
        text = schema.get("description") or BLOCKS.get(key)
        if not text:
            raise InputError(
                f"{SCHEMA_FILE.name}: the key {key} of {sorted(block['properties'])} has no description."
            )
        default = code(_as_yaml(schema["default"])) if "default" in schema else ""
        if key in block.get("required", ()):
            default = "required"
        if key in (fixed or {}):
            default = f"{code(_as_yaml(fixed[key]))}, cannot be changed"
        rows.append([code(key), _type(root, schema), default, plain(text)])
    return table(HEADER, rows)


def _as_yaml(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True).removesuffix("\n...\n").strip()


def _type(root: Block, schema: Block) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(root, _resolved(root, part)) for part in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(code(_as_yaml(choice)) for choice in schema["enum"])
    names = schema.get("type", "object")
    kind = " or ".join(TYPES.get(name, name) for name in ([names] if isinstance(names, str) else names))
    return ", ".join([kind, *_limits(root, schema)])


def _limits(root: Block, schema: Block) -> Iterator[str]:
    yield from (f"{sign} {schema[key]:,}" for key, sign in LIMITS.items() if key in schema)
    if "maxLength" in schema:
        yield f"at most {schema['maxLength']:,} characters"
    if "items" in schema:
        smallest, largest = schema.get("minItems", 0), schema.get("maxItems")
        bounded = (
            str(smallest)
            if smallest == largest
            else f"{smallest} to {largest:,}"
            if largest
            else "any number"
        )
        yield f"{bounded} of: {_type(root, _resolved(root, schema['items']))}"


def _takers(root: Block) -> str:
    takes = {name: set(_block(root, name)["properties"]) for name in METHODS}
    keys = dict.fromkeys(key for name in METHODS for key in _block(root, name)["properties"])
    rows = [[code(key), *("✓" if key in takes[name] else "" for name in METHODS)] for key in keys]
    return table(["key", *map(code, METHODS)], rows)


def _resolved(root: Block, schema: Block) -> Block:
    """A part of the schema in which a reference is replaced by what it names."""
    if "$ref" not in schema:
        return schema
    target: Any = root
    for part in schema["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return {**target, **{key: part for key, part in schema.items() if key != "$ref"}}
