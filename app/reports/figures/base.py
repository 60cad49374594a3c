"""What all plots share: marks, axes and the value a page draws. A plot never decides: what is hollow, refused or absent is read from the Report."""

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from app.domain.estimate import Cell
from app.domain.language import base_of
from app.reports.format import decimal, number, style_of
from app.reports.loads import brief, spoken
from app.reports.report import Report
from app.reports.shown import Shown

Trace = dict[str, Any]
# plotly has no annotations of its own.
_go: Any = import_module("plotly.graph_objects")

MARKS = {"ru": "#2b7fd0", "en": "#c26a0c"}
GREY = "#78828f"
BAND = "rgba(120,130,143,0.18)"
PLAIN = "line-ew-open"
SHAPES = {"ru": "circle", "en": "square"}
RATIO_TICKS = (0.1, 0.2, 0.25, 0.33, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
DASHES = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class Table:
    """The same numbers as a table; a cell is a text or a number in its state."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | Shown, ...], ...]


@dataclass(frozen=True)
class Plot:
    """`finding` is the sentence a screen reader hears instead of the picture; `empty` says why there is none. `figure` is plotly JSON."""

    id: str
    question: str
    caption: str
    finding: str
    table: Table
    figure: dict[str, Any] | None = None
    narrow: dict[str, Any] = field(default_factory=dict)
    empty: str = ""
    height: int = 260


def safe(text: str) -> str:
    """plotly reads a small HTML in every label; what came from outside is shown as it is."""
    return html.escape(text, quote=False)


def colour(language: str) -> str:
    return MARKS.get(base_of(language), GREY)


def symbol(language: str, *, filled: bool = True) -> str:
    return SHAPES.get(base_of(language), "triangle-up") + ("" if filled else "-open")


def series_name(report: Report, among: Sequence[Report], locale: str) -> str:
    """The shortest name that tells the reports of a page apart; language first, since it has the colour."""
    parts = [report.spec.language]
    if len({other.spec.drafter_title for other in among}) > 1 or len(among) == 1:
        parts.append(report.spec.drafter_title)
    loads = {other.spec.load for other in among}
    if len(loads) > 1:
        short = {brief(load, locale) for load in loads}
        parts.append(brief(report.spec.load, locale) if len(short) == len(loads) else spoken(report.spec.load, locale))
    names = [(other.spec.language, other.spec.drafter_title, other.spec.load) for other in among]
    if names.count((report.spec.language, report.spec.drafter_title, report.spec.load)) > 1:
        parts.append(f"#{report.run}")
    return " · ".join(parts)


def dash_of(report: Report, among: Sequence[Report]) -> str:
    """Runs of one language differ by dash, never by hue."""
    same = [other.run for other in among if other.spec.language == report.spec.language]
    return DASHES[same.index(report.run) % len(DASHES)]


def interval(values: Iterable[tuple[float, float | None, float | None]]) -> dict[str, Any]:
    """plotly's asymmetric error arrays of (point, low, high); a point without an interval gets a bar of no length."""
    triples = list(values)
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else high - point for point, _, high in triples],
        "arrayminus": [0 if low is None else point - low for point, low, _ in triples],
        "thickness": 2.5,
        "width": 0,
    }


def mark(colour_: str, symbol_: str, size: int = 11) -> dict[str, Any]:
    width = 6 if symbol_ == PLAIN else 2.5
    return {"color": colour_, "symbol": symbol_, "size": size, "line": {"width": width, "color": colour_}}


def scatter(**fields: Any) -> Trace:
    return {"type": "scatter", "hoverinfo": "text", "cliponaxis": False} | fields


def dot(x: float, y: object, low: float | None, high: float | None, *, colour: str, symbol: str, hover: str, **more: Any) -> Trace:
    """One mark with a horizontal interval."""
    bars = interval([(x, low, high)]) | {"color": colour}
    return scatter(x=[x], y=[y], mode="markers", marker=mark(colour, symbol), error_x=bars, hovertext=[hover], **more)


def ratio_axis(values: Iterable[float | None], locale: str) -> dict[str, Any]:
    """A log axis around 1 that holds all values, as far left as right."""
    seen = [abs(math.log10(v)) for v in values if v is not None and v > 0]
    reach = max([*seen, math.log10(1.25)]) * 1.12 + 0.01
    ticks = [t for t in RATIO_TICKS if abs(math.log10(t)) <= reach]
    if len(ticks) > 7:
        ticks = [t for t in ticks if t in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)]
    return {
        "type": "log",
        "range": [-reach, reach],
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [decimal(t, 0 if t >= 2 or t == 1 else (1 if round(t, 1) == t else 2), locale) + "×" for t in ticks],
    }


def narrow_ratio_axis(axis: dict[str, Any]) -> dict[str, Any]:
    """Three or four ticks are what a phone has room for."""
    pairs = list(zip(axis["tickvals"], axis["ticktext"], strict=True))
    kept = [pair for pair in pairs if pair[0] in (0.25, 0.5, 1.0, 2.0, 4.0)]
    if len(kept) < 2:
        kept = [pairs[0], *[pair for pair in pairs if pair[0] == 1.0], pairs[-1]]
    return {"tickvals": [pair[0] for pair in kept], "ticktext": [pair[1] for pair in kept]}


def share_axis(locale: str, *, ticks: Sequence[float] = (0, 0.25, 0.5, 0.75, 1)) -> dict[str, Any]:
    percent = [number("share", t, locale=locale).value for t in ticks]
    whole = [text.replace(",0", "").replace(".0", "") for text in percent]
    return {"range": [-0.02, 1.02], "tickmode": "array", "tickvals": list(ticks), "ticktext": whole}


def zero_axis(unit: str, reach: float, locale: str, *, named: bool = False) -> dict[str, Any]:
    """A scale from 0 to `reach`, with at most five round ticks whose decimals are those of the step; `named` prints the unit at each tick."""
    style = style_of(unit, reach)
    top = reach * style.scale
    step = next(s * 10.0**k for k in range(-6, 10) for s in (1, 2, 5) if top / (s * 10.0**k) <= 4.5)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = [i * step for i in range(math.floor(top / step) + 1)]
    text = [decimal(t, digits, locale) + (style.suffix(locale) if named else "") for t in ticks]
    return {"range": [0, reach], "tickmode": "array", "tickvals": [t / style.scale for t in ticks], "ticktext": text}


def row_axis(labels: Sequence[str]) -> dict[str, Any]:
    """Categories from top to bottom, one unit apart, so that lines and labels can be placed between them."""
    count = len(labels)
    return {
        "range": [count - 0.4, -0.75],
        "tickmode": "array",
        "tickvals": list(range(count)),
        "ticktext": [safe(label) for label in labels],
        "showgrid": False,
        # A mark at the very start of an axis is as wide as a letter.
        "ticklabelstandoff": 10,
    }


def row_height(rows: int) -> int:
    return 72 + 52 * max(rows, 1)


def reference(value: float, *, x: str = "x", y: str = "y domain") -> dict[str, Any]:
    """A grey line across the rows at a value that decides."""
    return {"type": "line", "xref": x, "yref": y, "x0": value, "x1": value, "y0": 0, "y1": 1, "line": {"color": GREY, "width": 2}, "layer": "below"}


def label(text: str, x: float, y: object, **more: Any) -> dict[str, Any]:
    return {"text": text, "x": x, "y": y, "showarrow": False} | more


def draw(traces: Sequence[Trace], layout: dict[str, Any], locale: str) -> dict[str, Any]:
    """plotly JSON, checked by plotly itself; colours of ink and grid come from the page's theme."""
    separators = ",\u00a0" if locale == "ru" else ".,"
    figure = _go.Figure(data=list(traces), layout=layout | {"separators": separators, "template": "none"})
    found: dict[str, Any] = figure.to_plotly_json()
    found["layout"].pop("template", None)
    return found


def cells(report: Report, id: str, key: str) -> dict[str, Cell]:
    """{value of the part: cell} of one figure, in the report's order."""
    return {cell.part[key]: cell for cell in report.cells if cell.id == id and set(cell.part) == {key}}
