"""The toy table as `bezmen toy --json` gave it once: the service shows it without running the laboratory.

Counts are the same on every machine, which a test holds against a fresh run; the wall-clock is that of one run on one machine.
"""

from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from app.toy.table import ToyRow

# What the source of the toy prints: kept ÷ new ids, which it calls acceptance, and plain time ÷ its own.
PRINTED = {"k_skip=1": (0.774, 0.34), "k_skip=2": (0.750, 0.36), "adaptive": (0.829, 0.33)}


@cache
def rows() -> tuple[ToyRow, ...]:
    text = (files("app.toy") / "measured.json").read_text(encoding="utf-8")
    return TypeAdapter(tuple[ToyRow, ...]).validate_json(text)
