"""C1: does it pay? One row per run: the headline speed-up with its interval, a line at 1 and this machine's noise floor."""

import math
from collections.abc import Sequence
from typing import Any

from app.domain.estimate import Estimate, Figure
from app.reports.figures.base import (
    BAND,
    GREY,
    PLAIN,
    Plot,
    Table,
    colour,
    dot,
    draw,
    label,
    narrow_ratio_axis,
    ratio_axis,
    reference,
    row_axis,
    row_height,
    safe,
    series_name,
    symbol,
)
from app.reports.report import Report
from app.reports.shown import Shown, find, show_estimate
from app.reports.translate import gettext
from app.reports.words import judged_of, name_of, speedup_of

CONTROL = "control_ratio"


def build(reports: Sequence[Report], locale: str) -> Plot:
    """A refused row keeps its place and does not stretch the axis."""
    mixed = len({r.headline for r in reports}) > 1
    rows = [(_row_name(r, reports, mixed, locale), r, find(r, r.headline, locale)) for r in reports]
    control = [(r, cell) for r in reports if isinstance(cell := r.find(CONTROL), Figure) and cell.pooled.point is not None]
    table = _table(rows, [(r, find(r, CONTROL, locale)) for r, _ in control], locale)
    finding = "; ".join(f"{name}: {said(shown, r, locale)}" for name, r, shown in rows)
    question = gettext("Does it pay?", locale)
    caption = gettext("%(figure)s, logarithmic, with 95%% intervals. Filled: decided. Hollow: cannot tell.", locale) % {
        "figure": gettext("Each run's own headline speed-up", locale) if mixed else name_of(reports[0].headline, locale)
    }
    count = len(rows) + len(control)
    if all(shown.state in {"refused", "absent"} for _, _, shown in rows):
        empty = " ".join(f"{name}: {shown.why}" for name, _, shown in rows)
        return Plot("forest", question, caption, finding, table, empty=empty)
    figure, narrow = _figure(rows, control, locale)
    return Plot("forest", question, caption, finding, table, figure, narrow, height=row_height(count) + 12)


def _row_name(report: Report, among: Sequence[Report], mixed: bool, locale: str) -> str:
    """Headlines of different kinds share a plot only under their names."""
    name = series_name(report, among, locale)
    return f"{name} · {speedup_of(report.headline, locale)}" if mixed else name


def said(shown: Shown, report: Report, locale: str) -> str:
    """A row in words, the verdict with it."""
    if shown.state in {"refused", "absent"}:
        return shown.why
    return f"{shown.value} {shown.interval}, {shown.n}, {judged_of(report.state, report.verdict.outcome, locale)}".replace(" ,", ",")


def _table(rows: list[tuple[str, Report, Shown]], control: list[tuple[Report, Shown]], locale: str) -> Table:
    columns = (gettext("Run", locale), gettext("Speed-up", locale), gettext("Acceptance, V/D", locale), gettext("Verdict", locale))
    body: list[tuple[str | Shown, ...]] = []
    for name, report, shown in rows:
        body.append((name, shown, find(report, report.acceptance, locale), judged_of(report.state, report.verdict.outcome, locale)))
        floor = report.verdict.noise_floor
        if floor is not None:
            body.append((name + " · " + gettext("noise floor, plain against plain", locale), show_estimate("ratio", floor, locale), "", ""))
    body += [(f"{_name_of(report, rows)} · " + gettext("control against plain", locale), shown, "", "") for report, shown in control]
    return Table(columns, tuple(body))


def _figure(rows: list[tuple[str, Report, Shown]], control: list[tuple[Report, Figure]], locale: str) -> tuple[dict[str, Any], dict[str, Any]]:
    names = [name for name, _, _ in rows] + [_control_name(report, rows, locale) for report, _ in control]
    estimates = [cell.pooled for _, r, shown in rows if shown.value and isinstance(cell := r.find(r.headline), Figure)]
    estimates += [cell.pooled for _, cell in control]
    floors = {y: floor for y, (_, r, shown) in enumerate(rows) if shown.value and (floor := _floor(r)) is not None}
    axis = ratio_axis([v for e in [*estimates, *floors.values()] for v in (e.point, e.low, e.high)], locale)
    traces, notes, shapes = [], [], [reference(1.0)]
    for y, (name, report, shown) in enumerate(rows):
        cell = report.find(report.headline)
        if not shown.value or not isinstance(cell, Figure):
            text = "⊘ " + gettext("refused", locale) if shown.state == "refused" else gettext("no number", locale)
            notes.append(label(text, axis["range"][0], y, xanchor="left", xshift=6, font={"color": GREY}))
            shapes.append(_strip(y))
            continue
        traces.append(_dot(cell.pooled, y, f"{name}<br>{said(shown, report, locale)}", report.spec.language, shown.state != "cannot tell"))
        notes.append(_value(cell.pooled, y, f"{shown.value} {shown.interval}"))
    for y, (_, cell) in enumerate(control, start=len(rows)):
        traces.append(_plain_dot(cell.pooled, y, locale))
        printed = show_estimate("ratio", cell.pooled, locale)
        notes.append(_value(cell.pooled, y, f"{printed.value} {printed.interval}"))
    shapes += [_band(floor, y) for y, floor in floors.items()]
    if floors:
        where = {"yanchor": "top", "yshift": -10, "xanchor": "left", "xshift": 6, "font": {"size": 12, "color": GREY}}
        notes.append(label(gettext("noise floor", locale), 0, min(floors), **where))
    layout = {"xaxis": axis, "yaxis": row_axis(names), "shapes": shapes, "annotations": notes, "height": row_height(len(names)) + 12}
    return draw(traces, layout, locale), {"xaxis": narrow_ratio_axis(axis)}


def _name_of(report: Report, rows: list[tuple[str, Report, Shown]]) -> str:
    return next(name for name, own, _ in rows if own is report)


def _control_name(report: Report, rows: list[tuple[str, Report, Shown]], locale: str) -> str:
    """Each run has a control of its own, so among several it bears the run's name."""
    said = gettext("control ÷ plain", locale)
    return said if len(rows) == 1 else f"{said} · {_name_of(report, rows)}"


def _dot(e: Estimate, y: int, hover: str, language: str, decided: bool) -> Any:
    assert e.point is not None
    return dot(
        e.point, y, e.low, e.high, colour=colour(language), symbol=symbol(language, filled=decided), hover=safe(hover).replace("&lt;br&gt;", "<br>")
    )


def _plain_dot(e: Estimate, y: int, locale: str) -> Any:
    assert e.point is not None
    return dot(e.point, y, e.low, e.high, colour=GREY, symbol=PLAIN, hover=gettext("control against plain", locale))


def _value(e: Estimate, y: int, text: str) -> dict[str, Any]:
    assert e.point is not None
    # Annotations take log10 of the value on a log axis; shapes take the value itself.
    return label(safe(text), math.log10(e.point), y, yshift=17)


def _floor(report: Report) -> Estimate | None:
    floor = report.verdict.noise_floor
    return floor if floor is not None and floor.low is not None else None


def _band(e: Estimate, y: int) -> dict[str, Any]:
    """This row's own floor: two runs may come from two machines."""
    return {"type": "rect", "x0": e.low, "x1": e.high, "y0": y - 0.42, "y1": y + 0.42, "fillcolor": BAND, "line": {"width": 0}, "layer": "below"}


def _strip(y: int) -> dict[str, Any]:
    line = {"color": GREY, "width": 1, "dash": "dash"}
    return {"type": "rect", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": y - 0.3, "y1": y + 0.3, "line": line, "layer": "below"}
