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

STEP, LINE = 26, 18
# Estimates of a letter's width at 13 px, plain and bold, in a wide font; a picture that is read elsewhere cannot measure its own.
LETTER, BOLD, GAP = 7.6, 9.4, 22.0
# Widths of the axes before acceptance and before speed-up, and of what parts them from their numbers.
SHARES, RATIOS, APART = 120.0, 90.0, 16.0
# Letters of a column's name in one line.
ROOM = 16


@dataclass(frozen=True)
class Layout:
    """Where columns and axes stand, for the longest text that any board has in them."""

    columns: tuple[float, ...]
    acceptance: tuple[float, float]
    speedup: tuple[float, float]
    heads: list[list[str]]
    width: float

    @property
    def letters(self) -> int:
        """That a line over the whole width holds."""
        return int(self.width / LETTER)

    @property
    def head(self) -> float:
        """Height of the columns' names."""
        return 24.0 + 16 * max(map(len, self.heads))


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
class Heading:
    """A drafter over its languages; `parts` are its parameters, a line each."""

    y: float
    drafter: str
    parts: list[str]


@dataclass(frozen=True)
class Row:
    y: float
    line: Line
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
    headings: list[Heading]
    rows: list[Row]
    notes: list[tuple[float, str]]


def picture(boards: Sequence[Board], locale: str) -> str:
    """The whole SVG; boards stand below one another."""
    layout, panels = _layout(boards, locale), list[Panel]()
    for board in boards:
        panels.append(_panel(board, layout, sum(panel.height for panel in panels), locale))
    return fragment("drafters.svg", locale, panels=panels, layout=layout, step=STEP, line=LINE)


def _layout(boards: Sequence[Board], locale: str) -> Layout:
    lines = [line for board in boards for line in board.lines]
    names = [_wrapped(name, ROOM) for name in heads(locale)]
    texts = ([], *([_texts(line)[place] for line in lines] for place in range(6)))
    axes, columns, x = dict[int, tuple[float, float]](), list[float](), 0.0
    for place, (name, own) in enumerate(zip(names, texts, strict=True)):
        if (room := {2: SHARES, 4: RATIOS}.get(place)) is not None:
            axes[place] = (x, x + room)
            x += room + APART
        columns.append(x)
        x += max([BOLD * len(part) for part in name] + [LETTER * len(text) for text in own]) + GAP
    return Layout(tuple(columns), axes[2], axes[4], names, x - GAP)


def _texts(line: Line) -> tuple[str, ...]:
    return line.language, line.acceptance.text, line.ceiling.text, line.speedup.text, line.verdict, line.exact.text


def _panel(board: Board, layout: Layout, top: float, locale: str) -> Panel:
    caption = _wrapped(board.caption, layout.letters)
    begin = y = LINE * len(caption) + layout.head
    ratios = ratio_axis([end for line in board.lines for end in _ends(line.speedup)], locale)
    scales = (Scale(*layout.acceptance, share_axis(locale, ticks=(0, 0.5, 1))), Scale(*layout.speedup, ratios, ratios["range"][1]))
    models, headings, rows = list[tuple[float, str]](), list[Heading](), list[Row]()
    for line in board.lines:
        before = rows[-1].line if rows else None
        if before is None or before.model != line.model:
            y += STEP
            models.append((y, line.model))
        if before is None or (before.model, before.drafter, before.parts) != (line.model, line.drafter, line.parts):
            y += STEP
            headings.append(Heading(y, line.drafter, _wrapped(line.parts, layout.letters - len(line.drafter) - 2)))
            y += LINE * max(len(headings[-1].parts) - 1, 0)
        y += STEP
        rows.append(Row(y, line, tuple(_dots(line, scales))))
    end = y + 10
    told = [part for number, note in enumerate(board.notes, 1) for part in _wrapped(f"{number}. {note}", layout.letters, "\u00a0\u00a0\u00a0")]
    notes = [(end + 32 + LINE * number, text) for number, text in enumerate(told)]
    return Panel(top, end + 32 + LINE * len(notes) + 24, begin, end, caption, scales, models, headings, rows, notes)


def _wrapped(text: str, letters: int, indent: str = "") -> list[str]:
    """Between words alone, but for one that no line holds."""
    return textwrap.wrap(text, letters, subsequent_indent=indent, break_on_hyphens=False)


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
