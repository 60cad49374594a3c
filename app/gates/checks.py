"""One report against the bounds and the verdict that a build asks for."""

from collections.abc import Iterator, Mapping

from app.domain.estimate import Cell, Estimate, Figure, Unit
from app.domain.sentence import Sentence
from app.domain.status import RunState
from app.errors import InvalidInput, did_you_mean
from app.gates import wording
from app.gates.rule import judge
from app.gates.schemas import Bound, Check, Wanted, Word
from app.metrics.catalogue import METRICS
from app.reports.report import Report
from app.statistics.verdict import Cause

HEADLINE = "headline"
# With one of these the bench, not the drafter, may have made the difference: no speed of the run decides anything.
DOUBTS: frozenset[Cause] = frozenset(
    {
        "unstable", "contended", "not level", "slow plain", "no control", "few prompts", "few trial pairs", "few seeds", "no noise floor",
        "not finished", "no plain arm",
    }
)  # fmt: skip
UNMEASURED: frozenset[Cause] = frozenset({"refused", "lossy", "not finished", "no plain arm"})


def named(figure: str, at: str) -> None:
    """Raises InvalidInput, pointing at the field, where there is no such figure."""
    if figure != HEADLINE and figure not in METRICS:
        said = did_you_mean("figure", figure, [*METRICS, HEADLINE])
        raise InvalidInput(said, fields=[{"pointer": at, "detail": said}])


def of_bounds(report: Report, bounds: tuple[Bound, ...]) -> Iterator[Check]:
    """Raises InvalidInput for a figure that there is not, or a bound that no value of it can meet."""
    for place, bound in enumerate(bounds):
        named(bound.figure, f"/bounds/{place}/figure")
        figure = report.headline if bound.figure == HEADLINE else bound.figure
        _possible(figure, bound, f"/bounds/{place}")
        word, unit = _bounded(report, figure, bound)
        yield Check(
            kind="bound", figure=figure, part=bound.part, unit=unit, min=bound.min, max=bound.max, answer=word.answer, word=word
        )  # fmt: skip


def of_verdict(report: Report, wanted: Wanted) -> Check:
    """The verdict as a check; whoever asks for one gets its own sentence."""
    found = report.verdict
    if report.state != RunState.SUCCEEDED or UNMEASURED & set(found.causes):
        word = Word(answer="could not be measured", sentence=found.sentence)
    else:
        cell = report.find(report.headline)
        answer = "holds" if found.outcome == wanted else "cannot tell" if found.outcome == "cannot tell" else "does not hold"
        word = Word(answer=answer, estimate=cell.pooled if isinstance(cell, Figure) else None, sentence=found.sentence)
    return Check(kind="verdict", figure=report.headline, unit="ratio", wanted=wanted, answer=word.answer, word=word)


def unmeasured(report: Report, figure: str, part: Mapping[str, str]) -> Sentence | None:
    """Why this run has no number here; None where it has one."""
    if report.state != RunState.SUCCEEDED:
        return report.answer
    cell = _cell(report, figure, part)
    if isinstance(cell, Figure):
        return None
    if cell is not None:
        return cell.reason
    known = [", ".join(f"{name}={value}" for name, value in other.part.items()) for other in report.cells if other.id == figure and other.part]
    return wording.not_there(report.run, known) if known else wording.not_in_run(report.run)


def doubt(report: Report, figure: str) -> Sentence | None:
    """Why a speed of this run decides nothing, although it has an interval."""
    return report.verdict.sentence if METRICS[figure].speed and DOUBTS & set(report.verdict.causes) else None


def weigh(found: Estimate, unit: Unit, *, least: float | None, most: float | None) -> Word:
    """An estimate against a bound; one without an interval cannot tell, and says why it has none."""
    if found.low is None or found.high is None:
        assert found.reason is not None
        return Word(answer="cannot tell", estimate=found, sentence=found.reason)
    answer = judge(found.low, found.high, least=least, most=most)
    return Word(answer=answer, estimate=found, sentence=wording.of_bound(answer, unit, found, least=least, most=most))


def _cell(report: Report, figure: str, part: Mapping[str, str]) -> Cell | None:
    """What is absent or refused as a whole is so in each part."""
    exact = report.find(figure, **part)
    wider = (cell for cell in report.cells if cell.id == figure and not isinstance(cell, Figure) and cell.part.items() <= part.items())
    return exact if exact is not None else next(wider, None)


def _bounded(report: Report, figure: str, bound: Bound) -> tuple[Word, Unit]:
    why = unmeasured(report, figure, bound.part)
    cell = report.find(figure, **bound.part)
    if why is not None or not isinstance(cell, Figure):
        return Word(answer="could not be measured", sentence=why or wording.not_in_run(report.run)), METRICS[figure].unit
    doubtful = doubt(report, figure)
    if doubtful is not None:
        return Word(answer="cannot tell", estimate=cell.pooled, sentence=doubtful), cell.unit
    return weigh(cell.pooled, cell.unit, least=bound.min, most=bound.max), cell.unit


def _possible(figure: str, bound: Bound, at: str) -> None:
    value = bound.min if bound.min is not None else bound.max
    assert value is not None
    if METRICS[figure].unit == "share" and figure != "break_even_acceptance" and not 0 <= value <= 1:
        said = f"{figure} is a share from 0 to 1; {value:g} is none."
        raise InvalidInput(said, fields=[{"pointer": f"{at}/{'max' if bound.min is None else 'min'}", "detail": said}])
