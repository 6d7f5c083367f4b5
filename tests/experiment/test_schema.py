import pytest

from dekm.experiment.schema import describe_schema


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "integer", "minimum": 1}, "an integer >= 1"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "a number > 0 and < 1"),
        ({"type": ["integer", "null"], "minimum": 1}, "an integer >= 1 or null"),
        ({"enum": [True, False, "images"]}, "true or false or 'images'"),
        ({"enum": [1, 3]}, "1 or 3"),
        ({"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["auto"]}]}, "an integer >= 1 or 'auto'"),
        ({"type": "boolean"}, "true or false"),
        ({"pattern": "^[a-z]+$"}, "text that matches ^[a-z]+$"),
        ({"pattern": "^[a-z]+$", "$comment": "of small letters"}, "text of small letters"),
        ({"type": "object", "minProperties": 1}, "a block of settings that is not empty"),
        (
            {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer", "minimum": 1}},
            "a list of 2 value(s), each an integer >= 1",
        ),
    ],
)
def test_the_values_that_a_schema_allows_are_described(schema: dict, text: str) -> None:
    assert describe_schema(schema) == text
