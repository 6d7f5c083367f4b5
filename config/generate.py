"""Write parameters.schema.json, what a configuration may say of methods and the pretraining: `make schema`.

Names, bounds, defaults and descriptions are those of the classes, and stand nowhere else.
"""

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from dekm import Autoencoder
from dekm.experiment.config import Machine
from dekm.experiment.estimators import settable
from dekm.methods import METHODS
from dekm.methods.validation import Choice, Integer, Integers, Number

FILE = Path(__file__).with_name("parameters.schema.json")
ENTRY = re.compile(r"^(\w+) : .*\n((?:    .*\n)+)", re.MULTILINE)  # of a docstring's section Parameters
COMMENT = "Made from the classes in dekm/methods by config/generate.py (make schema)."


def content() -> dict[str, Any]:
    """A block for each class, and which class a method's block belongs to."""
    classes = {name: row.load() for name, row in METHODS.items()}
    methods = {name: {"$ref": f"#/$defs/{estimator.__name__}"} for name, estimator in classes.items()}
    blocks = {estimator.__name__: _method(estimator) for estimator in classes.values()}
    machine = {field.name: {"default": field.default} for field in fields(Machine)}
    pretraining = {"type": "object", "additionalProperties": False, "properties": _properties(Autoencoder)}
    shared = {"methods": {"properties": methods}, "machine": {"properties": machine}}
    return {"$comment": COMMENT, "$defs": {**shared, "pretraining": pretraining, **blocks}}


def text() -> str:
    """The content of the file."""
    return json.dumps(content(), indent=2) + "\n"


def _method(estimator: Any) -> dict[str, Any]:
    has_autoencoder = "autoencoder" in inspect.signature(estimator).parameters
    start = {"pretraining": {"$ref": "#/$defs/pretraining"}} if has_autoencoder else {}
    properties = start | _properties(estimator)
    return {"type": ["object", "null"], "additionalProperties": False, "properties": properties}


def _properties(estimator: Any) -> dict[str, Any]:
    meanings = dict(ENTRY.findall(inspect.getdoc(estimator) + "\n"))
    parameters = inspect.signature(estimator).parameters
    return {
        name: {
            "description": re.split(r"(?<=\.)\s", " ".join(meanings[name].split()), maxsplit=1)[0],
            **_allowed(estimator.parameter_constraints.get(name)),
            "default": parameters[name].default,
        }
        for name in settable(estimator)
    }


def _allowed(constraint: Any) -> dict[str, Any]:
    """The values that a constraint allows, as a schema."""
    match constraint:
        case Choice(values):
            return {"enum": list(values)}
        case Integers(minimum, length, maximum):
            limits = {"minItems": length, "maxItems": length} if length else {}
            return {"type": "array", **limits, "items": _allowed(Integer(minimum, maximum=maximum))}
        case Integer(minimum, words, maximum):
            number = {"type": "integer", "minimum": minimum, "maximum": maximum}
        case Number(minimum, maximum, words=words):
            least, most = ("minimum" if constraint.inclusive else "exclusiveMinimum"), constraint.maximum
            number = {"type": "number", least: minimum}
            if most is not None:
                number["maximum" if constraint.closed else "exclusiveMaximum"] = most
        case None:  # checked elsewhere, as config.schema.yaml says
            return {}
    return {"anyOf": [number, {"enum": list(words)}]} if words else number


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
