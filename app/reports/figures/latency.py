"""How long does a request take? Quantiles of each arm side by side: a distribution, never a ratio of single requests."""

from collections.abc import Sequence

from app.domain.estimate import Figure
from app.reports.figures._panels import Panel, Row, figure, height
from app.reports.figures.base import GREY, PLAIN, Plot, Table, colour, series_name, symbol
from app.reports.report import Report
from app.reports.shown import Shown, find, missing_series, show
from app.reports.translate import gettext
from app.reports.words import arm_of, mark

ID = "latency"
ARMS = ("plain", "speculative")
QUANTILES = ("p50", "p95", "p99")
_OF = (
    ("request_latency", mark("whole request")),
    ("ttft", mark("time to first token")),
    ("queueing", mark("waiting for a slot")),
    ("time_per_output_token", mark("time per output token")),
)


def build(reports: Sequence[Report], locale: str) -> Plot:
    """A row an arm and quantile; ▬ is plain decoding."""
    table = _table(reports, locale)
    panels = [panel for id, title in _OF if (panel := _panel(reports, id, gettext(title, locale), locale)).rows]
    question = gettext("How long does a request take?", locale)
    caption = gettext("▬ plain, ● or ■ speculative. A quantile describes the requests that were measured, so it has no interval.", locale)
    if len(reports) > 1:
        caption += missing_series((series_name(r, reports, locale), find(r, r.headline, locale)) for r in reports)
    finding = "; ".join(f"{row[0]}: " + ", ".join(c.value or c.why for c in row[1:] if isinstance(c, Shown)) for row in table.rows)
    if not panels:
        reasons = dict.fromkeys(find(r, "request_latency", locale, arm="plain", quantile="p50").why for r in reports)
        return Plot(ID, question, caption, finding, table, empty=" ".join(reasons))
    return Plot(ID, question, caption, finding, table, *figure(panels, locale), height=height(panels))


def _name(report: Report, reports: Sequence[Report], arm: str, quantile: str, locale: str) -> str:
    said = f"{arm_of(arm, locale)} {quantile}"
    return said if len(reports) == 1 else f"{series_name(report, reports, locale)} · {said}"


def _panel(reports: Sequence[Report], id: str, title: str, locale: str) -> Panel:
    rows = []
    for r in reports:
        for quantile in QUANTILES:
            for arm in ARMS:
                cell = r.find(id, arm=arm, quantile=quantile)
                if isinstance(cell, Figure) and cell.pooled.point is not None:
                    hue, shape = (colour(r.spec.language), symbol(r.spec.language)) if arm == "speculative" else (GREY, PLAIN)
                    rows.append(Row(_name(r, reports, arm, quantile, locale), cell.pooled, show(cell, r, locale), hue, shape))
    return Panel(title, "seconds", rows)


def _table(reports: Sequence[Report], locale: str) -> Table:
    there = [(id, title) for id, title in _OF if any(c.id == id for r in reports for c in r.cells)]
    columns = (gettext("Arm", locale), *[gettext(title, locale) for _, title in there])
    found = [(r, arm, q) for r in reports for q in QUANTILES for arm in ARMS if r.find("request_latency", arm=arm, quantile=q) is not None]
    rows: list[tuple[str | Shown, ...]] = [
        (_name(r, reports, arm, q, locale), *[find(r, id, locale, arm=arm, quantile=q) for id, _ in there]) for r, arm, q in found
    ]
    return Table(columns, tuple(rows))
