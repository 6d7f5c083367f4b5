"""What a JSON schema allows, in words: the second half of the sentence "x=3 should be ..."."""

import json
from collections.abc import Mapping
from typing import Any

TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "a block of settings",
    "string": "text",
}
LIMITS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def describe(schema: Mapping[str, Any]) -> str:
    """The values that a schema without references allows, such as "an integer >= 1 or null"."""
    if "anyOf" in schema:
        return " or ".join(describe(part) for part in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(
            repr(value) if isinstance(value, str) else json.dumps(value) for value in schema["enum"]
        )
    types = schema.get("type", "string")
    first, *others = [types] if isinstance(types, str) else types
    return " or ".join([TYPES[first] + _restrictions(schema), *(TYPES[name] for name in others)])


def _restrictions(schema: Mapping[str, Any]) -> str:
    """What a schema asks for beyond the type, as the end of a noun phrase."""
    text = " and".join(f" {sign} {schema[name]}" for name, sign in LIMITS.items() if name in schema)
    if "pattern" in schema:
        text += f" that matches {schema['pattern']}"
    if "minItems" in schema:
        at_least = "" if schema["minItems"] == schema.get("maxItems") else "at least "
        different = "different " if schema.get("uniqueItems") else ""
        text += f" of {at_least}{schema['minItems']} {different}value(s)"
    if "items" in schema:
        text += f", each {describe(schema['items'])}"
    if "minProperties" in schema:
        text += " that is not empty"
    return text
