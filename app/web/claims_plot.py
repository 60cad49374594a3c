"""C14: claims beside measurements. A claim is a hollow diamond without an interval, since none was published; ours have theirs."""

from collections.abc import Sequence
from typing import Any

from app.claims.schemas import Claim, Quantity
from app.domain.estimate import Cell, Figure
from app.domain.language import base_of
from app.landscape.beside import representative
from app.landscape.schemas import Landscape, Row
from app.languages.schemas import Measured
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
    row_height,
    safe,
    scatter,
    share_axis,
    symbol,
)
from app.reports.shown import Shown, show
from app.reports.translate import gettext
from app.reports.words import mark
from app.web.claim_words import together, value

DIAMOND = "diamond-open"
COLUMNS = (mark("System"), mark("Claimed or measured"), mark("What its source leaves out"))
_OFFSETS = {"ru": 0.2, "en": 0.36}


def build(found: Landscape, quantity: Quantity, question: str, locale: str) -> Plot:
    """Rows are the systems of which this quantity is claimed; beside them one run of each language with their drafter at load 1
    (app.landscape.beside)."""
    rows = [(row, [claim for claim in row.system.claims if claim.quantity == quantity]) for row in found.rows]
    rows = [(row, claims) for row, claims in rows if claims]
    caption = gettext(
        "◇ as published, without an interval because none was published. ● Russian and ■ English measured here at one request at a time, with"
        " 95%% intervals; of each language the run that has both numbers over the most prompts, of equals the newest. Runs under load stand in the"
        " list below. At the right what the source leaves out.",
        locale,
    ) % {}  # fmt: skip
    table = _table(rows, quantity, locale)
    finding = "; ".join(f"{_name(row, locale)}: " + ", ".join(value(claim, locale) for claim in claims) for row, claims in rows)
    if not rows:
        return Plot(quantity, question, caption, finding, table, empty=gettext("No such figure is on the board.", locale))
    figure, narrow = _figure(rows, quantity, locale)
    return Plot(quantity.replace(" ", "-"), question, caption, finding, table, figure, narrow, height=row_height(len(rows)))


def _figure(rows: Sequence[tuple[Row, list[Claim]]], quantity: Quantity, locale: str) -> tuple[dict[str, Any], dict[str, Any]]:
    ours = [[(one, cell) for one in _known(row) if (cell := _cell(one, quantity)) is not None] for row, _ in rows]
    ends = [end for _, claims in rows for claim in claims for end in (claim.value, claim.upto)]
    ends += [end for found in ours for _, cell in found for end in (cell.pooled.point, cell.pooled.low, cell.pooled.high)]
    ratio = quantity == "speed-up"
    axis = _rough(ratio_axis(ends, locale)) if ratio else share_axis(locale)
    traces = [made for y, (row, claims) in enumerate(rows) for claim in claims for made in _claimed(claim, y, _name(row, locale), locale)]
    traces += [_ours(one, cell, y, locale) for y, found in enumerate(ours) for one, cell in found]
    place = {"xref": "paper", "xanchor": "right", "yshift": 17, "font": {"size": 12, "color": GREY}}
    notes = [label(text, 1, y, **place) for y, (_, claims) in enumerate(rows) if (text := together(claims, locale))]
    layout = {
        "xaxis": axis, "yaxis": row_axis([_name(row, locale)[:24] for row, _ in rows]), "annotations": notes, "height": row_height(len(rows)),
        "shapes": [reference(1.0)] if ratio else [],
    }  # fmt: skip
    return draw(traces, layout, locale), {"xaxis": narrow_ratio_axis(axis)} if ratio else {"xaxis": share_axis(locale, ticks=(0, 0.5, 1))}


def _rough(axis: dict[str, Any]) -> dict[str, Any]:
    """Claims spread far, so there is no room for fine ticks."""
    return axis | narrow_ratio_axis(axis)


def _known(row: Row) -> list[Measured]:
    """One run of each kind at one request at a time, in a language that has a colour here."""
    return [one for one in representative(row.measured) if base_of(one.language) in _OFFSETS]


def _cell(one: Measured, quantity: Quantity) -> Figure | None:
    cell: Cell | None = one.speedup if quantity == "speed-up" else one.acceptance if quantity == "acceptance" else None
    return cell if isinstance(cell, Figure) and cell.pooled.point is not None else None


def _name(row: Row, locale: str) -> str:
    return gettext(row.system.name, locale)


def _claimed(claim: Claim, y: int, system: str, locale: str) -> list[dict[str, Any]]:
    """One diamond, or two with a thin line between them for a published range."""
    xs = [claim.value] if claim.upto is None else [claim.value, claim.upto]
    hover = safe(f"{system}: {gettext(claim.figure, locale)} {value(claim, locale)}, {gettext(claim.source, locale)}")
    look = {"color": GREY, "symbol": DIAMOND, "size": 11, "line": {"width": 2, "color": GREY}}
    line = {"color": GREY, "width": 1, "dash": "dot"}
    return [scatter(x=xs, y=[y] * len(xs), mode="lines+markers", marker=look, line=line, hovertext=[hover] * len(xs))]


def _ours(one: Measured, cell: Figure, y: int, locale: str) -> dict[str, Any]:
    shown, e = show(cell, None, locale), cell.pooled
    assert e.point is not None
    decided = cell.id == "acceptance_rate" or one.outcome != "cannot tell"
    hover = safe(f"{one.language} · {one.drafter_title} · #{one.run}: {shown.value} {shown.interval}, {shown.n}")
    at = y + _OFFSETS[base_of(one.language)]
    return dot(e.point, at, e.low, e.high, colour=colour(one.language), symbol=symbol(one.language, filled=decided), hover=hover)


def _table(rows: Sequence[tuple[Row, list[Claim]]], quantity: Quantity, locale: str) -> Table:
    columns = tuple(gettext(text, locale) for text in COLUMNS)
    body: list[tuple[str | Shown, ...]] = []
    for row, claims in rows:
        ours = [(one, cell) for one in _known(row) if (cell := _cell(one, quantity)) is not None]
        name = _name(row, locale)
        body += [(f"{name}, {gettext(one.figure, locale)}", f"◇ {value(one, locale)}", together([one], locale) or _nothing(locale)) for one in claims]
        body += [(f"{name}, {one.language}, #{one.run}", show(cell, None, locale), gettext("measured here", locale)) for one, cell in ours]
    return Table(columns, tuple(body))


def _nothing(locale: str) -> str:
    return gettext("neither language nor tokenizer", locale)
