"""Why a run pays or does not: what a round costs, the acceptance that this asks for, and what both foretell, beside what was measured."""

from app.domain.estimate import Figure
from app.reports.figures.base import Table
from app.reports.report import Report
from app.reports.shown import Shown, find, show
from app.reports.translate import gettext
from app.reports.words import mark, name_of


def why(report: Report, locale: str) -> Table:
    """Costs of the shape that occurred most often; without rows where no stage was profiled, which the figures themselves say."""
    columns = tuple(gettext(text, locale) for text in (mark("What a round costs and gives"), mark("From costs"), mark("Measured")))
    costs = [cell for id in ("draft_cost", "verify_cost") if (cell := _most_often(report, id)) is not None]
    if not costs:
        return Table(columns, ())
    rows: list[tuple[str | Shown, ...]] = []
    for cell in costs:
        shown = show(cell, report, locale)
        rows.append((f"{name_of(cell.id, locale)}, {shown.part}", "", shown))
    pairs = (
        (mark("Acceptance: needed, and had"), "break_even_acceptance", report.acceptance),
        (mark("Speed-up"), "predicted_speedup", report.headline),
    )
    for title, foretold, measured in pairs:
        rows.append((gettext(title, locale), find(report, foretold, locale), find(report, measured, locale)))
    return Table(columns, tuple(rows))


def _most_often(report: Report, id: str) -> Figure | None:
    found = [cell for cell in report.cells if cell.id == id and isinstance(cell, Figure)]
    return max(found, key=lambda cell: cell.pooled.n, default=None)
