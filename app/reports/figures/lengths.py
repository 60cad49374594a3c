"""C8: draft length over time. What the controller did in round 1, 2, … of an answer, and how much of it was kept."""

from collections.abc import Sequence
from typing import Any

from app.domain.spec import OWN_ENGINE
from app.reports.figures.base import BAND, GREY, Plot, Table, Trace, colour, dash_of, draw, label, safe, scatter, series_name, zero_axis
from app.reports.format import counted, decimal
from app.reports.report import NODES, LengthRow, Report
from app.reports.shown import Shown, find, missing_series, plain_number
from app.reports.translate import gettext
from app.reports.words import mark as word

UNLISTED = word("The source did not list its rounds one by one.")
_HEIGHT, _LINE, _TICKS, _FEW = 260, 26, 8, 4


def build(reports: Sequence[Report], locale: str) -> Plot:
    """Means over the requests that still ran; of a single run also the quartiles of what was drafted."""
    question = gettext("How long were drafts as the answer went on?", locale)
    drawn = [report for report in reports if report.lengths]
    names = {report.run: _name(report, reports, locale) for report in reports}
    caption, table = _caption(reports, names, locale), _table(reports, names, locale)
    if not drawn:
        return Plot("lengths", question, caption, "", table, empty=" ".join(dict.fromkeys(_why(report, locale).why for report in reports)))
    finding = ". ".join(f"{names[r.run]}: " + "; ".join(_said(row, locale) for row in _spaced(r.lengths, _FEW)) for r in drawn)
    return Plot("lengths", question, caption, finding, table, *_figure(drawn, names, locale, alone=len(reports) == 1), height=_HEIGHT)


def _name(report: Report, reports: Sequence[Report], locale: str) -> str:
    name = series_name(report, reports, locale)
    several = len({_controller(other) for other in reports}) > 1 and report.spec.engine == OWN_ENGINE
    return f"{name} · {report.spec.controller.name}" if several else name


def _controller(report: Report) -> str:
    """Empty on a served engine, which decides itself."""
    if report.spec.engine != OWN_ENGINE:
        return ""
    chosen = report.spec.controller
    return f"{chosen.name} {', '.join(f'{name} {value}' for name, value in chosen.said.items())}".rstrip()


def _caption(reports: Sequence[Report], names: dict[int, str], locale: str) -> str:
    parts = [gettext("Mean tokens drafted a round (line) and kept (dots).", locale)]
    if len(reports) == 1:
        parts.append(gettext("The band is the middle half of drafts.", locale))
    if any(report.acceptance == NODES for report in reports):
        parts.append(gettext("A tree is as long as its longest path, whatever stands beside that.", locale))
    parts.append(gettext("Steps without a draft are no rounds.", locale))
    parts += [_acting(report, names[report.run], locale) for report in reports if report.lengths]
    parts.append(gettext("Late rounds are those of requests that kept little, so the ends of the lines do not stand for all.", locale))
    absent = [(names[report.run], _why(report, locale)) for report in reports if not report.lengths] if len(reports) > 1 else []
    return " ".join(parts) + missing_series(absent)


def _acting(report: Report, name: str, locale: str) -> str:
    coverage = find(report, "draft_coverage", locale)
    own = word("%(run)s: controller %(controller)s, %(coverage)s of decode steps drafted.")
    words = own if _controller(report) else word("%(run)s: the engine decides how long drafts are; %(coverage)s of decode steps drafted.")
    return gettext(words, locale) % {
        "run": name,
        "controller": _controller(report),
        "coverage": coverage.value or coverage.why,
    }


def _why(report: Report, locale: str) -> Shown:
    """A refused run shows no length, since drafted and kept side by side are its acceptance."""
    found = find(report, report.acceptance, locale)
    if found.why and not found.value:
        return Shown(found.state, why=found.why)
    # Drafts that were made and kept are no rounds that can be drawn, where an engine tells their sums alone.
    return Shown("absent", why=gettext(UNLISTED if found.value else "No draft was made.", locale))


def _rounds(row: LengthRow) -> str:
    return str(row.first) if row.first == row.last else f"{row.first}–{row.last}"


def _said(row: LengthRow, locale: str) -> str:
    return gettext("round %(round)s: %(drafted)s drafted, %(kept)s kept, %(requests)s", locale) % {
        "round": _rounds(row),
        "drafted": decimal(row.drafted, 1, locale),
        "kept": decimal(row.kept, 1, locale),
        "requests": counted(row.requests, "requests", locale),
    }


def _table(reports: Sequence[Report], names: dict[int, str], locale: str) -> Table:
    words = (word("Round"), word("Requests"), word("Drafted"), word("Middle half"), word("Kept"))
    rows: list[tuple[str | Shown, ...]] = [
        (
            _rounds(row) if len(reports) == 1 else f"{names[report.run]}, {_rounds(row)}",
            decimal(row.requests, 0, locale), plain_number("tokens", row.drafted, locale),
            f"{decimal(row.low, 1, locale)} … {decimal(row.high, 1, locale)}", plain_number("tokens", row.kept, locale),
        )
        for report in reports
        for row in report.lengths
    ]  # fmt: skip
    return Table(tuple(gettext(text, locale) for text in words), tuple(rows))


def _figure(drawn: Sequence[Report], names: dict[int, str], locale: str, *, alone: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    traces = [trace for report in drawn for trace in _traces(report, drawn, names[report.run], locale, alone=alone)]
    reach = 1.15 * max(max(row.high if alone else 0.0, row.drafted) for report in drawn for row in report.lengths)
    longest = max((report.lengths for report in drawn), key=lambda rows: rows[-1].last)
    last = longest[-1]
    ends = [(gettext("drafted", locale), last, last.drafted), (gettext("kept", locale), last, last.kept)]
    if not alone:
        ends = [(names[report.run], report.lengths[-1], report.lengths[-1].drafted) for report in drawn]
    # On a phone the last part of a name has to do.
    short = [(name.rsplit(" · ", 1)[-1], row, value) for name, row, value in ends]
    layout = {
        "xaxis": _axis(longest, locale, _TICKS, alone=alone),
        "yaxis": zero_axis("tokens", reach, locale),
        "annotations": _labels(ends, reach),
        "height": _HEIGHT,
        "margin": _margin(ends),
    }
    narrow = {"xaxis": _axis(longest, locale, _FEW, alone=alone), "annotations": _labels(short, reach), "margin": _margin(short)}
    return draw(traces, layout, locale), narrow


def _traces(report: Report, drawn: Sequence[Report], name: str, locale: str, *, alone: bool) -> list[Trace]:
    rows, hue = report.lengths, colour(report.spec.language)
    at = [_middle(row) for row in rows]
    hover = [safe(f"{name}: {_said(row, locale)}") for row in rows]
    line = {"color": hue, "width": 2.5, "shape": "hvh", "dash": dash_of(report, drawn)}
    dots = {"color": GREY if alone else hue, "size": 6 if alone else 4}
    found = [
        scatter(x=at, y=[row.drafted for row in rows], mode="lines", line=line, hovertext=hover),
        scatter(x=at, y=[row.kept for row in rows], mode="markers", marker=dots, hovertext=hover),
    ]
    if not alone:
        return found
    edge = {"mode": "lines", "line": {"width": 0, "shape": "hvh", "color": hue}, "hoverinfo": "skip"}
    low, high = scatter(x=at, y=[row.low for row in rows], **edge), scatter(x=at, y=[row.high for row in rows], **edge)
    return [low, high | {"fill": "tonexty", "fillcolor": BAND}, *found]


def _margin(ends: Sequence[tuple[str, LengthRow, float]]) -> dict[str, int]:
    """Room for the longest name behind the last round."""
    return {"l": 8, "r": 24 + 7 * max(len(name) for name, _, _ in ends), "t": 8, "b": 8}


def _labels(ends: Sequence[tuple[str, LengthRow, float]], reach: float) -> list[dict[str, Any]]:
    """Names at the ends of their lines, at least a line of text apart: many end at a draft of one token."""
    found, least = [], 0.0
    for name, row, value in sorted(ends, key=lambda end: end[2]):
        least = max(value, least)
        found.append(label(safe(name), _middle(row), least, xanchor="left", xshift=10))
        least += _LINE * reach / _HEIGHT
    return found


def _middle(row: LengthRow) -> float:
    return (row.first + row.last) / 2


def _axis(rows: Sequence[LengthRow], locale: str, most: int, *, alone: bool) -> dict[str, Any]:
    """Round numbers, and below each of a single run how many requests were still running."""
    ticks = _spaced(rows, most)
    title = gettext("round, and requests that reached it", locale) if alone else gettext("round", locale)
    return {
        "tickmode": "array",
        "tickvals": [_middle(row) for row in ticks],
        "ticktext": [f"{_rounds(row)}<br>{decimal(row.requests, 0, locale)}" if alone else _rounds(row) for row in ticks],
        "range": [rows[0].first - 0.6, rows[-1].last + 0.6],
        "title": {"text": safe(title)},
    }


def _spaced(rows: Sequence[LengthRow], most: int) -> Sequence[LengthRow]:
    """At most `most` rows, evenly spaced, the first among them."""
    return rows[:: max(1, -(-len(rows) // most))]
