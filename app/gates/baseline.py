"""One run against another of the same measurement, by what its pairs of prompts say."""

from collections.abc import Iterator, Sequence

from app.domain.estimate import Unit
from app.domain.sentence import Sentence
from app.errors import InvalidInput
from app.gates import wording
from app.gates.checks import HEADLINE, doubt, named, unmeasured, weigh
from app.gates.rule import no_pair_differs
from app.gates.schemas import Check, Tolerance, Word
from app.metrics.base import Metric
from app.metrics.catalogue import METRICS
from app.reports.axes import FORBIDS
from app.reports.contrasts import scope_of
from app.reports.report import Comparison, Contrast, Report

# A baseline asks what a change did. Across languages or loads nothing was changed: that is a comparison, without a better side.
SAME = ("language", "engine", "load", "suite", "suite_version", "suite_digest")


def defaults(report: Report) -> tuple[Tolerance, ...]:
    """Headline and acceptance, since neither says the other, and either may be worse by the margin of the run."""
    return tuple(Tolerance(figure=figure, within=report.spec.margin) for figure in (HEADLINE, report.acceptance))


def of_baseline(comparison: Comparison, tolerances: Sequence[Tolerance], *, given: bool) -> Iterator[Check]:
    """One check a tolerance. Raises InvalidInput for a figure without a better side or that no pair of runs can be contrasted in."""
    barred = _barred(comparison)
    for place, tolerance in enumerate(tolerances):
        at = f"/tolerances/{place}/figure" if given else "/baseline"
        named(tolerance.figure, at)
        metric = METRICS[_headline(comparison.reports) if tolerance.figure == HEADLINE else tolerance.figure]
        if metric.better is None or (metric.scale is None and tolerance.figure != HEADLINE):
            said = f"{metric.id} is not contrasted with a baseline: it has no paired difference with a better side. Set a bound with min or max."
            raise InvalidInput(said, fields=[{"pointer": at, "detail": said}])
        yield _check(comparison, metric, tolerance, barred)


def _headline(reports: Sequence[Report]) -> str:
    """Where the outputs of one run part and those of the other do not, both still have time per token."""
    return reports[0].headline if reports[0].headline == reports[1].headline else "speedup_decode"


def _barred(comparison: Comparison) -> Sentence | None:
    """Why nothing of this pair is contrasted: every field that would have to agree, by name."""
    fields = [each.field for each in comparison.differences if each.field in SAME or (each.forbids is not None and FORBIDS.get(each.field) == "all")]
    if fields:
        return wording.incomparable(comparison.reports[1].run, fields)
    return None if comparison.comparable else comparison.answer


def _check(comparison: Comparison, metric: Metric, tolerance: Tolerance, barred: Sentence | None) -> Check:
    even, unit = (0.0, "points") if metric.scale == "share" else (1.0, "ratio")
    least = even - tolerance.within if metric.better == "higher" else None
    most = even + tolerance.within if metric.better == "lower" else None
    word = _word(comparison, metric, tolerance, barred, (even, _unit(unit), least, most))
    return Check(
        kind="baseline", figure=metric.id, part=tolerance.part, unit=_unit(unit), min=least, max=most, answer=word.answer, word=word
    )  # fmt: skip


def _unit(name: str) -> Unit:
    return "points" if name == "points" else "ratio"


def _word(
    comparison: Comparison, metric: Metric, tolerance: Tolerance, barred: Sentence | None, bound: tuple[float, Unit, float | None, float | None]
) -> Word:
    even, unit, least, most = bound
    reasons = (unmeasured(report, metric.id, tolerance.part) for report in comparison.reports[:2])
    why = barred or next((reason for reason in reasons if reason is not None), None)
    found = next((each for each in comparison.contrasts if each.id == metric.id and each.part == tolerance.part), None)
    if why is not None or found is None or found.estimate.point is None:
        return Word(answer="could not be measured", sentence=why or _why_not(comparison, metric, found))
    doubts = (doubt(report, metric.id) for report in comparison.reports[:2])
    doubtful = next((each for each in doubts if each is not None), None)
    if doubtful is not None:
        return Word(answer="cannot tell", estimate=found.estimate, sentence=doubtful)
    if no_pair_differs(found.estimate, even):
        return Word(answer="holds", estimate=found.estimate, sentence=wording.same_everywhere(found.estimate.n))
    return weigh(found.estimate, unit, least=least, most=most)


def _why_not(comparison: Comparison, metric: Metric, found: Contrast | None) -> Sentence:
    """Why two runs that both have the figure are not contrasted in it."""
    if found is not None and found.estimate.reason is not None:
        return found.estimate.reason
    forbidden = (each.forbids for each in comparison.differences if each.forbids is not None and FORBIDS.get(each.field) == scope_of(metric))
    said = next(forbidden, None)
    if said is not None:
        return said
    return comparison.refused[0] if comparison.refused else wording.no_pairs(comparison.reports[1].run)
