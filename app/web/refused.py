"""What is refused, gathered by reason: a gate that refuses forty figures for one reason is one entry."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.estimate import Refusal
from app.reports.format import decimal, say
from app.reports.report import Report
from app.reports.shown import part_of
from app.reports.translate import gettext, ngettext
from app.reports.words import name_of


@dataclass(frozen=True)
class Refused:
    """`title` names the figures, `count` counts them."""

    title: str
    count: int
    field: str
    reason: str
    remedy: str


def refused(reports: Sequence[Report], locale: str) -> list[Refused]:
    """A gate that refuses forty figures for one reason is one entry that counts them and names the first."""
    by_reason: dict[tuple[int, str, str, str], list[str]] = {}
    for report in reports:
        for cell in report.cells:
            if isinstance(cell, Refusal):
                remedy = "" if cell.remedy is None else say(cell.remedy, locale)
                narrowed = part_of(cell, locale)
                name = name_of(cell.id, locale) + (f", {narrowed}" if narrowed else "")
                by_reason.setdefault((report.run, cell.field, say(cell.reason, locale), remedy), []).append(name)
    return [Refused(_listed(names, run, locale), len(names), *rest) for (run, *rest), names in by_reason.items()]


def _listed(names: list[str], run: int, locale: str) -> str:
    where = gettext("run %(run)s", locale) % {"run": run}
    if len(names) <= 4:
        return f"{'; '.join(names)} ({where})"
    rest = ngettext("%(n)s more figure", "%(n)s more figures", len(names) - 3, locale) % {"n": decimal(len(names) - 3, 0, locale)}
    return f"{'; '.join(names[:3])}; {rest} ({where})"
