"""What the figures of an import say to a person, for page and command alike."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.domain.estimate import Absent, Refusal
from app.domain.sentence import plain
from app.metrics.catalogue import METRICS
from app.reports.format import number, say
from app.reports.imported import ImportedCell, ImportedFigure, ImportedReport
from app.reports.imported_beside import Beside
from app.reports.shown import Shown, part_of, show_estimate
from app.reports.translate import gettext
from app.reports.words import name_of

SOURCES = {"nominal": plain("D is nominal: k·R."), "absent": plain("D was not told.")}
# Our unit of what a tool prints, and how many of its own make one of ours.
UNITS = {
    "fraction": ("share", 1.0), "percent": ("share", 100.0), "tokens": ("tokens", 1.0), "tokens per second": ("tokens_per_second", 1.0),
    "seconds": ("seconds", 1.0), "milliseconds": ("seconds", 1000.0),
}  # fmt: skip


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
class Positions:
    """Figures by position in a draft: a row a position, a column a definition, in the order of `ids`; None where a definition has none there."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Shown | None, ...]], ...]


@dataclass(frozen=True)
class Held:
    """A tool's own figure beside ours, in words; `counts` and `formula` are what each of them counts, as far as that is known."""

    name: str
    value: str
    ours: str
    figure: str
    same: bool | None
    why: str
    counts: str = ""
    formula: str = ""


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


def positions(found: Iterable[Line], locale: str) -> Positions | None:
    """None where nothing is known by position."""
    own = [line for line in found if line.shown.part]
    ids, parts = tuple(dict.fromkeys(line.id for line in own)), dict.fromkeys(line.shown.part for line in own)
    at = {(line.id, line.shown.part): line.shown for line in own}
    rows = tuple((part, tuple(at.get((id, part)) for id in ids)) for part in parts)
    return Positions(ids, tuple(name_of(id, locale) for id in ids), rows) if own else None


def held(found: Beside, locale: str) -> Held:
    unit, scale = UNITS.get(found.unit, ("number", 1.0))
    value = number(unit, found.value / scale, locale=locale).value
    if found.unit not in UNITS:
        value = f"{value} {found.unit}"
    ours = "" if found.ours is None else number(unit, found.ours, locale=locale).value
    figure, formula = ("", "") if found.figure is None else (name_of(found.figure, locale), gettext(METRICS[found.figure].formula, locale))
    counts = "" if found.counts is None else say(found.counts, locale)
    return Held(found.name, value, ours, figure, found.same, say(found.why, locale), counts, formula)
