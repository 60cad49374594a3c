"""The check of parameters against a runner's schema."""

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from app.runners_registry.parameters import faults

OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def found(schema: dict[str, Any], value: object) -> list[tuple[tuple[object, ...], str]]:
    return list(faults(schema, value))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [1, 0, 4.0], [1.5, True, "1", None]),
        ({"type": "number"}, [1, 1.5], [True, "1"]),
        ({"type": "boolean"}, [True], [1, "true"]),
        ({"type": "string", "minLength": 1, "maxLength": 2}, ["a", "яя"], ["", "abc", 1]),
        ({"type": ["string", "null"]}, ["a", None], [1]),
        ({"enum": ["a", "b"]}, ["a"], ["c", 1]),
        ({"const": 3}, [3], [4]),
        ({"minimum": 1, "maximum": 3}, [1, 3], [0, 4]),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5], [0, 1]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [1, 2, 3], ["a"], "ab"]),
        ({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}, [1, None], [0, "a"]),
        (OBJECT, [{"a": 1}], [{}, {"a": 1, "b": 2}, []]),
        ({}, [{}], [{"a": 1}]),
    ],
)  # fmt: skip
def test_each_keyword(schema: dict[str, Any], good: list[object], bad: list[object]) -> None:
    """Catches a keyword that is read and not enforced, or enforced the wrong way round."""
    assert [value for value in good if found(schema, value)] == []
    assert [value for value in bad if not found(schema, value)] == []


def test_the_place_of_a_fault_is_named() -> None:
    """Catches a form that cannot show the message at its field."""
    schema = {"type": "object", "properties": {"layers": {"type": "array", "items": {"type": "integer", "minimum": 0}}}}
    assert found(schema, {"layers": [1, -1]}) == [(("layers", 1), "must be at least 0")]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("integer", "must be a whole number"), ("number", "must be a number"), ("string", "must be text"), ("boolean", "must be true or false"),
        ("array", "must be a list"), ("object", "must be an object"), (["integer", "null"], "must be a whole number"),
    ],
)  # fmt: skip
def test_a_type_is_called_by_a_word(wanted: Any, said: str) -> None:
    """Catches "must be integer"."""
    assert found({"type": wanted}, complex(1, 1)) == [((), said)]


class Params(BaseModel):
    """As drafters write theirs."""

    model_config = ConfigDict(extra="forbid")

    skip: int = Field(default=10, ge=1, le=30)
    share: float | None = None
    names: tuple[str, ...] = ()


@pytest.mark.parametrize(
    "value",
    [{}, {"skip": 3}, {"skip": 0}, {"skip": "x"}, {"share": None}, {"share": 0.5}, {"share": "x"}, {"names": ["a"]}, {"names": [1]}, {"n": 1}],
)
def test_agrees_with_pydantic(value: dict[str, Any]) -> None:
    """Catches a spec that the service accepts and the runner refuses an hour later, or the other way round."""
    try:
        Params.model_validate(value, strict=False)
        valid = True
    except ValueError:
        valid = False
    assert (not found(Params.model_json_schema(), value)) is valid
