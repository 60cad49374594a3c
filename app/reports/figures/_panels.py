"""Dots on scales from 0, one panel per quantity under each other: what fertility and throughput share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from app.domain.estimate import Estimate
from app.reports.figures.base import PLAIN, dot, draw, row_axis, safe
from app.reports.format import number
from app.reports.shown import Shown

_GAP = 78


@dataclass(frozen=True)
class Row:
    name: str
    estimate: Estimate
    shown: Shown
    colour: str
    symbol: str


@dataclass(frozen=True)
class Panel:
    title: str
    unit: str
    rows: Sequence[Row]


def height(panels: Sequence[Panel]) -> int:
    return sum(30 * len(p.rows) + _GAP for p in panels)


def figure(panels: Sequence[Panel], locale: str) -> dict[str, Any]:
    """Each panel has its own unit, so its own axis; all begin at 0."""
    total, top = height(panels), 1.0
    traces: list[go.Scatter] = []
    layout: dict[str, Any] = {"height": total, "margin": {"l": 8, "r": 28, "t": 30, "b": 8}, "annotations": []}
    for i, panel in enumerate(panels, start=1):
        n = "" if i == 1 else str(i)
        share = 30 * len(panel.rows) / total
        layout[f"yaxis{n}"] = row_axis([row.name for row in panel.rows]) | {"domain": [max(top - share, 0), top], "anchor": f"x{n}"}
        layout[f"xaxis{n}"] = _axis(panel, locale) | {"anchor": f"y{n}"}
        title = {
            "text": safe(panel.title),
            "x": 0,
            "y": top,
            "xref": "paper",
            "yref": "paper",
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False,
        }
        layout["annotations"].append(title | {"yshift": 4})
        top -= share + _GAP / total
        for y, row in enumerate(panel.rows):
            e = row.estimate
            if e.point is None:
                continue
            hover = safe(f"{row.name}: {row.shown.value} {row.shown.interval or row.shown.why}, {row.shown.n}")
            traces.append(_mark(row, e, y, hover).update(xaxis=f"x{n}", yaxis=f"y{n}"))
    return draw(traces, layout, locale)


def _mark(row: Row, e: Estimate, y: int, hover: str) -> go.Scatter:
    symbol = row.symbol if e.low is not None or row.symbol == PLAIN else f"{row.symbol}-open"
    return dot(e.point or 0.0, y, e.low, e.high, colour=row.colour, symbol=symbol, hover=hover)


def _axis(panel: Panel, locale: str) -> dict[str, Any]:
    reach = max([v for row in panel.rows for v in (row.estimate.point, row.estimate.high) if v is not None], default=1.0) * 1.1 or 1.0
    step = next(s * 10**k for k in range(-4, 7) for s in (1, 2, 5) if reach / (s * 10**k) <= 4.5)
    ticks = [i * step for i in range(int(reach / step) + 1)]
    text = [number(panel.unit, t, 0, max(reach, 1e-9) * 0.6, locale).value.split("\u00a0")[0] for t in ticks]
    return {"range": [0, reach], "tickmode": "array", "tickvals": ticks, "ticktext": text}
