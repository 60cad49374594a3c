"""How often the gates are wrong, as it was measured on texts and by simulation. Written by the benchmarks, read by page and API."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def over_texts() -> Mapping[str, Any]:
    """Of the gates over answers: `limits` that they go by, `sources` of the texts, and `rates`."""
    return _read("calibration.json")


@cache
def over_machines() -> Mapping[str, Any]:
    """Of the gates over a machine: the `noise` that was simulated, and `rates`."""
    return _read("gates.json")


def _read(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((files("app.statistics") / name).read_text(encoding="utf-8"))
    return found
