"""How often the headline's interval holds the truth, by simulation: the methodology page's table of what `make coverage` measured."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from app.reports.format import STYLES, decimal


@dataclass(frozen=True)
class Row:
    """Runs of one size; `covered` has an entry a trial noise, None where the load needs more prompts."""

    load: int
    prompts: int
    trial_pairs: int
    covered: tuple[str | None, ...]


@dataclass(frozen=True)
class Coverage:
    simulations: str
    noises: tuple[str, ...]
    rows: tuple[Row, ...]


@cache
def _measured() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((files("app.statistics") / "coverage.json").read_text(encoding="utf-8"))
    return found


def coverage(locale: str) -> Coverage:
    told = _measured()
    noises = sorted({cell["noise"] for cell in told["cells"]})
    sizes = dict.fromkeys((cell["load"], cell["prompts"], cell["trial_pairs"]) for cell in told["cells"])
    by_cell = {(cell["load"], cell["prompts"], cell["trial_pairs"], cell["noise"]): cell["covered"] for cell in told["cells"]}
    return Coverage(
        decimal(told["simulations"], 0, locale),
        tuple(_percent(noise, 0, locale) for noise in noises),
        tuple(Row(*size, tuple(_covered(by_cell[*size, noise], locale) for noise in noises)) for size in sizes),
    )


def _covered(share: float | None, locale: str) -> str | None:
    return None if share is None else _percent(share, 1, locale)


def _percent(share: float, digits: int, locale: str) -> str:
    return decimal(share * 100, digits, locale) + STYLES["share"].suffix(locale)
