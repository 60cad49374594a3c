"""One spelling of what is asked, however it was typed: numbers, parameters and whole specs."""

import json
from collections.abc import Mapping
from typing import Any

# From here on not every whole number is a float, so 1e16 and 10**16 are left as they are.
EXACT = 2**53


def numbers(value: Any) -> Any:
    """A JSON value in which 1.0 is 1 and −0.0 is 0; true stays what it is."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < EXACT else value
    if isinstance(value, Mapping):
        return {name: numbers(item) for name, item in value.items()}
    return [numbers(item) for item in value] if isinstance(value, list | tuple) else value


def deeper(value: Any, levels: int) -> bool:
    """Whether objects and lists nest more than `levels` deep."""
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else None
    return inside is not None and (levels == 0 or any(deeper(item, levels - 1) for item in inside))


def filled(params: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with the defaults of their JSON schema where nothing was said, also inside of objects."""
    known: Mapping[str, Any] = schema.get("properties", {})
    whole = {name: node["default"] for name, node in known.items() if "default" in node} | dict(params)
    return {name: filled(value, known.get(name, {})) if isinstance(value, Mapping) else value for name, value in whole.items()}


def text(value: Any) -> str:
    """Canonical JSON: equal texts say the same, numbers included."""
    return json.dumps(numbers(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
