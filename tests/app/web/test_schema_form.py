"""A runner's JSON schema as form fields, and back."""

from typing import Any

import pytest

from app.web.schema_form import Field, fields, values

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "max_ngram": {"type": "integer", "minimum": 1, "maximum": 8, "default": 3, "title": "Longest n-gram", "description": "Tokens to look up."},
        "mode": {"enum": ["short", "long"], "default": "short"},
        "many": {"enum": ["a", "b", "c", "d", "e"]},
        "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "lower": {"type": "boolean", "default": True},
        "window": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 99}, {"type": "null"}], "default": None},
    },
    "required": ["mode"],
}


def drawn(typed: dict[str, str] | None = None, errors: dict[str, str] | None = None) -> dict[str, Field]:
    return {field.name: field for field in fields("d.", SCHEMA, typed or {}, errors or {}, "en")}


def test_every_kind_of_field() -> None:
    """Catches a schema that draws the wrong control, loses its title, bounds, default or hint."""
    found = drawn()
    assert [(f.kind, f.value) for f in found.values()] == [
        ("number", "3"),
        ("radio", "short"),
        ("select", ""),
        ("number", ""),
        ("checkbox", "true"),
        ("number", ""),
    ]
    first = found["d.max_ngram"]
    assert (first.label, first.hint, first.least, first.most) == ("Longest n-gram", "Tokens to look up. From 1 to 8.", 1, 8)
    assert found["d.mode"].required
    assert found["d.window"].most == 99


def test_what_was_typed_comes_back() -> None:
    """Catches a form that forgets a mistake together with its message."""
    field = drawn({"d.max_ngram": "many"}, {"d.max_ngram": "Enter a whole number."})["d.max_ngram"]
    assert (field.value, field.error) == ("many", "Enter a whole number.")


@pytest.mark.parametrize("text", ["0.5 0.25", "0.5, 0.25", "0,5; 0,25", " 0.5,  0.25 "])
def test_several_values_are_a_list(text: str) -> None:
    """Catches a list that is sent as one text, which no runner takes, and one that comes back in brackets."""
    schema = {"properties": {"rates": {"anyOf": [{"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}}, {"type": "null"}]}}}
    assert values("d.", schema, {"d.rates": text}, "ru") == ({"rates": [0.5, 0.25]}, {})
    assert values("d.", schema, {"d.rates": "0.5 2"}, "en")[1] == {"d.rates": "Enter a number from 0 to 1."}
    schema["properties"]["rates"]["default"] = [0.5, 0.25]
    (field,) = fields("d.", schema, {}, {}, "en")
    assert (field.kind, field.value, field.hint) == ("text", "0.5 0.25", "Several values, with blanks between them.")


def test_texts_become_values() -> None:
    """Catches a number that is sent as text, an unchecked box that is sent as true, an empty field that is sent as 0."""
    found, errors = values("d.", SCHEMA, {"d.max_ngram": "5", "d.mode": "long", "d.share": "0,5", "d.window": ""}, "ru")
    assert found == {"max_ngram": 5, "mode": "long", "share": 0.5, "lower": False}
    assert errors == {}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("d.max_ngram", "9", "Enter a number from 1 to 8."),
        ("d.max_ngram", "2.5", "Enter a whole number."),
        ("d.share", "nan", "Enter a number."),
        ("d.share", "0", "Enter a number from 0 to 1."),
        ("d.mode", "other", "Choose one of: short, long."),
    ],
)
def test_a_wrong_value_is_named_at_its_field(name: str, text: str, said: str) -> None:
    """Catches an invalid value that reaches the queue, and a message without a field."""
    found, errors = values("d.", SCHEMA, {"d.mode": "short", name: text}, "en")
    assert errors == {name: said}
    assert name.removeprefix("d.") not in found


def test_what_has_no_default_is_asked_for_at_its_field() -> None:
    """Catches a form that is told complete and is refused when it is sent."""
    _, errors = values("d.", SCHEMA, {}, "en")
    assert errors == {"d.mode": "Enter a value: there is no default."}
