"""Checks parameters against the small subset of JSON Schema that a runner's offer may use (app.domain.catalogue)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Fault = tuple[tuple[object, ...], str]
_TYPES: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list | tuple),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer()),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
# The same in words.
_CALLED = {
    "object": "an object", "array": "a list", "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
}  # fmt: skip
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda value, bound: value >= bound, "must be at least {}"),
    "maximum": (lambda value, bound: value <= bound, "must be at most {}"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "must be above {}"),
    "exclusiveMaximum": (lambda value, bound: value < bound, "must be below {}"),
}
_SIZES: dict[str, tuple[type | tuple[type, ...], Callable[[int, int], bool], str]] = {
    "minLength": (str, lambda size, bound: size >= bound, "must have at least {} characters"),
    "maxLength": (str, lambda size, bound: size <= bound, "must have at most {} characters"),
    "minItems": ((list, tuple), lambda size, bound: size >= bound, "must have at least {} entries"),
    "maxItems": ((list, tuple), lambda size, bound: size <= bound, "must have at most {} entries"),
}


def faults(schema: Mapping[str, Any], value: object, path: tuple[object, ...] = ()) -> Iterator[Fault]:
    """(path, what is wrong there) for everything in `value` that the schema does not allow."""
    if "anyOf" in schema:
        tried = [list(faults(option, value, path)) for option in schema["anyOf"]]
        if all(tried):
            yield from min(tried, key=len)
            return
    wanted = schema.get("type")
    types = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if types and not any(_TYPES[name](value) for name in types if name in _TYPES):
        yield path, f"must be {' or '.join(_CALLED[name] for name in types if name in _CALLED) or 'left out'}"
        return
    yield from _value_faults(schema, value, path)
    if isinstance(value, dict):
        yield from _object_faults(schema, value, path)
    elif isinstance(value, list | tuple) and isinstance(schema.get("items"), dict):
        for place, item in enumerate(value):
            yield from faults(schema["items"], item, (*path, place))


def _value_faults(schema: Mapping[str, Any], value: object, path: tuple[object, ...]) -> Iterator[Fault]:
    if "enum" in schema and value not in schema["enum"]:
        yield path, f"must be one of {', '.join(map(str, schema['enum']))}"
    if "const" in schema and value != schema["const"]:
        yield path, f"must be {schema['const']}"
    for keyword, (holds, message) in _BOUNDS.items():
        if keyword in schema and _TYPES["number"](value) and not holds(value, schema[keyword]):
            yield path, message.format(schema[keyword])
    for keyword, (kind, fits, message) in _SIZES.items():
        if keyword in schema and isinstance(value, kind) and not fits(len(value), schema[keyword]):  # type: ignore[arg-type]
            yield path, message.format(schema[keyword])


def _object_faults(schema: Mapping[str, Any], value: Mapping[str, Any], path: tuple[object, ...]) -> Iterator[Fault]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield (*path, name), "is required"
    for name, item in value.items():
        if name in properties:
            yield from faults(properties[name], item, (*path, name))
        elif schema.get("additionalProperties") is False or (not properties and "additionalProperties" not in schema):
            known = ", ".join(sorted(properties)) or "none"
            yield (*path, name), f"this parameter is not known (known: {known})"
        elif isinstance(schema.get("additionalProperties"), dict):
            yield from faults(schema["additionalProperties"], item, (*path, name))
