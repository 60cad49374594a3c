"""What `wait`, `compare` and `gate` have to say, in words of a language; text, Markdown and JUnit are renderings of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.estimate import Cell, Estimate, Unit
from app.domain.passport import Passport
from app.gates.rule import Answer
from app.gates.schemas import Check, GateOut
from app.reports.format import asked, number, rests_on, say
from app.reports.loads import spoken
from app.reports.report import Comparison, Contrast, Pair, Report
from app.reports.shown import is_refused, part_of, show
from app.reports.translate import gettext
from app.reports.words import mark, name_of, outcome_of, state_of

WORDS: dict[Answer, str] = {
    "holds": mark("Holds"), "does not hold": mark("Does not hold"), "could not be measured": mark("Could not be measured"),
    "cannot tell": mark("Cannot tell"),
}  # fmt: skip
COMPARED = mark("Compared")
# What stands beside the verdict of a run: speed and acceptance, never one without the other, and the ceiling of the scheme.
CEILING = "tokens_per_target_forward"


@dataclass(frozen=True)
class Row:
    """One line of the table. `answer` is None where nothing was asked of the figure; `why` says what is missing or what follows."""

    figure: str
    value: str = ""
    interval: str = ""
    n: str = ""
    bound: str = ""
    answer: Answer | None = None
    why: str = ""


@dataclass(frozen=True)
class Told:
    """`name` is for programs (`run 12`), `word` the answer in one word, `sentence` in one sentence, `path` the page that shows all of it."""

    name: str
    question: str
    answer: Answer
    word: str
    sentence: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    passport: str
    path: str


def of_run(report: Report, locale: str) -> Told:
    """A run that has ended; refused or failed, it could not be measured."""
    measured = report.state == "succeeded" and not is_refused(report)
    outcome = report.verdict.outcome if measured else "refused"
    word = outcome_of(outcome, locale) if report.state == "succeeded" else state_of(report.state, locale)
    cells = [cell for id in (report.headline, report.acceptance, CEILING) if (cell := report.find(id)) is not None]
    return Told(
        name=f"run {report.run}",
        question=say(report.question, locale),
        answer="holds" if measured else "could not be measured",
        word=word,
        sentence=say(report.answer, locale),
        rows=tuple(_cell(cell, report, locale) for cell in cells),
        notes=tuple(say(note, locale) for note in report.notes),
        passport=passport_line(report.passport, locale),
        path=f"/runs/{report.run}",
    )


def of_comparison(found: Comparison, locale: str) -> list[Told]:
    """Every other run against the first, that of the answer first, and every run that is in no pair: each is something that was asked."""
    if not found.pairs:
        return [_incomparable(found, locale)]
    asked_first = (found.reports[0].run, found.reports[1].run)
    pairs = sorted(found.pairs, key=lambda pair: (pair.run, pair.against) != asked_first)
    paired = {run for pair in pairs for run in (pair.run, pair.against)}
    return [*(_pair(pair, found, locale) for pair in pairs), *(_alone(r, found, locale) for r in found.reports if r.run not in paired)]


def _pair(pair: Pair, found: Comparison, locale: str) -> Told:
    """Contrasts of whole runs."""
    places = [next(i for i, report in enumerate(found.reports) if report.run == run) for run in (pair.run, pair.against)]
    sides = [found.reports[place] for place in places]
    whole = [each for each in pair.contrasts if not each.part]
    compared = bool(whole) and not any(map(is_refused, sides))
    fields = [(each.field, [each.values[place] for place in places]) for each in found.differences]
    named = ", ".join(f"{field} ({', '.join(values)})" for field, values in fields if len(set(values)) > 1)
    differ = gettext("differ in %(fields)s", locale) % {"fields": named} if named else ""
    return Told(
        name=f"runs {pair.run},{pair.against}",
        question=say(pair.question, locale),
        answer="holds" if compared else "could not be measured",
        word=gettext(COMPARED if compared else WORDS["could not be measured"], locale),
        sentence=say(pair.answer, locale),
        rows=tuple(_contrast(each, pair, locale) for each in whole),
        notes=tuple(say(said, locale) for said in pair.refused),
        passport="; ".join(part for part in (passport_line(sides[0].passport, locale), differ) if part),
        path=_path(found),
    )


def _incomparable(found: Comparison, locale: str) -> Told:
    """Runs of which nothing is contrasted at all."""
    return Told(
        name=f"runs {_runs(found)}",
        question=say(found.question, locale),
        answer="could not be measured",
        word=gettext(WORDS["could not be measured"], locale),
        sentence=say(found.answer, locale),
        rows=(),
        notes=tuple(say(said, locale) for said in found.refused),
        passport=passport_line(found.reports[0].passport, locale),
        path=_path(found),
    )


def _alone(report: Report, found: Comparison, locale: str) -> Told:
    own = next((series.runs for series in found.series if report.run in series.runs), ())
    twin = next((other.run for other in found.reports if other.run in own and other.run != report.run and other.spec.load == report.spec.load), None)
    said = gettext("Run %(run)s is contrasted with none: none of the others that it could be held against was measured at its load.", locale)
    if twin is not None:
        said = gettext("Run %(run)s is contrasted with none: run %(other)s, which measured the same, stands for both.", locale)
    return Told(
        name=f"run {report.run}",
        question=say(report.question, locale),
        answer="could not be measured",
        word=gettext(WORDS["could not be measured"], locale),
        sentence=said % {"run": report.run, "other": twin},
        rows=(),
        notes=(),
        passport=passport_line(report.passport, locale),
        path=_path(found),
    )


def _runs(found: Comparison) -> str:
    return ",".join(str(report.run) for report in found.reports)


def _path(found: Comparison) -> str:
    return f"/compare?runs={_runs(found)}"


def of_gate(found: GateOut, locale: str) -> Told:
    asked_of = {(check.figure, tuple(check.part.items())) for check in found.checks if check.kind == "bound"}
    rows = [*_checks(found, locale), *(_cell(cell, None, locale) for cell in found.beside if (cell.id, ()) not in asked_of)]
    against = f",{found.baseline}" if found.baseline is not None else ""
    return Told(
        name=f"gate of run {found.run}",
        question=say(found.question, locale),
        answer=found.answer,
        word=gettext(WORDS[found.answer], locale),
        sentence=say(found.sentence, locale),
        rows=tuple(rows),
        notes=tuple(say(note, locale) for note in found.notes),
        passport=passport_line(found.passport, locale),
        path=f"/compare?runs={found.run}{against}" if against else f"/runs/{found.run}",
    )


def passport_line(found: Passport | None, locale: str) -> str:
    """What the numbers were measured on, on one line; without it there are none."""
    if found is None:
        return gettext("no passport", locale)
    terms = (
        (mark("target"), f"{found.target} {found.quantisation or found.dtype}"), (mark("drafter"), found.drafter.name),
        (mark("language"), found.language), (mark("tokenizer"), found.tokenizer.short), (mark("prompts"), f"{found.suite} {found.suite_version}"),
        (mark("load"), spoken(found.load, locale)), (mark("engine"), f"{found.engine} {found.engine_version}"), (mark("hardware"), found.hardware),
        (mark("definition"), found.definition),
    )  # fmt: skip
    return " · ".join(f"{gettext(term, locale)} {value}" for term, value in terms)


def _cell(cell: Cell, report: Report | None, locale: str) -> Row:
    shown = show(cell, report, locale)
    return Row(_name(cell, locale), shown.value, shown.interval, shown.n, why=shown.why if shown.state in {"absent", "refused", "suspect"} else "")


def _name(cell: Cell, locale: str) -> str:
    return ", ".join(part for part in (name_of(cell.id, locale), part_of(cell, locale)) if part)


def _contrast(found: Contrast, pair: Pair, locale: str) -> Row:
    unit: Unit = "points" if found.kind == "difference" else "ratio"
    values = {"figure": name_of(found.id, locale), "run": pair.run, "other": pair.against}
    return _row(gettext("%(figure)s, run %(run)s against run %(other)s", locale) % values, unit, found.estimate, None, locale)


def _checks(found: GateOut, locale: str) -> Iterator[Row]:
    for check in found.checks:
        yield _check(found, check, locale)


def _check(found: GateOut, check: Check, locale: str) -> Row:
    name, bound = name_of(check.figure, locale), check.min if check.min is not None else check.max
    if check.part:
        name += ", " + ", ".join(f"{part}={value}" for part, value in check.part.items())
    if check.kind == "baseline":
        name = gettext("%(figure)s, run %(run)s against run %(other)s", locale) % {"figure": name, "run": found.run, "other": found.baseline}
    why = say(check.word.sentence, locale)
    if check.repeated is not None and check.word.answer == "does not hold":
        why += " " + gettext("The repeat: %(said)s", locale) % {"said": say(check.repeated.sentence, locale)}
    estimate = check.word.estimate
    if bound is None or check.unit is None:
        wanted = outcome_of(check.wanted, locale) if check.wanted is not None else ""
        return _row(name, "ratio", estimate, None, locale, bound=wanted, answer=check.answer, why=why)
    limit = f"{'≥' if check.min is not None else '≤'} {asked(check.unit, bound, locale)}"
    return _row(name, check.unit, estimate, bound, locale, bound=limit, answer=check.answer, why=why)


def _row(
    name: str, unit: Unit, found: Estimate | None, beside: float | None, locale: str, *, bound: str = "", answer: Answer | None = None, why: str = ""
) -> Row:
    if found is None or found.point is None:
        said = why or (say(found.reason, locale) if found is not None and found.reason is not None else "")
        return Row(name, bound=bound, answer=answer, why=said)
    printed = number(unit, found.point, found.low, found.high, locale, beside=beside)
    reason = why or ("" if found.reason is None else say(found.reason, locale))
    return Row(name, printed.value, printed.interval or "", rests_on(found, locale), bound, answer, reason)
