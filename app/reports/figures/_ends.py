"""Names at the ends of lines in place of a legend, and ticks for a phone: what plots over whole numbers share."""

from collections.abc import Sequence
from typing import Any, TypeVar

from app.reports.figures.base import label, safe

End = tuple[str, float, float]
Place = TypeVar("Place", int, float)


def end_labels(ends: Sequence[End], height: int) -> list[dict[str, Any]]:
    """(name, x, share) each at the end of its line, at least one line of text apart in a plot of `height` pixels."""
    found: list[dict[str, Any]] = []
    least = 0.0
    for name, x, y in sorted(ends, key=lambda end: end[2]):
        least = max(y, least)
        found.append(label(safe(name), x, least, xanchor="left", xshift=12))
        least += 18 / height * 1.3
    return found


def few(places: Sequence[Place]) -> Sequence[Place]:
    """At most four ticks for a phone."""
    step = max(1, -(-len(places) // 4))
    return places[::step]


def reach(last: int, ends: Sequence[End], width: int) -> list[float]:
    """From 1 to `last` with room for the longest name behind it, in a plot of `width` pixels."""
    text = max((7 * len(name) + 24 for name, _, _ in ends), default=0)
    return [0.6, last + 0.4 + last * text / max(width - text, 1)]
