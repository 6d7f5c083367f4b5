"""Validation by a JSON schema, and what a schema allows in words: the end of "x=3 should be ..."."""

import copy
import json
import math
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from dekm.experiment.blocks import merge
from dekm.experiment.config_file import StrictLoader

TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "a block of settings",
    "string": "text",
}
EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")  # a float of YAML 1.2, but text in 1.1
FAR = 1000
LIMITS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


@cache
def read_schema(file: Path) -> dict[str, Any]:
    """Read a schema in YAML, with the parameters of methods from parameters.schema.json beside it.

    The keys of the machine stand in a block of their own there, and at the top level of a configuration.
    """
    parameters = json.loads(file.with_name("parameters.schema.json").read_text(encoding="utf-8"))
    schema = merge(parameters, yaml.safe_load(file.read_text(encoding="utf-8")))
    return schema | {"properties": schema["properties"] | schema["$defs"]["machine"]["properties"]}


def validator(schema: Mapping[str, Any]) -> Any:
    """Validator whose numbers are finite and whose integers are not floats."""
    checker = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: isinstance(value, int) and _is_number(value),
            "number": lambda _, value: _is_number(value),
        }
    )
    return jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=checker)(schema)


def read_texts(config: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a configuration with values that the schema allows where the given ones clearly mean them.

    Text that writes a number, a truth value or null is read, and a single value where a list is expected
    becomes a list of one.
    """
    read = copy.deepcopy(dict(config))
    checker = validator(schema)
    for error in list(checker.iter_errors(read)):
        value = _parse(error.instance)
        if error.schema.get("type") == "array":
            value = [value]
        is_value = error.absolute_path and "propertyNames" not in error.absolute_schema_path
        if is_value and checker.evolve(schema=error.schema).is_valid(value):
            *parents, last = error.absolute_path
            block: Any = read
            for part in parents:
                block = block[part]
            block[last] = value
    return read


def _parse(value: Any) -> Any:
    """The number, truth value or null that text writes; other values are returned as they are."""
    if not isinstance(value, str):
        return value
    try:
        parsed = float(value) if EXPONENT.fullmatch(value) else yaml.load(value, StrictLoader)
    except (ValueError, LookupError, AttributeError, RecursionError, yaml.YAMLError):
        return value  # PyYAML raises all of these, some for a tag that does not fit: "!!int"
    return parsed if parsed is None or isinstance(parsed, int | float) else value


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and abs(value) <= sys.float_info.max


def describe_schema(schema: Mapping[str, Any], given: Any = None) -> str:
    """The values that a schema without references allows, such as "an integer >= 1 or null".

    A very large maximum or length is only named if the given value exceeds it. The comment of a schema says
    in words what its pattern means.
    """
    if "anyOf" in schema:
        return " or ".join(describe_schema(part, given) for part in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(
            repr(value) if isinstance(value, str) else json.dumps(value) for value in schema["enum"]
        )
    types = schema.get("type", "string")
    first, *others = [types] if isinstance(types, str) else types
    return " or ".join([TYPES[first] + _restrictions(schema, given), *(TYPES[name] for name in others)])


def _restrictions(schema: Mapping[str, Any], given: Any) -> str:
    """What a schema asks for beyond the type, as the end of a noun phrase."""
    limits = [
        f" {sign} {schema[name]}"
        for name, sign in LIMITS.items()
        if name in schema and (schema[name] < FAR or _exceeds(given, schema[name]))
    ]
    text = " and".join(limits)
    if "pattern" in schema:
        text += f" {schema.get('$comment', 'that matches ' + schema['pattern'])}"
    if isinstance(given, str) and len(given) > schema.get("maxLength", math.inf):
        text += f" of at most {schema['maxLength']} characters"
    if "minItems" in schema:
        text += _length(schema, given)
    if "items" in schema:
        text += f", each {describe_schema(schema['items'])}"
    if "minProperties" in schema or "minLength" in schema:
        text += " that is not empty"
    return text


def _length(schema: Mapping[str, Any], given: Any) -> str:
    least, most = schema["minItems"], schema.get("maxItems")
    if isinstance(given, list) and most is not None and len(given) > most > least:
        return f" of at most {most} value(s)"
    at_least = "" if least == most else "at least "
    return f" of {at_least}{least} {'different ' if schema.get('uniqueItems') else ''}value(s)"


def _exceeds(given: Any, limit: float) -> bool:
    return isinstance(given, int | float) and given > limit
