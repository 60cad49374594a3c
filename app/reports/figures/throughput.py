"""C10: how fast is it in each language? Characters per second first, since only characters compare across languages."""

from collections.abc import Sequence

from app.domain.estimate import Figure
from app.reports.figures._engines import apart
from app.reports.figures._panels import Panel, Row, figure, height
from app.reports.figures.base import GREY, PLAIN, Plot, Table, colour, series_name, symbol
from app.reports.report import Report
from app.reports.shown import Shown, find, missing_series, show
from app.reports.translate import gettext
from app.reports.words import arm_of, mark

ID = "throughput"
ARMS = ("plain", "speculative", "control")
_OF = (
    ("characters", "characters_per_second", mark("characters per second")),
    ("words", "words_per_second", mark("words per second")),
    ("tokens", "tokens_per_second", mark("tokens per second, not comparable across languages")),
)


def build(reports: Sequence[Report], locale: str) -> Plot:
    """Both arms of each run; a line is plain decoding."""
    table = _table(reports, locale)
    panels = [panel for of, unit, title in _OF if (panel := _panel(reports, of, unit, title, locale)).rows]
    question = gettext("How fast is it?", locale)
    caption = gettext(
        "— plain, ○ or □ speculative. No mark is filled: an absolute speed has no interval; the speed-up is measured in pairs and has one.", locale
    )
    if len(reports) > 1:
        caption += apart(reports, locale)
        caption += missing_series((series_name(r, reports, locale), find(r, r.headline, locale)) for r in reports)
    finding = "; ".join(f"{row[0]}: " + ", ".join(c.value or c.why for c in row[1:] if isinstance(c, Shown)) for row in table.rows)
    if not panels:
        reasons = dict.fromkeys(find(r, ID, locale, arm="speculative", of="characters").why for r in reports)
        return Plot("throughput", question, caption, finding, table, empty=" ".join(reasons))
    return Plot("throughput", question, caption, finding, table, *figure(panels, locale), height=height(panels))


def _name(report: Report, reports: Sequence[Report], arm: str, locale: str) -> str:
    said = arm_of(arm, locale)
    return said if len(reports) == 1 else f"{series_name(report, reports, locale)} · {said}"


def _panel(reports: Sequence[Report], of: str, unit: str, title: str, locale: str) -> Panel:
    rows = []
    for r in reports:
        for arm in ARMS:
            cell = r.find(ID, arm=arm, of=of)
            if isinstance(cell, Figure) and cell.pooled.point is not None:
                hue, shape = (colour(r.spec.language), symbol(r.spec.language)) if arm == "speculative" else (GREY, PLAIN)
                rows.append(Row(_name(r, reports, arm, locale), cell.pooled, show(cell, r, locale), hue, shape))
    return Panel(gettext(title, locale).replace(", ", ",<br>"), unit, rows)


def _table(reports: Sequence[Report], locale: str) -> Table:
    columns = (gettext("Arm", locale), *[gettext(title, locale) for _, _, title in _OF])
    arms = [(r, arm) for r in reports for arm in ARMS if any(c.id == ID and c.part.get("arm") == arm for c in r.cells)]
    rows: list[tuple[str | Shown, ...]] = [
        (_name(r, reports, arm, locale), *[find(r, ID, locale, arm=arm, of=of) for of, _, _ in _OF]) for r, arm in arms
    ]
    return Table(columns, tuple(rows))
