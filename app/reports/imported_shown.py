"""What the figures of an import say to a person, for page and command alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.estimate import Absent, Refusal
from app.domain.sentence import plain
from app.reports.format import number, say
from app.reports.imported import ImportedCell, ImportedFigure, ImportedReport
from app.reports.imported_beside import Beside
from app.reports.shown import Shown, part_of, show_estimate
from app.reports.translate import gettext
from app.reports.words import mark, name_of

SOURCES = {"nominal": plain("D is nominal: k·R."), "absent": plain("D was not told.")}
UNITS = {"fraction": "share", "percent": "share", "tokens": "tokens"}
OTHER_UNITS = (mark("tokens per second"), mark("milliseconds"), mark("seconds"), mark("tokens"))


@dataclass(frozen=True)
class Line:
    """One figure: its name with its position, what is shown, and how its D came about where that is no count."""

    id: str
    name: str
    shown: Shown
    source: str

    @property
    def text(self) -> str:
        parts = (self.shown.value, self.shown.interval, self.shown.n, self.shown.why, self.source)
        return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class Held:
    """A tool's own figure beside ours, in words."""

    name: str
    value: str
    ours: str
    figure: str
    same: bool | None
    why: str


def show(cell: ImportedCell, locale: str) -> Shown:
    part = part_of(cell, locale)
    if isinstance(cell, Refusal):
        return Shown("refused", cell.id, part, why=say(cell.reason, locale), remedy="" if cell.remedy is None else say(cell.remedy, locale))
    if isinstance(cell, Absent):
        return Shown("absent", cell.id, part, why=say(cell.reason, locale))
    return show_estimate(cell.unit, cell.pooled, locale, id=cell.id, part=part)


def lines(report: ImportedReport, locale: str) -> Iterator[Line]:
    for cell in report.cells:
        shown = show(cell, locale)
        name = name_of(cell.id, locale) + (f", {shown.part}" if shown.part else "")
        source = SOURCES.get(cell.drafted_source or "") if isinstance(cell, ImportedFigure) else None
        yield Line(cell.id, name, shown, "" if source is None else say(source, locale))


def held(found: Beside, locale: str) -> Held:
    scale = 100.0 if found.unit == "percent" else 1.0
    unit = UNITS.get(found.unit)
    value = number(unit or "number", found.value / scale, locale=locale).value
    if unit is None:
        value = f"{value} {gettext(found.unit, locale)}"
    ours = "" if found.ours is None else number(unit or "number", found.ours, locale=locale).value
    return Held(found.name, value, ours, "" if found.figure is None else name_of(found.figure, locale), found.same, say(found.why, locale))
