"""C4: how deep do drafts hold? Acceptance at draft position 1, 2, …, in one of three definitions that answer different questions."""

from collections.abc import Sequence
from typing import Any

from app.domain.estimate import Cell, Figure
from app.reports.figures._difference import points_axis, points_name, upright
from app.reports.figures._ends import end_labels, few, reach
from app.reports.figures.base import (
    GREY,
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
from app.reports.format import counted
from app.reports.report import Contrast, Report
from app.reports.shown import Shown, find, missing_series, show, show_contrast
from app.reports.translate import gettext
from app.reports.words import mark as word

DEFINITIONS = {"at": "acceptance_at", "all": "acceptance_at_all_rounds", "given": "acceptance_given_previous"}
TITLES = {
    "at": word("How deep do drafts hold, of the rounds that drafted so far?"),
    "all": word("How deep do drafts hold, of all rounds?"),
    "given": word("How deep do drafts hold, given that the previous token was accepted?"),
}
_HEIGHT, _PANEL, _WIDE, _NARROW = 300, 150, 500, 280
SHORT = {"at": word("of rounds that drafted so far"), "all": word("of all rounds"), "given": word("given the previous was accepted")}
FORMULAS = {
    "at": word("Rounds with at least i kept ÷ rounds of depth at least i."),
    "all": word("Rounds with at least i kept ÷ all rounds."),
    "given": word("Rounds with at least i kept ÷ rounds with at least i − 1 kept and depth at least i."),
}


def build(reports: Sequence[Report], locale: str, definition: str = "at", contrasts: Sequence[Contrast] = ()) -> Plot:
    """`definition` is `at`, `all` or `given`; anything else is `at`. With contrasts the paired difference stands below the lines."""
    definition = definition if definition in DEFINITIONS else "at"
    id = DEFINITIONS[definition]
    found = [(series_name(r, reports, locale), r, cells(r, id, "position")) for r in reports]
    question, caption = gettext(TITLES[definition], locale), gettext(FORMULAS[definition], locale)
    positions = sorted({int(p) for _, _, by in found for p in by})
    shown = {(r.run, p): show(cell, r, locale) for _, r, by in found for p in positions if (cell := by.get(str(p))) is not None}
    differences = {int(c.part["position"]): c for c in contrasts if c.id == id and set(c.part) == {"position"}}
    table = _table(found, positions, shown, differences, locale)
    finding = "; ".join(_finding(name, r, positions, shown, locale) for name, r, _ in found)
    rounds = [f"{name}: {counted(n, 'rounds', locale)}" for name, _, by in found if (n := _rounds(by)) is not None]
    caption += " " + "; ".join(rounds) + "." if rounds else ""
    if differences:
        caption += " " + gettext("Below: the first minus the second on the same prompts, in percentage points.", locale)
    if len(reports) > 1:
        caption += missing_series((name, find(r, r.acceptance, locale)) for name, r, _ in found)
    drawn = [(name, r, figures) for name, r, by in found if (figures := _numbers(by))]
    if not drawn:
        reasons = sorted({s.why for s in shown.values() if s.why}) or [show(c, r, locale).why for r in reports if (c := r.find(id)) is not None]
        nothing = gettext("No draft was made, so there is no position to show.", locale)
        return Plot("positions", question, caption, finding, table, empty=(reasons or [nothing])[0])
    figure, narrow = _figure(drawn, reports, positions, shown, locale)
    return Plot("positions", question, caption, finding, table, *_below(figure, narrow, differences, locale), height=figure["layout"]["height"])


def _numbers(by: dict[str, Cell]) -> dict[int, Figure]:
    return {int(p): c for p, c in by.items() if isinstance(c, Figure) and c.pooled.point is not None}


def _finding(name: str, report: Report, positions: list[int], shown: dict[tuple[int, int], Shown], locale: str) -> str:
    words = [f"{p}: {s.value or s.why}" for p in positions if (s := shown.get((report.run, p))) is not None]
    return f"{name}: " + (", ".join(words) if words else gettext("nothing was drafted", locale))


def _table(
    found: list[tuple[str, Report, Any]],
    positions: list[int],
    shown: dict[tuple[int, int], Shown],
    differences: dict[int, Contrast],
    locale: str,
) -> Table:
    columns = (gettext("Position", locale), *[name for name, _, _ in found])
    nothing = Shown("absent", why=gettext("no draft was this long", locale))
    rows: list[tuple[str | Shown, ...]] = [(str(p), *[shown.get((r.run, p), nothing) for _, r, _ in found]) for p in positions]
    if not differences:
        return Table(columns, tuple(rows))
    unpaired = Shown("absent", why=gettext("no pairs", locale))
    last = [show_contrast(differences[p], locale) if p in differences else unpaired for p in positions]
    return Table((*columns, gettext("Difference", locale)), tuple((*row, cell) for row, cell in zip(rows, last, strict=True)))


def _below(figure: dict[str, Any], narrow: dict[str, Any], differences: dict[int, Contrast], locale: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The figure with the paired differences on an axis of their own under the lines."""
    if not any(c.estimate.point is not None for c in differences.values()):
        return figure, narrow
    layout, height = figure["layout"], _HEIGHT + _PANEL
    axis = points_axis((c.estimate for c in differences.values()), locale)
    title = {"text": points_name(locale), "standoff": 4}
    zero = {"type": "line", "xref": "x domain", "yref": "y2", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "line": {"color": GREY, "width": 2}}
    layout["yaxis"] = layout["yaxis"] | {"domain": [(_PANEL + 16) / height, 1]}
    layout |= {"yaxis2": axis | {"domain": [0, (_PANEL - 16) / height], "anchor": "x", "title": title}, "height": height}
    layout["xaxis"] = layout["xaxis"] | {"anchor": "y2"}
    layout["shapes"] = [*layout.get("shapes", []), zero | {"layer": "below"}]
    figure["data"] = [*figure["data"], upright(differences, locale)]
    return figure, narrow


def _figure(
    drawn: list[tuple[str, Report, dict[int, Figure]]],
    reports: Sequence[Report],
    positions: list[int],
    shown: dict[tuple[int, int], Shown],
    locale: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    traces: list[Trace] = []
    ends: list[tuple[str, float, float]] = []
    offset = 0.06 if len(drawn) > 1 else 0.0
    for i, (name, report, figures) in enumerate(drawn):
        at = sorted(figures)
        estimates = [figures[p].pooled for p in at]
        points = [e.point for e in estimates if e.point is not None]
        hue, x = colour(report.spec.language), [p + offset * (2 * i - len(drawn) + 1) for p in at]
        bars = interval((p, e.low, e.high) for p, e in zip(points, estimates, strict=True)) | {"color": hue}
        hover = [safe(f"{name}, {p}: {s.value} {s.interval or s.why}, {s.n}") for p in at for s in [shown[report.run, p]]]
        # A point without an interval is hollow, as its row in the table says why.
        symbols = [symbol(report.spec.language, filled=e.low is not None) for e in estimates]
        traces.append(
            scatter(
                x=x, y=points, mode="lines+markers", marker=mark(hue, report.spec.language) | {"symbol": symbols}, error_y=bars, hovertext=hover,
                line={"color": hue, "width": 2, "dash": dash_of(report, reports)},
            )
        )  # fmt: skip
        if len(drawn) > 1:
            ends.append((name, x[-1], points[-1]))
    axis = {"tickmode": "array", "tickvals": positions, "ticktext": [str(p) for p in positions], "range": reach(positions[-1], ends, _WIDE)}
    layout = {"xaxis": axis, "yaxis": share_axis(locale), "annotations": end_labels(ends, _HEIGHT), "height": _HEIGHT}
    narrow = few(positions)
    over = {"tickvals": narrow, "ticktext": [str(p) for p in narrow], "range": reach(positions[-1], ends, _NARROW)}
    return draw(traces, layout, locale), {"xaxis": over}


def _rounds(by: dict[str, Cell]) -> int | None:
    """R of the run: what the shares are taken of is a part of it, which the definition names."""
    return next((cell.rounds for cell in by.values() if isinstance(cell, Figure)), None)
