"""Dots on scales from 0, one panel per quantity under each other: what fertility and throughput share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.estimate import Estimate
from app.reports.figures.base import PLAIN, Trace, dot, draw, mark, row_axis, safe, zero_axis
from app.reports.shown import Shown

HOLLOW = 2.5
_ROW, _GAP, _TOP, _BOTTOM = 30, 74, 40, 34


@dataclass(frozen=True)
class Row:
    name: str
    estimate: Estimate
    shown: Shown
    colour: str
    symbol: str


@dataclass(frozen=True)
class Panel:
    """`title` may hold a <br>; it is ours, never from outside."""

    title: str
    unit: str
    rows: Sequence[Row]


def height(panels: Sequence[Panel]) -> int:
    return _area(panels) + _TOP + _BOTTOM


def _area(panels: Sequence[Panel]) -> int:
    return sum(_ROW * len(p.rows) for p in panels) + _GAP * (len(panels) - 1)


def figure(panels: Sequence[Panel], locale: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Figure and narrow overrides. Each panel has its own unit, so its own axis; all begin at 0."""
    area, top = _area(panels), 1.0
    traces: list[Trace] = []
    layout: dict[str, Any] = {"height": height(panels), "margin": {"l": 8, "r": 28, "t": _TOP, "b": _BOTTOM}, "annotations": []}
    for i, panel in enumerate(panels, start=1):
        n = "" if i == 1 else str(i)
        share = _ROW * len(panel.rows) / area
        layout[f"yaxis{n}"] = row_axis([row.name for row in panel.rows]) | {"domain": [max(top - share, 0), top], "anchor": f"x{n}"}
        layout[f"xaxis{n}"] = _axis(panel, locale) | {"anchor": f"y{n}"}
        title = {"text": panel.title, "x": 0, "y": top, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "align": "left"}
        layout["annotations"].append(title | {"yshift": 4, "showarrow": False})
        top -= share + _GAP / area
        traces += [mark | {"xaxis": f"x{n}", "yaxis": f"y{n}"} for y, row in enumerate(panel.rows) if (mark := _mark(row, y)) is not None]
    # On a phone a title that begins at the axis would end outside the picture.
    narrow = [title | {"x": 1, "xanchor": "right"} for title in layout["annotations"]]
    return draw(traces, layout, locale), {"annotations": narrow}


def _mark(row: Row, y: int) -> Trace | None:
    e = row.estimate
    if e.point is None:
        return None
    decided = e.low is not None
    symbol = row.symbol if decided or row.symbol == PLAIN else f"{row.symbol}-open"
    hover = safe(f"{row.name}: {row.shown.value} {row.shown.interval or row.shown.why}, {row.shown.n}")
    trace = dot(e.point, y, e.low, e.high, colour=row.colour, symbol=symbol, hover=hover)
    # A thin line is to the bar of plain decoding what a hollow circle is to a full one.
    return trace if decided else trace | {"marker": mark(row.colour, symbol) | {"line": {"width": HOLLOW, "color": row.colour}}}


def _axis(panel: Panel, locale: str) -> dict[str, Any]:
    reach = max([v for row in panel.rows for v in (row.estimate.point, row.estimate.high) if v is not None], default=1.0) * 1.1 or 1.0
    return zero_axis(panel.unit, reach, locale)
