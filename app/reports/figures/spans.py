"""C11: a peak is no mean. Speed-up of single stretches of text: the middle one, the slow and the fast ends, and the largest of all as what it is."""

import math
from collections.abc import Sequence
from typing import Any

from app.domain.estimate import Cell, Figure
from app.reports.figures.base import (
    Plot,
    Table,
    Trace,
    cells,
    colour,
    draw,
    label,
    mark,
    narrow_ratio_axis,
    ratio_axis,
    reference,
    row_axis,
    row_height,
    safe,
    scatter,
    series_name,
    symbol,
)
from app.reports.format import counted
from app.reports.report import Report
from app.reports.shown import Shown, find, missing_series, plain_number, show
from app.reports.translate import gettext

ID = "window_speedup"
NAMES = ("p5", "p50", "p95")
Row = tuple[str, Report, dict[str, Cell]]


def build(reports: Sequence[Report], locale: str) -> Plot:
    """A row a run. Where there is no middle window there is no mark at all, so that the largest never stands alone."""
    question = gettext("How much faster is which stretch of text?", locale)
    caption = gettext("Windows of 32 tokens or a little more, one request at a time: p5 and p95 (hollow), p50 (filled), and the largest.", locale)
    rows: list[Row] = [(series_name(r, reports, locale), r, cells(r, ID, "quantile")) for r in reports]
    drawn = [(name, r, by) for name, r, by in rows if _point(by.get("p50")) is not None]
    table, finding = _table(rows, locale), "; ".join(_finding(name, r, by, locale) for name, r, by in rows)
    if len(reports) > 1:
        caption += missing_series((name, find(r, ID, locale, quantile="p50")) for name, r, _ in rows)
    if not drawn:
        why = dict.fromkeys(find(r, ID, locale, quantile="p50").why for r in reports)
        return Plot("spans", question, caption, finding, table, empty=" ".join(why))
    return Plot("spans", question, caption, finding, table, *_figure(drawn, locale), height=row_height(len(drawn)))


def _point(cell: Cell | None) -> float | None:
    return cell.pooled.point if isinstance(cell, Figure) else None


def _largest(report: Report, locale: str) -> str:
    """`maximum of 48 windows`."""
    assert report.peak is not None
    return gettext("maximum of %(windows)s", locale) % {"windows": counted(report.peak.n, "windows", locale)}


def _finding(name: str, report: Report, by: dict[str, Cell], locale: str) -> str:
    said = [f"{q} {shown.value or shown.why}" for q in NAMES if q in by for shown in [show(by[q], report, locale)]]
    if report.peak is not None and said:
        said.append(f"{_largest(report, locale)} {plain_number('ratio', report.peak.speedup, locale)}")
    return f"{name}: " + (", ".join(said) or find(report, ID, locale, quantile="p50").why)


def _table(rows: Sequence[Row], locale: str) -> Table:
    columns = (gettext("Run", locale), *NAMES, gettext("Largest", locale))
    found: list[tuple[str | Shown, ...]] = []
    for name, report, by in rows:
        quantiles = [show(by[q], report, locale) if q in by else find(report, ID, locale, quantile=q) for q in NAMES]
        absent = find(report, ID, locale, quantile="p50")
        largest: str | Shown = absent if report.peak is None else f"{plain_number('ratio', report.peak.speedup, locale)}, {_largest(report, locale)}"
        found.append((name, *quantiles, largest))
    return Table(columns, tuple(found))


def _figure(drawn: Sequence[Row], locale: str) -> tuple[dict[str, Any], dict[str, Any]]:
    traces: list[Trace] = []
    annotations: list[dict[str, Any]] = []
    values: list[float] = []
    for at, (name, report, by) in enumerate(drawn):
        points = {q: point for q in NAMES if (point := _point(by.get(q))) is not None}
        values += points.values()
        hue, language = colour(report.spec.language), report.spec.language
        ends = [points[q] for q in ("p5", "p95") if q in points]
        hollow = mark(hue, symbol(language, filled=False), 9)
        traces += [
            scatter(
                x=ends, y=[at] * len(ends), mode="lines+markers", marker=hollow, line={"color": hue, "width": 2.5}, hovertext=[safe(name)] * len(ends)
            ),
            scatter(
                x=[points["p50"]],
                y=[at],
                mode="markers",
                marker=mark(hue, symbol(language), 13),
                hovertext=[safe(_finding(name, report, by, locale))],
            ),
        ]
        if (peak := report.peak) is not None:
            values.append(peak.speedup)
            where = f"{name}: {_largest(report, locale)}, {peak.prompt}, {peak.profile}, {peak.first}–{peak.last}"
            traces.append(scatter(x=[peak.speedup], y=[at], mode="markers", marker=mark(hue, "circle-open", 6), hovertext=[safe(where)]))
            annotations.append(label(safe(_largest(report, locale)), peak.speedup, at, yshift=16, xanchor="right"))
    axis = ratio_axis(values, locale)
    # An annotation on a log axis stands at the logarithm.
    annotations = [each | {"x": math.log10(each["x"])} for each in annotations]
    layout = {
        "xaxis": axis,
        "yaxis": row_axis([name for name, _, _ in drawn]),
        "shapes": [reference(1.0)],
        "annotations": annotations,
        "height": row_height(len(drawn)),
    }
    return draw(traces, layout, locale), {"xaxis": narrow_ratio_axis(axis)}
