"""A logarithmic axis of times: round ticks, as few as a phone has room for."""

import math
from collections.abc import Sequence
from typing import Any

from app.reports.format import decimal, style_of


def time_axis(seconds: Sequence[float], locale: str) -> dict[str, Any]:
    """A log axis with at most four round ticks."""
    low, high = min(seconds), max(seconds)
    positive = [value for value in seconds if value > 0]
    if low <= 0 or not positive:
        # Who waits for nothing waits 0 s, which no log axis has.
        top = high * 1.05 or 1.0
        ticks = [0.0, *_round_ticks(top / 8, top)[-2:]]
        return {"range": [-0.03 * top, top], "tickmode": "array", "tickvals": ticks, "ticktext": [_time(tick, high, locale) for tick in ticks]}
    low, high = low / 1.05, high * 1.05
    ticks = _round_ticks(low, high)
    text = [_time(tick, high, locale) for tick in ticks]
    return {"type": "log", "range": [math.log10(low), math.log10(high)], "tickmode": "array", "tickvals": ticks, "ticktext": text}


def _round_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times a power of ten; finer where there are fewer than two of them, coarser where there are more than four."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(k / 10 for k in range(10, 100)), tuple(k / 100 for k in range(100, 1000))):
        found = [step * 10.0**power for power in range(first, last + 1) for step in steps if low <= step * 10.0**power <= high]
        if len(found) >= 2:
            break
    return found[:: max(1, -(-len(found) // 4))]


def _time(seconds: float, largest: float, locale: str) -> str:
    style = style_of("seconds", largest)
    value = seconds * style.scale
    digits = next((digits for digits in range(4) if math.isclose(round(value, digits), value, rel_tol=1e-6, abs_tol=1e-9)), 4)
    return decimal(value, digits, locale) + style.suffix(locale)
