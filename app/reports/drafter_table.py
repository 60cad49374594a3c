"""Drafters side by side: of each run its acceptance, the ceiling of its scheme and its speed-up, never one without the others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.estimate import Estimate, Figure, Refusal
from app.domain.spec import OWN_ENGINE, Choice
from app.domain.status import RunState
from app.reports.format import NO_BREAK, decimal, moment
from app.reports.loads import spoken
from app.reports.report import Report
from app.reports.sameness import judgements, why_not_compared
from app.reports.shown import Shown, find
from app.reports.translate import gettext, ngettext
from app.reports.words import judged_of

# The ceiling of a scheme: what acceptance would be worth if drafting and verification were free.
CEILING = "tokens_per_target_forward"
EXACT = "float32"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Entry:
    """`text` as it is printed, with the number of its note where it lacks something; `estimate` is what may be drawn of it."""

    text: str
    estimate: Estimate | None = None


@dataclass(frozen=True)
class Line:
    """One run. `parts` are the parameters of drafter and controller; `decided` says that its verdict is not `cannot tell`."""

    run: int
    drafter: str
    parts: str
    model: str
    language: str
    acceptance: Entry
    ceiling: Entry
    speedup: Entry
    verdict: str
    decided: bool
    exact: Entry


@dataclass
class Notes:
    """Reasons, each said once and numbered in the order in which they are met."""

    said: list[str] = field(default_factory=list)

    def numbered(self, why: str) -> str:
        if why not in self.said:
            self.said.append(why)
        return NO_BREAK + str(self.said.index(why) + 1).translate(_SUPERSCRIPTS)


@dataclass(frozen=True)
class Board:
    """Lines that were measured under the same conditions, which the caption names with the days on which they ended."""

    caption: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


Ended = tuple[datetime, Report]


def boards(runs: Iterable[Ended], locale: str) -> list[Board]:
    """One board for each set of conditions, the newest first: nothing under one caption differs in what the caption says."""
    groups: dict[tuple[str, ...], list[Ended]] = {}
    for at, report in sorted(runs, key=lambda run: run[1].run, reverse=True):
        groups.setdefault(_conditions(report, locale), []).append((at, report))
    return [_board(conditions, found, locale) for conditions, found in groups.items()]


def newest(runs: Iterable[Ended]) -> list[Ended]:
    """The last run of each drafter, model and language, whatever else it was measured with: never the best of several."""
    kept = {(run[1].spec.model, run[1].spec.drafter_title, run[1].spec.language): run for run in sorted(runs, key=lambda run: run[1].run)}
    return list(kept.values())


def _board(conditions: tuple[str, ...], runs: Sequence[Ended], locale: str) -> Board:
    days = sorted({moment(at, locale).partition(",")[0]: at for at, _ in runs}.items(), key=lambda day: day[1])
    when = " – ".join(dict.fromkeys([days[0][0], days[-1][0]]))
    notes = Notes()
    in_order = sorted((report for _, report in runs), key=lambda r: (model_of(r), r.spec.drafter_title, _parts(r), r.spec.language, r.run))
    lines = tuple(_line(report, notes, locale) for report in in_order)
    return Board(" · ".join([when, *conditions]), lines, tuple(notes.said))


def _conditions(report: Report, locale: str) -> tuple[str, ...]:
    """What must be equal for two lines to stand in one board, as it is said: machine, commit, prompts, answers, load, rule, definitions."""
    machine, spec, found = report.environment, report.spec, report.passport
    hardware = gettext("machine unknown", locale) if machine is None else f"{machine.device}, {_threads(machine.threads, locale)}"
    known = None if machine is None else machine.details.get("commit")
    commit = gettext("commit unknown", locale) if known is None else f"{gettext('commit', locale)} {known}"
    asked = gettext("prompts of %(suite)s", locale) % {"suite": spec.suite.id}
    if found is not None:
        n = sum(found.profiles.values())
        asked = ngettext("%(n)s prompt of %(suite)s, version %(version)s", "%(n)s prompts of %(suite)s, version %(version)s", n, locale)
        asked %= {"n": decimal(n, 0, locale), "suite": spec.suite.id, "version": found.suite_version}
    tokens = gettext("%(n)s new tokens at most", locale) % {"n": decimal(spec.max_new_tokens, 0, locale)}
    compiled = (gettext("compiled forwards", locale),) if spec.compile else ()
    warm = spec.sampling.temperature
    rule = (f"{spec.verifier.name}, {gettext('temperature', locale)} {warm:g}",) if warm else (spec.verifier.name,)
    load = f"{gettext('load', locale)} {spoken(spec.load, locale)}"
    definition = (found.definition,) if found is not None else ()
    return hardware, commit, asked, tokens, load, *rule, *compiled, *definition


def _threads(n: int, locale: str) -> str:
    return ngettext("%(n)s thread", "%(n)s threads", n, locale) % {"n": decimal(n, 0, locale)}


def _line(report: Report, notes: Notes, locale: str) -> Line:
    judged = report.state == RunState.SUCCEEDED
    refused = judged and (isinstance(report.find(report.headline), Refusal) or any(gate.refused for gate in report.gates))
    return Line(
        run=report.run,
        drafter=report.spec.drafter_title,
        parts=_parts(report),
        model=model_of(report),
        language=report.spec.language,
        acceptance=_entry(report, report.acceptance, notes, locale),
        ceiling=_entry(report, CEILING, notes, locale),
        speedup=_entry(report, report.headline, notes, locale),
        verdict=gettext("refused", locale) if refused else judged_of(report.state, report.verdict.outcome, locale),
        decided=judged and not refused and report.verdict.outcome != "cannot tell",
        exact=_exact(report, notes, locale),
    )


def model_of(report: Report) -> str:
    """The target and the type that its weights were measured in."""
    found = report.passport
    if found is None:
        return report.spec.model.title
    return f"{found.target} {found.quantisation or found.dtype}"


def _parts(report: Report) -> str:
    """Without a controller on a served engine, which decides itself."""
    spec = report.spec
    return parts_of(spec.drafter, spec.controller if spec.engine == OWN_ENGINE else None)


def parts_of(drafter: Choice, controller: Choice | None) -> str:
    """`exit_layer=26; constant length=2`."""
    own, lengths = _params(drafter), "" if controller is None else f"{controller.name} {_params(controller)}".strip()
    return "; ".join(part for part in (own, lengths) if part)


def _params(choice: Choice) -> str:
    return ", ".join(f"{name}={value}" for name, value in choice.said.items())


def _entry(report: Report, id: str, notes: Notes, locale: str) -> Entry:
    shown = find(report, id, locale)
    if shown.state in {"refused", "absent"}:
        word = f"⊘ {gettext('refused', locale)}" if shown.state == "refused" else gettext("no number", locale)
        return Entry(word + notes.numbered(shown.why))
    lacks = shown.why if not shown.interval or shown.state == "suspect" else ""
    text = " ".join(part for part in (shown.value, shown.interval) if part) + (notes.numbered(lacks) if lacks else "")
    return Entry(text, _drawn(report, id, shown))


def _drawn(report: Report, id: str, shown: Shown) -> Estimate | None:
    cell = report.find(id)
    return cell.pooled if isinstance(cell, Figure) and shown.value else None


def _exact(report: Report, notes: Notes, locale: str) -> Entry:
    """How many answers in float32 are plain's own, token for token, and what the others are."""
    found = next((each for each in report.losslessness if each.dtype == EXACT), None)
    if found is None:
        return Entry(gettext("no number", locale) + notes.numbered(why_not_compared(drawn=report.spec.sampling.temperature > 0, locale=locale)))
    text = gettext("%(equal)s of %(n)s", locale) % {"equal": decimal(found.equal, 0, locale), "n": decimal(found.n, 0, locale)}
    return Entry(text if found.equal == found.n else text + notes.numbered(judgements(found, locale)))


def heads(locale: str) -> tuple[str, ...]:
    """The columns' names, in the order of a line."""
    return (
        gettext("Drafter", locale),
        gettext("Language", locale),
        gettext("Acceptance, V/D", locale),
        gettext("Tokens per target forward", locale),
        gettext("Speed-up", locale),
        gettext("Verdict", locale),
        gettext("Equal to plain in float32", locale),
    )
