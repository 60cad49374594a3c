"""Looping answers, made from honest text: an honest beginning, then one stretch of it said over and over."""

import itertools
from collections.abc import Iterator

BEGINNINGS = (0.0, 0.25, 0.5, 0.7)  # share of the answer before the loop
CYCLES = (6, 20, 60, 120)  # characters


def looping(text: str, beginning: float, cycle: int) -> str | None:
    """An answer as long as `text` whose loop starts after `beginning` and is cut off at the end; None where the cycle is not said twice."""
    start = int(len(text) * beginning)
    stretch = text[start : start + cycle]
    room = len(text) - start
    loop = (stretch * (room // cycle + 1))[:room].rstrip() if stretch.strip() else ""
    return text[:start] + loop if len(loop) >= max(2 * cycle, cycle + 24) else None


def counting(text: str, cycle: int) -> str | None:
    """A list whose items are one text under rising numbers: a loop that no cycle describes."""
    stretch = " ".join(text[:cycle].split())
    if len(stretch) < 24 or len(text) < 3 * cycle:
        return None
    items = "".join(f"{number}. {stretch}\n" for number in itertools.takewhile(lambda number: number * cycle < 2 * len(text), itertools.count(1)))
    return items[: len(text)]


def all_of(text: str) -> Iterator[tuple[str, str]]:
    """(what kind, the loop) for each kind of loop that fits the length of a text."""
    for beginning, cycle in itertools.product(BEGINNINGS, CYCLES):
        loop = looping(text, beginning, cycle)
        if loop is not None:
            yield f"loop after {beginning:.0%}", loop
    for cycle in CYCLES:
        items = counting(text, cycle)
        if items is not None:
            yield "numbered loop", items
