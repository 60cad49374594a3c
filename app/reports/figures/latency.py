"""C7: how long does a request take? The share of requests done by a time, a curve of steps an arm: a distribution, never a ratio of requests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.estimate import Figure
from app.reports.figures._engines import apart
from app.reports.figures._times import time_axis
from app.reports.figures.base import MARKS, Plot, Table, Trace, colour, draw, safe, scatter, series_name
from app.reports.figures.base import mark as shape
from app.reports.format import STYLES, decimal, number
from app.reports.latencies import Ecdf
from app.reports.report import Report
from app.reports.shown import Shown, find, missing_series, show
from app.reports.translate import gettext
from app.reports.words import arm_of, mark

ID = "latency"
ARMS = ("plain", "speculative")
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_OF = (
    ("request_latency", mark("whole request")),
    ("ttft", mark("time to first token")),
    ("queueing", mark("waiting for a slot")),
    ("time_per_output_token", mark("time per output token")),
)
_AREA, _GAP, _TOP, _BOTTOM = 150, 74, 40, 34


@dataclass(frozen=True)
class Panel:
    title: str
    curves: Sequence[tuple[Report, Ecdf]]


def build(reports: Sequence[Report], locale: str) -> Plot:
    """A panel a quantity. Languages share it, told apart by colour; runs of one language, and a third one, have panels of their own."""
    table = _table(reports, locale)
    panels = _panels(reports, locale)
    question = gettext("How long does a request take?", locale)
    caption = gettext(
        "The share of requests that took at most so long. Dashed: plain; solid: speculative. Ticks on a curve: p50, p95 and p99,"
        " each from as many requests as it needs; a quantile describes the requests that were measured, so it has no interval.",
        locale,
    )
    if len(reports) > 1:
        caption += apart(reports, locale)
        caption += missing_series((series_name(r, reports, locale), find(r, r.headline, locale)) for r in reports)
    finding = "; ".join(f"{row[0]}: " + ", ".join(c.value or c.why for c in row[1:] if isinstance(c, Shown)) for row in table.rows)
    if not panels:
        reasons = dict.fromkeys(find(r, "request_latency", locale, arm="plain", quantile="p50").why for r in reports)
        return Plot(ID, question, caption, finding, table, empty=" ".join(reasons))
    return Plot(ID, question, caption, finding, table, _figure(panels, reports, locale), height=_height(panels))


def _panels(reports: Sequence[Report], locale: str) -> list[Panel]:
    languages = [r.spec.language for r in reports]
    together = len(set(languages)) == len(languages) <= len(MARKS)
    found = []
    for id, title in _OF:
        for group in [list(reports)] if together else [[r] for r in reports]:
            name = gettext(title, locale)
            if not together:
                name += "<br>" + safe(series_name(group[0], reports, locale))
            curves = [(r, curve) for r in group for curve in r.latencies if curve.id == id]
            if curves:
                found.append(Panel(name, curves))
    return found


def _height(panels: Sequence[Panel]) -> int:
    return len(panels) * _AREA + (len(panels) - 1) * _GAP + _TOP + _BOTTOM


def _figure(panels: Sequence[Panel], reports: Sequence[Report], locale: str) -> dict[str, Any]:
    area = len(panels) * _AREA + (len(panels) - 1) * _GAP
    traces: list[Trace] = []
    layout: dict[str, Any] = {"height": _height(panels), "margin": {"l": 8, "r": 28, "t": _TOP, "b": _BOTTOM}, "annotations": []}
    for i, panel in enumerate(panels):
        n, top = "" if i == 0 else str(i + 1), 1 - i * (_AREA + _GAP) / area
        shares = {"range": [-0.02, 1.03], "tickmode": "array", "tickvals": [0.0, 0.5, 0.95], "ticktext": [_percent(0.0, locale), "p50", "p95"]}
        layout[f"yaxis{n}"] = shares | {"domain": [max(top - _AREA / area, 0), top], "anchor": f"x{n}"}
        layout[f"xaxis{n}"] = time_axis([second for _, curve in panel.curves for second in curve.seconds], locale) | {"anchor": f"y{n}"}
        title = {"text": panel.title, "x": 0, "y": top, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "align": "left"}
        layout["annotations"].append(title | {"yshift": 4, "showarrow": False})
        traces += [t | {"xaxis": f"x{n}", "yaxis": f"y{n}"} for report, curve in panel.curves for t in _traces(report, curve, reports, locale)]
    return draw(traces, layout, locale)


def _traces(report: Report, curve: Ecdf, reports: Sequence[Report], locale: str) -> Iterator[Trace]:
    """The steps, from no request at all, and the quantiles that the report holds as ticks on them."""
    hue, name = colour(report.spec.language), _name(report, reports, curve.arm, locale)
    words = gettext("%(name)s: %(share)s of %(n)s requests within %(time)s", locale)
    points = [(curve.seconds[0], 0.0), *zip(curve.seconds, curve.shares, strict=True)]
    told = [
        words % {"name": name, "share": _percent(y, locale), "n": decimal(curve.n, 0, locale), "time": number("seconds", x, locale=locale).value}
        for x, y in points
    ]
    line = {"color": hue, "width": 2, "shape": "hv", "dash": "dash" if curve.arm == "plain" else "solid"}
    yield scatter(x=[x for x, _ in points], y=[y for _, y in points], mode="lines", line=line, hovertext=[safe(text) for text in told])
    for quantile, share in QUANTILES.items():
        cell = report.find(curve.id, arm=curve.arm, quantile=quantile)
        if isinstance(cell, Figure) and cell.pooled.point is not None:
            shown = show(cell, report, locale)
            hover = safe(f"{name} {quantile}: {shown.value}, {shown.n}")
            tick = shape(hue, "line-ns-open", 14)
            yield scatter(x=[cell.pooled.point], y=[share], mode="markers", marker=tick, hovertext=[hover])


def _percent(share: float, locale: str) -> str:
    percent = round(share * 100, 1)
    return decimal(percent, 0 if percent.is_integer() else 1, locale) + STYLES["share"].suffix(locale)


def _name(report: Report, reports: Sequence[Report], arm: str, locale: str) -> str:
    said = arm_of(arm, locale)
    return said if len(reports) == 1 else f"{series_name(report, reports, locale)} · {said}"


def _table(reports: Sequence[Report], locale: str) -> Table:
    there = [(id, title) for id, title in _OF if any(c.id == id for r in reports for c in r.cells)]
    columns = (gettext("Arm", locale), *[gettext(title, locale) for _, title in there])
    found = [(r, arm, q) for r in reports for q in QUANTILES for arm in ARMS if r.find("request_latency", arm=arm, quantile=q) is not None]
    rows: list[tuple[str | Shown, ...]] = [
        (f"{_name(r, reports, arm, locale)} {q}", *[find(r, id, locale, arm=arm, quantile=q) for id, _ in there]) for r, arm, q in found
    ]
    return Table(columns, tuple(rows))
