"""C2: until what load does it pay? The headline speed-up over how heavy the load is, a line a series of runs that differ in nothing else."""

import math
from collections.abc import Sequence
from typing import Any

from app.domain.estimate import Figure
from app.domain.spec import Load
from app.reports.figures._ends import few
from app.reports.figures.base import (
    BAND,
    DASHES,
    GREY,
    Plot,
    Table,
    Trace,
    colour,
    draw,
    interval,
    label,
    mark,
    ratio_axis,
    safe,
    scatter,
    symbol,
)
from app.reports.figures.forest import said
from app.reports.format import say
from app.reports.loads import brief
from app.reports.pairing import weight
from app.reports.report import Comparison, Report, Series
from app.reports.shown import Shown, find, missing_series, show_estimate
from app.reports.translate import gettext
from app.reports.words import judged_of, speedup_of

ID = "loads"
_HEIGHT = 300
Point = tuple[Report, Shown]
Line = tuple[str, Series, list[Point]]


def build(found: Comparison, locale: str) -> Plot:
    """Loads of one kind share the axis: those of the first series. A run of the other kind is named in the caption."""
    lines = _lines(found, locale)
    question = gettext("Until what load does it pay?", locale)
    caption = gettext("Each run's headline speed-up, logarithmic, with 95 % intervals. Filled: decided. Hollow: cannot tell.", locale)
    caption += " " + gettext("Grey: plain against plain at that load. The bar on the line at 1 holds the break-even load.", locale)
    caption += missing_series((f"{name}, {brief(r.spec.load, locale)}", shown) for name, _, points in lines for r, shown in points)
    table = _table(lines, locale)
    finding = "; ".join(f"{name}, {brief(r.spec.load, locale)}: {said(s, r, locale)}" for name, _, points in lines for r, s in points)
    kind = found.reports[0].spec.load.kind
    drawn = [(name, own, kept) for name, own, points in lines if (kept := [(r, s) for r, s in points if s.value and r.spec.load.kind == kind])]
    if not drawn:
        why = dict.fromkeys(shown.why for _, _, points in lines for _, shown in points)
        return Plot(ID, question, caption, finding, table, empty=" ".join(why))
    return Plot(ID, question, caption, finding, table, *_figure(drawn, locale), height=_HEIGHT)


def has_loads(found: Comparison) -> bool:
    return any(len({r.spec.load for r in found.reports if r.run in series.runs}) > 1 for series in found.series)


def _lines(found: Comparison, locale: str) -> list[Line]:
    by_run = {report.run: report for report in found.reports}
    lines = []
    for series in found.series:
        reports = [by_run[run] for run in series.runs]
        lines.append((_name(reports[0], found, by_run), series, [(r, find(r, r.headline, locale)) for r in reports]))
    return lines


def _name(report: Report, found: Comparison, by_run: dict[int, Report]) -> str:
    """What tells a series from the others; the language first, since it has the colour."""
    heads = [by_run[series.runs[0]] for series in found.series]
    parts = [report.spec.language]
    if len({head.spec.drafter_title for head in heads}) > 1 or len(heads) == 1:
        parts.append(report.spec.drafter_title)
    if [(head.spec.language, head.spec.drafter_title) for head in heads].count((report.spec.language, report.spec.drafter_title)) > 1:
        parts.append(f"#{report.run}")
    return " · ".join(parts)


def _table(lines: Sequence[Line], locale: str) -> Table:
    columns = (
        gettext("Run", locale), gettext("Load", locale), gettext("Which speed-up", locale), gettext("Speed-up", locale),
        gettext("Acceptance, V/D", locale), gettext("Noise floor, plain against plain", locale), gettext("Verdict", locale),
    )  # fmt: skip
    rows: list[tuple[str | Shown, ...]] = []
    for name, _, points in lines:
        for report, shown in points:
            floor = report.verdict.noise_floor
            noise = Shown("absent", why=gettext("not measured in this run", locale)) if floor is None else show_estimate("ratio", floor, locale)
            words = (f"{name} · #{report.run}", brief(report.spec.load, locale), speedup_of(report.headline, locale))
            rows.append((*words, shown, find(report, report.acceptance, locale), noise, judged_of(report.state, report.verdict.outcome, locale)))
    return Table(columns, tuple(rows))


def at(load: Load) -> float:
    return load.rate or float(load.concurrency)


def _figure(drawn: Sequence[Line], locale: str) -> tuple[dict[str, Any], dict[str, Any]]:
    reports = [r for _, _, points in drawn for r, _ in points]
    estimates = [cell.pooled for r in reports if isinstance(cell := r.find(r.headline), Figure)]
    ratio = ratio_axis([v for e in estimates for v in (e.point, e.low, e.high)], locale)
    places = {at(load): brief(load, locale) for load in sorted({r.spec.load for r in reports}, key=weight)}
    traces = [trace for i, line in enumerate(drawn) for trace in _traces(line, drawn, 1 + 0.025 * (2 * i - len(drawn) + 1), locale)]
    ends = [(name, at(points[-1][0].spec.load), _point(points[-1][0])) for name, _, points in drawn]
    layout = {
        "xaxis": _axis(places, ends, 420) | {"title": {"text": safe(_title(reports[0].spec.load, locale))}},
        "yaxis": ratio,
        "shapes": [_even(), *(band for r in reports if (band := _floor(r)) is not None)],
        "annotations": _labels(ends, ratio),
        "height": _HEIGHT,
    }
    kept = few(list(places))
    return draw(traces, layout, locale), {"xaxis": _axis(places, ends, 220) | {"tickvals": kept, "ticktext": [places[p] for p in kept]}}


def _title(load: Load, locale: str) -> str:
    return gettext("requests at once", locale) if load.rate is None else gettext("requests that arrive a second", locale)


def _axis(places: dict[float, str], ends: Sequence[tuple[str, float, float]], width: int) -> dict[str, Any]:
    """A log axis with room for the longest name behind the heaviest load, in a plot whose lines have `width` pixels."""
    low, high = math.log10(min(places)) - 0.08, math.log10(max(places)) + 0.08
    room = max(7.5 * len(name) + 24 for name, _, _ in ends) / width
    return {
        "type": "log",
        "tickmode": "array",
        "tickvals": list(places),
        "ticktext": [safe(text) for text in places.values()],
        "range": [low, high + (high - low) * room],
    }


def _point(report: Report) -> float:
    cell = report.find(report.headline)
    assert isinstance(cell, Figure)
    assert cell.pooled.point is not None
    return cell.pooled.point


def _traces(line: Line, drawn: Sequence[Line], shift: float, locale: str) -> list[Trace]:
    name, series, points = line
    reports = [r for r, _ in points]
    language, hue = reports[0].spec.language, colour(reports[0].spec.language)
    alike = [other for other, _, own in drawn if own[0][0].spec.language == language]
    estimates = [cell.pooled for r in reports if isinstance(cell := r.find(r.headline), Figure)]
    values = [_point(r) for r in reports]
    bars = interval((v, e.low, e.high) for v, e in zip(values, estimates, strict=True)) | {"color": hue}
    hover = [safe(f"{name}, {brief(r.spec.load, locale)}: {said(shown, r, locale)}") for r, shown in points]
    symbols = [symbol(language, filled=shown.state != "cannot tell") for _, shown in points]
    dash = DASHES[alike.index(name) % len(DASHES)]
    found = [
        scatter(
            x=[at(r.spec.load) * shift for r in reports], y=values, mode="lines+markers", error_y=bars, hovertext=hover,
            marker=mark(hue, symbol(language)) | {"symbol": symbols}, line={"color": hue, "width": 2, "dash": dash},
        )
    ]  # fmt: skip
    crossing = series.break_even_load
    if crossing is not None and crossing.low is not None and crossing.high is not None:
        hover = [safe(f"{name}: {say(crossing.sentence, locale)}")] * 2
        line_ = {"color": hue, "width": 8}
        found.append(scatter(x=[crossing.low, crossing.high], y=[1, 1], mode="lines", line=line_, opacity=0.45, hovertext=hover))
    return found


def _even() -> dict[str, Any]:
    line = {"color": GREY, "width": 2}
    return {"type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": line, "layer": "below"}


def _floor(report: Report) -> dict[str, Any] | None:
    """Plain against plain of this run, around its load. Shapes take values on a log axis, annotations their logarithms."""
    floor, load = report.verdict.noise_floor, at(report.spec.load)
    if floor is None or floor.low is None:
        return None
    box = {"x0": load / 1.15, "x1": load * 1.15, "y0": floor.low, "y1": floor.high}
    return {"type": "rect", **box, "fillcolor": BAND, "line": {"width": 0}, "layer": "below"}


def _labels(ends: Sequence[tuple[str, float, float]], ratio: dict[str, Any]) -> list[dict[str, Any]]:
    """Names at the ends of their lines, at least a line of text apart."""
    low, high = ratio["range"]
    apart, least, found = 22 / _HEIGHT * (high - low) * 1.4, low, []
    for name, x, y in sorted(ends, key=lambda end: end[2]):
        place = max(math.log10(y), least)
        found.append(label(safe(name), math.log10(x), place, xanchor="left", xshift=16))
        least = place + apart
    return found
