"""The question and the one sentence of a comparison."""

from collections.abc import Sequence

from app.domain.estimate import Figure
from app.domain.sentence import Sentence, plain
from app.metrics.sums import OF_TRIAL
from app.reports.against import both, by_load, half, names, unsettled
from app.reports.axes import Axis, Differences
from app.reports.contrasts import cut_short
from app.reports.report import BreakEven, Contrast, Report

# Gates over what an engine tells of itself, which are not failed by requests.
OF_THE_ENGINE = ("forced acceptance", "foreign traffic", "engine totals")


def question(reports: Sequence[Report], axis: Axis) -> Sentence:
    """What the first two runs are asked together."""
    first, second = reports[0].spec, reports[1].spec
    if axis == "language":
        return plain(
            "Does %(drafter)s pay as well in %(language)s as in %(other_language)s?",
            drafter=first.drafter_title,
            language=first.language,
            other_language=second.language,
        )
    if axis == "engine":
        return plain(
            "Does %(drafter)s on %(engine)s pay as well as %(other)s on %(other_engine)s in %(language)s?",
            drafter=first.drafter.name,
            engine=first.engine,
            other=second.drafter.name,
            other_engine=second.engine,
            language=first.language,
        )
    if axis == "drafter" and first.drafter_title != second.drafter_title:
        return plain(
            "Does %(drafter)s pay as well as %(other)s in %(language)s?",
            drafter=first.drafter_title,
            other=second.drafter_title,
            language=first.language,
        )
    return plain("How does run %(run)s compare with run %(other)s?", run=reports[0].run, other=reports[1].run)


def answer(
    reports: Sequence[Report], seen: Differences, contrasts: Sequence[Contrast], crossings: tuple[BreakEven, BreakEven] | None = None
) -> Sentence:
    """Why nothing can be said, or what acceptance and speed say of the first run against the second. `crossings` are the break-even loads of the
    series that the two belong to, where both are known: they answer where single speed-ups are not contrasted."""
    if "all" in seen.forbidden:
        return seen.forbidden["all"]
    cut = cut_short(reports[:2])
    if cut is not None:
        return cut
    refused = next((report for report in reports[:2] if any(gate.refused for gate in report.gates)), None)
    if refused is not None:
        return _one_sided(reports, refused)
    accepted = _find(contrasts, reports[0].acceptance)
    speed = _find(contrasts, reports[0].headline) if reports[0].headline == reports[1].headline else _find(contrasts, "speedup_decode")
    if accepted is None and speed is None:
        return next(iter(seen.forbidden.values()), _nothing(reports))
    named = names(reports, seen.axis)
    unfit = None if speed is None else unsettled(reports[:2], accepted)
    if unfit is not None:
        return unfit
    if accepted is not None and speed is None and crossings is not None:
        return by_load(named, accepted, *crossings, kind="count" if reports[0].spec.load.rate is None else "asked_rate")
    if accepted is None or speed is None:
        return half(named, accepted, speed)
    return both(reports, seen.axis, accepted, speed)


def _nothing(reports: Sequence[Report]) -> Sentence:
    cells = [report.find(report.acceptance) for report in reports[:2]]
    if any(isinstance(cell, Figure) and cell.pooled.reason == OF_TRIAL for cell in cells):
        return plain("Nothing can be contrasted: an engine told its counts of whole trials, so there are no prompts to pair.")
    return plain("Nothing can be contrasted: the runs share no prompt that both measured.")


def _find(contrasts: Sequence[Contrast], id: str) -> Contrast | None:
    return next((each for each in contrasts if each.id == id and not each.part and each.estimate.point is not None), None)


def _one_sided(reports: Sequence[Report], refused: Report) -> Sentence:
    other = next((report for report in reports[:2] if report is not refused), reports[1])
    gate = next(gate for gate in refused.gates if gate.refused)
    if any(each.refused for each in other.gates):
        return plain("Cannot tell: the figures of both runs are refused.")
    if gate.name == "degenerate":
        return plain(
            "Cannot tell: in %(language)s %(failing)s of %(n)s answers repeat themselves, so that run is refused and nothing is contrasted with it.",
            language=refused.spec.language,
            failing=gate.failing,
            n=gate.n,
        )
    if gate.name in OF_THE_ENGINE:
        return plain(
            "Cannot tell: the %(language)s run is refused by the check “%(gate)s”, so nothing is contrasted with it.",
            language=refused.spec.language,
            gate=gate.name,
        )
    return plain(
        "Cannot tell: the %(language)s run is refused (%(failing)s of %(n)s requests fail the check “%(gate)s”), so nothing is contrasted with it.",
        language=refused.spec.language,
        failing=gate.failing,
        n=gate.n,
        gate=gate.name,
    )
