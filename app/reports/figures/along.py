"""C9: does acceptance hold as the answer goes on? Buckets of the output and what was kept of the drafts that begin in each."""

from collections.abc import Sequence
from typing import Any

from app.domain.estimate import Cell, Figure
from app.reports.figures._ends import End, end_labels, few, reach
from app.reports.figures.base import (
    Plot,
    Table,
    Trace,
    cells,
    colour,
    dash_of,
    draw,
    interval,
    mark,
    safe,
    scatter,
    series_name,
    share_axis,
    symbol,
)
from app.reports.format import decimal
from app.reports.report import Report
from app.reports.shown import Shown, find, missing_series, show
from app.reports.translate import gettext

ID, KEY = "acceptance_by_position", "output"
_HEIGHT, _WIDE, _NARROW = 300, 500, 280
Seen = tuple[str, Report, dict[str, Cell]]


def build(reports: Sequence[Report], locale: str) -> Plot:
    """Of a single run the number of prompts stands below each bucket: late ones are those of long answers alone."""
    question = gettext("Does acceptance hold as the answer goes on?", locale)
    found: list[Seen] = [(series_name(r, reports, locale), r, cells(r, ID, KEY)) for r in reports]
    buckets = sorted({name for _, _, by in found for name in by}, key=_first)
    caption = gettext("Kept ÷ drafted tokens by where in the output a draft begins, with 95 % intervals over prompts.", locale)
    caption += " " + gettext("A dot is hollow where too few prompts got so far for an interval; late places are those of long answers.", locale)
    if len(reports) == 1:
        caption += " " + gettext("Below each place: the prompts with a draft there.", locale)
    if len(reports) > 1:
        caption += missing_series((name, find(r, r.acceptance if by else ID, locale)) for name, r, by in found)
    finding = "; ".join(_finding(name, r, by, locale) for name, r, by in found)
    table = _table(found, buckets, locale)
    drawn = [(name, r, points) for name, r, by in found if (points := _numbers(by))]
    if not drawn:
        reasons = dict.fromkeys(why for _, r, by in found for why in _reasons(r, by, locale))
        return Plot("along", question, caption, finding, table, empty=" ".join(reasons))
    return Plot("along", question, caption, finding, table, *_figure(drawn, reports, buckets, locale), height=_HEIGHT)


def _first(bucket: str) -> int:
    """First place of `33–64` or of `≥ 8193`."""
    return int(bucket.removeprefix("≥ ").partition("–")[0])


def _numbers(by: dict[str, Cell]) -> dict[str, Figure]:
    return {name: cell for name, cell in by.items() if isinstance(cell, Figure) and cell.pooled.point is not None}


def _reasons(report: Report, by: dict[str, Cell], locale: str) -> list[str]:
    shown = [show(cell, report, locale) for cell in by.values()] or [find(report, ID, locale)]
    return [one.why for one in shown if one.why]


def _finding(name: str, report: Report, by: dict[str, Cell], locale: str) -> str:
    shown = [(bucket, show(by[bucket], report, locale)) for bucket in sorted(by, key=_first)]
    words = [f"{bucket}: {one.value or one.why}" for bucket, one in shown]
    return f"{name}: " + (", ".join(words) or find(report, ID, locale).why)


def _table(found: Sequence[Seen], buckets: Sequence[str], locale: str) -> Table:
    columns = (gettext("Output token", locale), *[name for name, _, _ in found])
    nothing = Shown("absent", why=gettext("no draft began here", locale))
    rows: list[tuple[str | Shown, ...]] = [(b, *[show(by[b], r, locale) if b in by else nothing for _, r, by in found]) for b in buckets]
    return Table(columns, tuple(rows))


def _figure(
    drawn: Sequence[tuple[str, Report, dict[str, Figure]]], reports: Sequence[Report], buckets: Sequence[str], locale: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    traces: list[Trace] = []
    ends: list[End] = []
    offset = 0.06 if len(drawn) > 1 else 0.0
    for i, (name, report, points) in enumerate(drawn):
        shift = offset * (2 * i - len(drawn) + 1)
        trace = _trace(name, report, points, buckets, shift, locale) | {"line": _line(report, reports)}
        traces.append(trace)
        if len(drawn) > 1:
            ends.append((name, trace["x"][-1], trace["y"][-1]))
    single = drawn[0][2] if len(reports) == 1 else {}
    text = [f"{b}<br>{decimal(single[b].pooled.n, 0, locale)}" if b in single else b for b in buckets]
    title = gettext("output token, below: prompts", locale) if single else gettext("output token", locale)
    places = list(range(1, len(buckets) + 1))
    wide = places[:: max(1, -(-len(places) // 7))]
    layout = {
        "xaxis": {"tickmode": "array", "title": {"text": safe(title)}} | _axis(wide, text, ends, _WIDE),
        "yaxis": share_axis(locale),
        "annotations": end_labels(ends, _HEIGHT),
        "height": _HEIGHT,
    }
    return draw(traces, layout, locale), {"xaxis": _axis(few(places), text, ends, _NARROW)}


def _axis(places: Sequence[int], text: Sequence[str], ends: Sequence[End], width: int) -> dict[str, Any]:
    return {"tickvals": list(places), "ticktext": [text[p - 1] for p in places], "range": reach(len(text), ends, width)}


def _line(report: Report, reports: Sequence[Report]) -> dict[str, Any]:
    return {"color": colour(report.spec.language), "width": 2, "dash": dash_of(report, reports)}


def _trace(name: str, report: Report, points: dict[str, Figure], buckets: Sequence[str], shift: float, locale: str) -> Trace:
    own = [b for b in buckets if b in points]
    estimates = [points[b].pooled for b in own]
    values = [e.point for e in estimates if e.point is not None]
    hue, language = colour(report.spec.language), report.spec.language
    bars = interval((p, e.low, e.high) for p, e in zip(values, estimates, strict=True)) | {"color": hue}
    shown = [show(points[b], report, locale) for b in own]
    hover = [safe(f"{name}, {b}: {s.value} {s.interval or s.why}, {s.n}") for b, s in zip(own, shown, strict=True)]
    marker = mark(hue, language) | {"symbol": [symbol(language, filled=e.low is not None) for e in estimates]}
    x = [buckets.index(b) + 1 + shift for b in own]
    return scatter(x=x, y=values, mode="lines+markers", marker=marker, error_y=bars, hovertext=hover)
