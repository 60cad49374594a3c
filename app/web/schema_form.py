"""A JSON schema as form fields, and a form back as values: what a runner offers needs no template of its own."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.reports.format import asked
from app.reports.translate import gettext
from app.reports.words import mark

Kind = Literal["number", "text", "select", "radio", "checkbox"]
MANY = 4


class Unreadable(ValueError):
    """What was typed is not of the field's type; the message is for the person who typed it."""


@dataclass(frozen=True)
class Field:
    """`value` is the text as typed, or the default; `id` and `name` are the same."""

    name: str
    label: str
    kind: Kind
    value: str = ""
    hint: str = ""
    error: str = ""
    options: tuple[tuple[str, str], ...] = ()
    least: float | None = None
    most: float | None = None
    step: str = "1"
    suggestions: tuple[str, ...] = field(default=())
    required: bool = False

    @property
    def checked(self) -> bool:
        return self.value in {"true", "True", "on", "1"}


def fields(prefix: str, schema: Mapping[str, Any], typed: Mapping[str, str], errors: Mapping[str, str], locale: str) -> list[Field]:
    """title → label, description → hint, enum ≤ 4 → radios, > 4 → select, bounds → min, max and a hint in words."""
    found = []
    for key, raw in schema.get("properties", {}).items():
        name, node = f"{prefix}{key}", _solid(raw)
        default = raw.get("default", node.get("default"))
        value = typed.get(name, "" if default is None else _text(default))
        common: dict[str, Any] = {"name": name, "label": _label(key, raw, node, locale), "value": value, "error": errors.get(name, "")}
        common["required"] = key in schema.get("required", ())
        found.append(_field(node, raw, common, locale))
    return found


def _solid(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of `integer or null` the integer: an empty field is the null."""
    kinds = [item for item in node.get("anyOf", ()) if item.get("type") != "null"]
    return kinds[0] if len(kinds) == 1 else node


def _label(key: str, raw: Mapping[str, Any], node: Mapping[str, Any], locale: str) -> str:
    return gettext(str(raw.get("title") or node.get("title") or key.replace("_", " ").capitalize()), locale)


def _field(node: Mapping[str, Any], raw: Mapping[str, Any], common: dict[str, Any], locale: str) -> Field:
    described = gettext(str(raw.get("description") or node.get("description") or ""), locale)
    if "enum" in node:
        options = tuple((_text(item), gettext(_text(item), locale)) for item in node["enum"])
        return Field(kind="radio" if len(options) <= MANY else "select", options=options, hint=described, **common)
    if node.get("type") == "boolean":
        return Field(kind="checkbox", hint=described, **common)
    if node.get("type") in {"integer", "number"}:
        least, most = node.get("minimum", node.get("exclusiveMinimum")), node.get("maximum", node.get("exclusiveMaximum"))
        step = "1" if node["type"] == "integer" else "any"
        return Field(kind="number", least=least, most=most, step=step, hint=_bounds(described, least, most, locale), **common)
    return Field(kind="text", hint=_listed(described, locale) if node.get("type") == "array" else described, **common)


def _listed(described: str, locale: str) -> str:
    return f"{described}. ".lstrip(". ") + gettext("Several values, with blanks between them.", locale)


def _bounds(described: str, least: float | None, most: float | None, locale: str) -> str:
    if described and not described.endswith((".", "!", "?")):
        described += "."
    described = described[:1].upper() + described[1:]
    if least is None or most is None:
        return described
    span = gettext("From %(least)s to %(most)s.", locale) % {"least": _plain(least, locale), "most": _plain(most, locale)}
    return f"{described} {span}".strip()


def _plain(value: float, locale: str) -> str:
    return asked("number", value, locale)


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(_text, value))
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def values(prefix: str, schema: Mapping[str, Any], typed: Mapping[str, str], locale: str) -> tuple[dict[str, Any], dict[str, str]]:
    """(what was typed as values, {field name: what is wrong}). An empty field is left out, so that the part's own default holds."""
    found: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for key, raw in schema.get("properties", {}).items():
        name, node = f"{prefix}{key}", _solid(raw)
        if node.get("type") == "boolean":
            found[key] = typed.get(name, "") in {"true", "on", "1"}
            continue
        text = typed.get(name, "").strip()
        if not text:
            if key in schema.get("required", ()):
                errors[name] = gettext("Enter a value: there is no default.", locale)
            continue
        try:
            found[key] = _read(node, text, locale)
        except Unreadable as error:
            errors[name] = str(error)
    return found, errors


def _read(node: Mapping[str, Any], text: str, locale: str) -> object:
    if "enum" in node:
        match = next((item for item in node["enum"] if _text(item) == text), None)
        if match is None:
            raise Unreadable(gettext("Choose one of: %(options)s.", locale) % {"options": ", ".join(_text(item) for item in node["enum"])})
        return match
    if node.get("type") in {"integer", "number"}:
        return _number(node, text, locale)
    if node.get("type") == "array":
        # A comma may stand within a number, so it parts values only where a blank follows it.
        return [_read(node.get("items", {}), each.rstrip(",;"), locale) for each in text.split()]
    return text


def _number(node: Mapping[str, Any], text: str, locale: str) -> float | int:
    try:
        value: float | int = int(text) if node["type"] == "integer" else float(text.replace(",", "."))
    except ValueError:
        words = mark("Enter a whole number.") if node["type"] == "integer" else mark("Enter a number.")
        raise Unreadable(gettext(words, locale)) from None
    if not math.isfinite(value):
        raise Unreadable(gettext("Enter a number.", locale))
    least, most = node.get("minimum"), node.get("maximum")
    low, high = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    outside = (least is not None and value < least) or (most is not None and value > most) or (low is not None and value <= low)
    if outside or (high is not None and value >= high):
        bounds = {"least": _plain(least if least is not None else low or 0, locale), "most": _plain(most if most is not None else high or 0, locale)}
        if (least is None and low is None) or (most is None and high is None):
            raise Unreadable(gettext("This number is outside what the part takes.", locale))
        raise Unreadable(gettext("Enter a number from %(least)s to %(most)s.", locale) % bounds)
    return value
