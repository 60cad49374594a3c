"""Single runs' numbers by language, for the page of languages: what a word costs, and what is accepted with what it gives in speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.estimate import Cell, Estimate, Figure
from app.reports.figures import _panels
from app.reports.figures.base import (
    GREY,
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
    safe,
    share_axis,
    symbol,
)
from app.reports.shown import Shown
from app.reports.translate import gettext

_ROW, _GAP, _TOP, _BOTTOM = 30, 84, 40, 34
MOST = 16


@dataclass(frozen=True)
class Line:
    """One number of one row, as the page shows it: the cell behind it and its words."""

    name: str
    language: str
    cell: Cell | None
    shown: Shown


@dataclass(frozen=True)
class Pair:
    """A run: what was accepted and how fast it was, never one without the other."""

    acceptance: Line
    speedup: Line


def fertility(panels: Sequence[tuple[str, Sequence[Line]]], table: Table, locale: str) -> Plot:
    """C6 over tokenizers: (title, lines) a panel, each from 0."""
    question = gettext("How many tokens does a text take?", locale)
    caption = gettext("Tokens per word and per character of the prompts, by tokenizer and language; each of the run with the most prompts.", locale)
    drawn = [panel for title, lines in panels if (panel := _panel(title, lines)).rows]
    finding = "; ".join(f"{line.name}: {line.shown.value or line.shown.why}" for _, lines in panels for line in lines)
    if not drawn:
        return Plot("fertility", question, caption, finding, table, empty=gettext("The words of the prompts were not counted.", locale))
    return Plot("fertility", question, caption, finding, table, *_panels.figure(drawn, locale), height=_panels.height(drawn))


def _panel(title: str, lines: Sequence[Line]) -> _panels.Panel:
    known = [(line, line.cell.pooled) for line in lines if isinstance(line.cell, Figure) and line.shown.value]
    return _panels.Panel(title, "tokens", [_panels.Row(n.name, e, n.shown, colour(n.language), symbol(n.language)) for n, e in known])


def acceptance(pairs: Sequence[Pair], table: Table, locale: str) -> Plot:
    """Acceptance in one panel and the same runs' speed-up in the next: a refused row keeps its place in both."""
    question = gettext("What is accepted, and does it pay?", locale)
    caption = (
        gettext("Acceptance, V/D, and under it the speed-up of the same runs, with 95%% intervals. Filled: decided. Hollow: cannot tell.", locale)
        % {}
    )
    rows = pairs[:MOST]
    if len(pairs) > MOST:
        caption += " " + gettext("The newest %(n)s runs are drawn; all stand in the table.", locale) % {"n": MOST}
    finding = "; ".join(f"{p.acceptance.name}: {_said(p.acceptance.shown)}, {_said(p.speedup.shown)}" for p in rows)
    if not any(p.acceptance.shown.value or p.speedup.shown.value for p in rows):
        return Plot("accepted", question, caption, finding, table, empty=gettext("No run has an acceptance that can be shown.", locale))
    figure, narrow = _figure(rows, locale)
    return Plot("accepted", question, caption, finding, table, figure, narrow, height=_height(len(rows)))


def _said(shown: Shown) -> str:
    return f"{shown.value} {shown.interval}".strip() if shown.value else shown.why


def _height(rows: int) -> int:
    return 2 * _ROW * rows + _GAP + _TOP + _BOTTOM


def _figure(rows: Sequence[Pair], locale: str) -> tuple[dict[str, Any], dict[str, Any]]:
    area = 2 * _ROW * len(rows) + _GAP
    share = _ROW * len(rows) / area
    speeds = [estimate for p in rows if (estimate := _estimate(p.speedup)) is not None]
    ratio = ratio_axis([v for e in speeds for v in (e.point, e.low, e.high)], locale)
    names = [p.acceptance.name for p in rows]
    layout: dict[str, Any] = {
        "height": _height(len(rows)),
        "margin": {"l": 8, "r": 28, "t": _TOP, "b": _BOTTOM},
        "yaxis": row_axis(names) | {"domain": [1 - share, 1]},
        "xaxis": share_axis(locale) | {"anchor": "y"},
        "yaxis2": row_axis(names) | {"domain": [0, share], "anchor": "x2"},
        "xaxis2": ratio | {"anchor": "y2"},
        "shapes": [reference(1.0, x="x2", y="y2 domain")],
        "annotations": [_title("Acceptance, V/D", 1, locale), _title("Speed-up", share, locale)],
    }
    traces = []
    for y, pair in enumerate(rows):
        for line, axis, left in ((pair.acceptance, "", 0.0), (pair.speedup, "2", ratio["range"][0])):
            found = _estimate(line)
            if found is None or found.point is None:
                text = "⊘ " + gettext("refused", locale) if line.shown.state == "refused" else gettext("no number", locale)
                place = {"xref": f"x{axis}", "yref": f"y{axis}", "xanchor": "left", "xshift": 6, "font": {"color": GREY}}
                layout["annotations"].append(label(text, left, y, **place))
                continue
            filled = line.shown.state != "cannot tell"
            hover = safe(f"{line.name}: {_said(line.shown)}, {line.shown.n}")
            marks = {"colour": colour(line.language), "symbol": symbol(line.language, filled=filled), "hover": hover}
            traces.append(dot(found.point, y, found.low, found.high, xaxis=f"x{axis}", yaxis=f"y{axis}", **marks))
    return draw(traces, layout, locale), {"xaxis2": narrow_ratio_axis(ratio)}


def _estimate(line: Line) -> Estimate | None:
    return line.cell.pooled if isinstance(line.cell, Figure) and line.shown.value else None


def _title(text: str, top: float, locale: str) -> dict[str, Any]:
    place = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": 4}
    return label(gettext(text, locale), 0, top, **place)
