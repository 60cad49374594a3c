"""What a cell of a report says to a person: one of six states, already in words, so that templates and plots decide nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from app.domain.estimate import Absent, Cell, Estimate, Figure, Refusal
from app.domain.sentence import Sentence
from app.reports.format import estimate, number, rests_on, say
from app.reports.report import NODES, Contrast, Report
from app.reports.translate import gettext, ngettext
from app.reports.words import both, mark

State = Literal["value", "cannot tell", "suspect", "absent", "refused", "pending"]


@dataclass(frozen=True)
class Shown:
    """`value`, `interval` and `n` are finished strings; `why` is the reason for what is missing or doubtful; `id` and `part` name the figure."""

    state: State
    id: str = ""
    part: str = ""
    value: str = ""
    interval: str = ""
    n: str = ""
    why: str = ""
    remedy: str = ""


def show(cell: Cell, report: Report | None, locale: str) -> Shown:
    """A cell as the report judges it: the headline is `cannot tell` when the verdict is, a figure of counts that do not close is suspect."""
    if isinstance(cell, Refusal):
        remedy = "" if cell.remedy is None else say(cell.remedy, locale)
        return Shown("refused", cell.id, part_of(cell, locale), why=say(cell.reason, locale), remedy=remedy)
    if isinstance(cell, Absent):
        return Shown("absent", cell.id, part_of(cell, locale), why=say(cell.reason, locale))
    shown = show_estimate(cell.unit, cell.pooled, locale, id=cell.id, part=part_of(cell, locale))
    if cell.id == NODES and shown.value:
        # In a list it stands below the acceptance of chains.
        shown = replace(shown, n=f"{shown.n} · {gettext('of tree nodes', locale)}")
    if report is None or shown.state == "absent":
        return shown
    doubt = suspicion(report)
    if doubt is not None:
        return replace(shown, state="suspect", why=say(doubt, locale))
    undecided = cell.id == report.headline and not cell.part and report.verdict.outcome == "cannot tell"
    return replace(shown, state="cannot tell") if undecided else shown


def show_estimate(unit: str, found: Estimate, locale: str, *, id: str = "", part: str = "") -> Shown:
    """A bare estimate, with the reason in the interval's place where there is none."""
    printed = estimate(unit, found, locale)
    why = "" if found.reason is None else say(found.reason, locale)
    if printed is None:
        return Shown("absent", id, part, why=why)
    return Shown("value", id, part, printed.value, printed.interval or "", rests_on(found, locale), why)


def show_contrast(contrast: Contrast, locale: str) -> Shown:
    """A difference in points or a quotient of two runs, with its own interval."""
    unit = "points" if contrast.kind == "difference" else "ratio"
    return show_estimate(unit, contrast.estimate, locale, id=contrast.id)


def suspicion(report: Report) -> Sentence | None:
    """Why this report's counts are suspect; None when they are not."""
    return next(
        (gate.sentence for gate in report.gates if gate.name in {"closure", "identity", "foreign traffic", "engine totals"} and gate.refused), None
    )


def is_refused(report: Report) -> bool:
    """Whether a gate refuses this run's figures, or its passport lacks what they need."""
    return bool(report.missing) or any(gate.refused for gate in report.gates)


def pending(why: str) -> Shown:
    return Shown("pending", why=why)


def missing(id: str, locale: str) -> Shown:
    """A figure for which the report has no cell at all: said in words, since a blank would read as zero."""
    return Shown("absent", id, why=gettext("not measured in this run", locale))


def find(report: Report, id: str, locale: str, **part: str) -> Shown:
    """The cell of a figure as the report judges it, or the words that it was not measured. What is absent or refused for a wider part
    ({"arm": "plain"}) is so for each narrower one ({"arm": "plain", "of": "words"})."""
    cell = report.find(id, **part)
    if cell is None:
        wider = (c for c in report.cells if c.id == id and not isinstance(c, Figure) and c.part.items() <= part.items())
        cell = next(wider, None)
    return missing(id, locale) if cell is None else show(cell, report, locale)


class Narrowed(Protocol):
    """A cell of any kind of report."""

    @property
    def part(self) -> dict[str, str]: ...


_PARTS = {
    "position": mark("position %(value)s"), "per": mark("per %(value)s"), "gap": mark("gap %(value)s"), "output": mark("output tokens %(value)s"),
    "context": mark("after %(value)s tokens"),
}  # fmt: skip
_COUNTED = {"sequences": both("%(value)s sequence", "%(value)s sequences"), "tokens": both("%(value)s draft", "%(value)s drafts")}


# Values of these parts are words of ours; a profile's name is somebody else's and stays as it is.
_OURS = {"text", "per", "of", "arm", "over"}


def part_of(cell: Narrowed, locale: str) -> str:
    """The narrowing in words: `position 2`, `prompts, per word`, `code`."""
    said = []
    for name, value in cell.part.items():
        shown = gettext(value, locale) if name in _OURS else value
        if name in _COUNTED:
            said.append(ngettext(*_COUNTED[name], int(value), locale) % {"value": value})
        else:
            said.append(gettext(_PARTS[name], locale) % {"value": shown} if name in _PARTS else shown)
    return ", ".join(said)


def missing_series(shown: Iterable[tuple[str, Shown]]) -> str:
    """The rows that a plot cannot draw, each with its reason, for its caption: what is refused keeps a place."""
    return "".join(f" {name}: {'⊘ ' if one.state == 'refused' else ''}{one.why}" for name, one in shown if not one.value and one.why)


def plain_number(kind: str, value: float, locale: str) -> str:
    """A single number without an interval, for the rows of one prompt or trial."""
    return number(kind, value, locale=locale).value
