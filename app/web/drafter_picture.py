"""The table of drafters as a picture for a page that is read elsewhere: SVG without script, for light and dark."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.language import base_of
from app.reports.drafter_table import Board, Entry, Line, heads
from app.reports.figures.base import SHAPES, colour, ratio_axis, share_axis
from app.web.render import fragment

WIDTH, STEP, HEAD, LETTERS = 1090, 26, 56, 160
# Where the text of each column begins; acceptance and speed-up have an axis before it.
COLUMNS = (0, 112, 300, 446, 722, 868, 972)
ACCEPTANCE, SPEEDUP = (160.0, 285.0), (620.0, 705.0)
# Letters of a column's name that fit above it.
ROOM = 18


@dataclass(frozen=True)
class Scale:
    """`reach` is the decimal logarithm of the largest ratio on an axis around 1, None on one of shares."""

    left: float
    right: float
    axis: dict[str, Any]
    reach: float | None = None

    def x(self, value: float) -> float:
        """Within the axis, whatever the value."""
        place = value if self.reach is None else (math.log10(max(value, 1e-9)) / self.reach + 1) / 2
        return round(self.left + (self.right - self.left) * min(max(place, 0.0), 1.0), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """As many as have room, the one that decides among them."""
        found = list(zip(self.axis["tickvals"], self.axis["ticktext"], strict=True))
        kept = found if self.reach is None else [found[0], *(pair for pair in found if pair[0] == 1.0), found[-1]]
        return [(self.x(value), text) for value, text in kept]


@dataclass(frozen=True)
class Dot:
    """A mark with its interval."""

    x: float
    low: float
    high: float
    colour: str
    square: bool
    filled: bool


@dataclass(frozen=True)
class Row:
    y: float
    line: Line
    first: bool
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Panel:
    """One board; every `y` is counted from its own `top`."""

    top: float
    height: float
    begin: float
    end: float
    caption: list[str]
    scales: tuple[Scale, Scale]
    models: list[tuple[float, str]]
    rows: list[Row]
    notes: list[tuple[float, str]]


def picture(boards: Sequence[Board], locale: str) -> str:
    """The whole SVG; boards stand below one another."""
    panels: list[Panel] = []
    for board in boards:
        panels.append(_panel(board, sum(panel.height for panel in panels), locale))
    names = [textwrap.wrap(name, ROOM) for name in heads(locale)]
    return fragment("drafters.svg", locale, panels=panels, heads=list(zip(COLUMNS, names, strict=True)), columns=COLUMNS, width=WIDTH, step=STEP)


def _panel(board: Board, top: float, locale: str) -> Panel:
    caption = textwrap.wrap(board.caption, LETTERS)
    begin = y = 18.0 * len(caption) + HEAD
    ratios = ratio_axis([end for line in board.lines for end in _ends(line.speedup)], locale)
    scales = (Scale(*ACCEPTANCE, share_axis(locale, ticks=(0, 0.5, 1))), Scale(*SPEEDUP, ratios, ratios["range"][1]))
    models: list[tuple[float, str]] = []
    rows: list[Row] = []
    for line in board.lines:
        if not models or models[-1][1] != line.model:
            y += STEP
            models.append((y, line.model))
        y += STEP
        known = bool(rows) and (rows[-1].line.model, rows[-1].line.drafter) == (line.model, line.drafter)
        rows.append(Row(y, line, not known, tuple(_dots(line, scales))))
    end = y + 10
    notes = [(end + 32 + 18 * number, text) for number, text in enumerate(_wrapped(board.notes))]
    return Panel(top, end + 32 + 18 * len(notes) + 24, begin, end, caption, scales, models, rows, notes)


def _wrapped(notes: Sequence[str]) -> list[str]:
    return [
        part for number, note in enumerate(notes, 1) for part in textwrap.wrap(f"{number}. {note}", LETTERS, subsequent_indent="\u00a0\u00a0\u00a0")
    ]


def _dots(line: Line, scales: tuple[Scale, Scale]) -> Iterator[Dot]:
    """An undecided speed-up is hollow, as in the plots of a report."""
    for entry, scale, filled in ((line.acceptance, scales[0], True), (line.speedup, scales[1], line.decided)):
        ends = _ends(entry)
        if ends:
            point, low, high = (scale.x(end) for end in ends)
            yield Dot(point, low, high, colour(line.language), SHAPES.get(base_of(line.language)) == "square", filled)


def _ends(entry: Entry) -> tuple[float, ...]:
    """Point, low and high of what may be drawn; without an interval the point thrice."""
    found = entry.estimate
    if found is None or found.point is None:
        return ()
    return found.point, found.point if found.low is None else found.low, found.point if found.high is None else found.high
