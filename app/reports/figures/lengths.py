"""C8: draft length over time. What the controller did in round 1, 2, … of an answer, and how much of it was kept."""

from typing import Any

from app.reports.figures.base import GREY, Plot, Table, Trace, colour, draw, label, safe, scatter, zero_axis
from app.reports.format import counted, decimal
from app.reports.report import LengthRow, Report
from app.reports.shown import Shown, find, plain_number
from app.reports.translate import gettext
from app.reports.words import mark as word

_HEIGHT, _LINE, _TICKS, _FEW = 260, 26, 8, 4


def build(report: Report, locale: str) -> Plot:
    """Means over the requests that still ran, with the quartiles of what was drafted."""
    question = gettext("How long were drafts as the answer went on?", locale)
    caption = gettext(
        "Mean tokens drafted a round (line) and kept (dots), with the middle half of drafts (band). Controller: %(controller)s. "
        "Steps without a draft are no rounds: %(coverage)s of decode steps drafted. Late rounds are those of requests that kept little, "
        "so the ends of the lines do not stand for all.",
        locale,
    ) % {"controller": _controller(report), "coverage": _coverage(report, locale)}
    rows, table = report.lengths, _table(report, locale)
    if not rows:
        return Plot("lengths", question, caption, "", table, empty=_why(report, locale))
    finding = "; ".join(_said(row, locale) for row in _spaced(rows, _FEW))
    return Plot("lengths", question, caption, finding, table, *_figure(report, locale), height=_HEIGHT)


def _controller(report: Report) -> str:
    chosen = report.spec.controller
    return f"{chosen.name} {', '.join(f'{name} {value}' for name, value in chosen.params.items())}".rstrip()


def _coverage(report: Report, locale: str) -> str:
    found = find(report, "draft_coverage", locale)
    return found.value or found.why


def _why(report: Report, locale: str) -> str:
    """A refused run shows no length, since drafted and kept side by side are its acceptance."""
    return find(report, "acceptance_rate", locale).why or gettext("No draft was made.", locale)


def _rounds(row: LengthRow) -> str:
    return str(row.first) if row.first == row.last else f"{row.first}–{row.last}"


def _said(row: LengthRow, locale: str) -> str:
    return gettext("round %(round)s: %(drafted)s drafted, %(kept)s kept, %(requests)s", locale) % {
        "round": _rounds(row),
        "drafted": decimal(row.drafted, 1, locale),
        "kept": decimal(row.kept, 1, locale),
        "requests": counted(row.requests, "requests", locale),
    }


def _table(report: Report, locale: str) -> Table:
    words = (word("Round"), word("Requests"), word("Drafted"), word("Middle half"), word("Kept"))
    rows: list[tuple[str | Shown, ...]] = [
        (
            _rounds(row), decimal(row.requests, 0, locale), plain_number("tokens", row.drafted, locale),
            f"{decimal(row.low, 1, locale)} … {decimal(row.high, 1, locale)}", plain_number("tokens", row.kept, locale),
        )
        for row in report.lengths
    ]  # fmt: skip
    return Table(tuple(gettext(text, locale) for text in words), tuple(rows))


def _figure(report: Report, locale: str) -> tuple[dict[str, Any], dict[str, Any]]:
    rows, hue = report.lengths, colour(report.spec.language)
    at = [(row.first + row.last) / 2 for row in rows]
    hover = [safe(_said(row, locale)) for row in rows]
    band = {"mode": "lines", "line": {"width": 0, "shape": "hvh", "color": hue}, "hoverinfo": "skip"}
    traces: list[Trace] = [
        scatter(x=at, y=[row.low for row in rows], **band),
        scatter(x=at, y=[row.high for row in rows], fill="tonexty", fillcolor="rgba(120,130,143,0.18)", **band),
        scatter(x=at, y=[row.drafted for row in rows], mode="lines", line={"color": hue, "width": 2.5, "shape": "hvh"}, hovertext=hover),
        scatter(x=at, y=[row.kept for row in rows], mode="markers", marker={"color": GREY, "size": 6}, hovertext=hover),
    ]
    reach = max(max(row.high, row.drafted) for row in rows) * 1.15
    # Both lines often end at a draft of one token; their names stand a line of text apart.
    above = max(rows[-1].drafted, rows[-1].kept + _LINE * reach / _HEIGHT)
    ends = [(gettext("drafted", locale), above), (gettext("kept", locale), rows[-1].kept)]
    layout = {
        "xaxis": _axis(rows, locale, _TICKS),
        "yaxis": zero_axis("tokens", reach, locale),
        "annotations": [label(safe(name), at[-1], y, xanchor="left", xshift=10) for name, y in ends],
        "height": _HEIGHT,
        "margin": {"l": 8, "r": 96, "t": 8, "b": 8},
    }
    return draw(traces, layout, locale), {"xaxis": _axis(rows, locale, _FEW)}


def _axis(rows: tuple[LengthRow, ...], locale: str, most: int) -> dict[str, Any]:
    """Round numbers, and below each how many requests were still running."""
    ticks = _spaced(rows, most)
    return {
        "tickmode": "array",
        "tickvals": [(row.first + row.last) / 2 for row in ticks],
        "ticktext": [f"{_rounds(row)}<br>{decimal(row.requests, 0, locale)}" for row in ticks],
        "range": [rows[0].first - 0.6, rows[-1].last + 0.6],
        "title": {"text": safe(gettext("round, and requests that reached it", locale))},
    }


def _spaced(rows: tuple[LengthRow, ...], most: int) -> tuple[LengthRow, ...]:
    """At most `most` rows, evenly spaced, the first among them."""
    return rows[:: max(1, -(-len(rows) // most))]
