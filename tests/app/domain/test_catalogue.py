"""A runner's parameter schemas are untrusted: a small subset of JSON Schema, bounded in size and depth."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.domain.catalogue import Part, small_schema
from tests.factories import offer


def nested(levels: int) -> dict[str, Any]:
    """A schema with `levels` more inside each other."""
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


def deep_list(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


def test_a_schema_as_pydantic_makes_it_passes() -> None:
    """Catches a subset too small for our own drafters: bounds, choices, optional values, and properties named like keywords."""
    schema = {
        "type": "object",
        "title": "Params",
        "additionalProperties": False,
        "required": ["skip"],
        "properties": {
            "skip": {"type": "integer", "minimum": 1, "maximum": 64, "default": 10, "description": "layers"},
            "mode": {"enum": ["a", "b"], "default": "a"},
            "share": {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, {"type": "null"}], "default": None},
            "pattern": {"type": "string", "maxLength": 8},
            "properties": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
        },
    }
    assert small_schema(schema) is schema


@pytest.mark.parametrize("keyword", ["$ref", "$defs", "pattern", "patternProperties", "format", "allOf", "not", "if", "$schema", "$dynamicRef"])
@pytest.mark.parametrize("wrap", [lambda s: s, lambda s: {"properties": {"x": s}}, lambda s: {"anyOf": [s]}, lambda s: {"items": s}])
def test_other_keywords_are_refused_by_name_wherever_they_are(keyword: str, wrap: Any) -> None:
    """Catches a reference or a regular expression hidden below the first level."""
    with pytest.raises(ValueError, match=f"may not use {keyword}".replace("$", r"\$")):
        small_schema(wrap({keyword: "x"}))


def test_four_levels_and_no_more() -> None:
    assert small_schema(nested(3))
    with pytest.raises(ValueError, match="4 levels deep"):
        small_schema(nested(4))


def test_lists_in_lists_are_bounded_too() -> None:
    """Catches nesting hidden in an enum, deep enough to exhaust a parser."""
    with pytest.raises(ValueError, match="4 levels deep"):
        small_schema({"enum": deep_list(2000)})


def test_64_kib_and_no_more() -> None:
    head = len('{"description": ""}')
    assert small_schema({"description": "x" * (64 * 1024 - head)})
    with pytest.raises(ValueError, match="64 KiB"):
        small_schema({"description": "x" * (64 * 1024 - head + 1)})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_are_finite(value: float) -> None:
    """Catches a schema that no browser can parse."""
    with pytest.raises(ValueError, match="JSON compliant"):
        small_schema({"default": value})


def test_a_part_is_refused_with_its_schema() -> None:
    with pytest.raises(ValidationError, match="may not use pattern"):
        Part(name="x", schema={"properties": {"a": {"type": "string", "pattern": "(a+)+$"}}})


def test_an_offer_survives_json_under_the_name_schema() -> None:
    """Catches the alias of schema_ lost on the wire, which would publish drafters without parameters."""
    before = offer()
    text = before.model_dump_json(by_alias=True)
    assert type(before).model_validate_json(text) == before
    assert '"schema":' in text
    assert '"schema_":' not in text


@pytest.mark.parametrize(
    "over", [{"engines": ("x",) * 33}, {"device": "x" * 257}, {"labels": {f"k{n}": "" for n in range(17)}}, {"max_concurrency": 0}, {"gpu": 1}]
)
def test_an_offer_is_bounded(over: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(over))):
        offer(**over)
