"""Whether a run holds what a build asks of it."""

from collections.abc import Sequence

from fastapi import Request

from app.access.seen import Seen, Who, narrowed
from app.comparisons.service import Comparisons
from app.domain.sentence import Sentence
from app.domain.status import FINAL
from app.errors import InvalidInput
from app.gates import wording
from app.gates.baseline import defaults, of_baseline
from app.gates.checks import of_bounds, of_verdict
from app.gates.rule import confirmed, together
from app.gates.schemas import Check, GateIn, GateOut, Word
from app.reports.report import Report
from app.runs.service import NotFinished, Runs


class Gates(Seen):
    def __init__(self, runs: Runs, comparisons: Comparisons) -> None:
        self._runs = runs
        self._comparisons = comparisons

    async def judge(self, asked: GateIn) -> GateOut:
        """Raises NoSuchRun, NotFinished, and InvalidInput for a figure that there is not or a repeat that repeats something else."""
        report = await self._ended(asked.run)
        first = await self._checks(report, asked)
        if asked.repeat is None:
            return _told(asked, report, first)
        repeat = await self._ended(asked.repeat)
        if repeat.spec.digest() != report.spec.digest():
            said = f"Run {asked.repeat} is no repeat of run {asked.run}: their specs differ."
            raise InvalidInput(said, fields=[{"pointer": "/repeat", "detail": said}])
        return _told(asked, report, _joined(first, await self._checks(repeat, asked)))

    async def _ended(self, run: int) -> Report:
        report = await self._runs.report(run)
        if report.state not in FINAL:
            raise NotFinished(f"Run {run} is {report.state}; a gate judges it when it has ended.")
        return report

    async def _checks(self, report: Report, asked: GateIn) -> list[Check]:
        found = list(of_bounds(report, asked.bounds))
        if asked.verdict is not None:
            found.append(of_verdict(report, asked.verdict))
        if asked.baseline is not None:
            comparison = await self._comparisons.compare([report.run, asked.baseline])
            if comparison.reports[0].run != report.run:
                # The other way round every difference would have the other sign.
                raise RuntimeError(f"the comparison of runs {report.run} and {asked.baseline} is of run {comparison.reports[0].run} first")
            given = bool(asked.tolerances)
            found += of_baseline(comparison, asked.tolerances or defaults(report), given=given)
        return found


def _joined(first: Sequence[Check], repeat: Sequence[Check]) -> list[Check]:
    """The same checks of a run and of its repeat, as one word each."""
    return [_join(one, other) for one, other in zip(first, repeat, strict=True)]


def _join(one: Check, other: Check) -> Check:
    """A repeat whose headline is another figure, since its outputs differ, says nothing to the first one's."""
    word = other.word if one.figure == other.figure else Word(answer="could not be measured", sentence=wording.other_headline())
    return one.model_copy(update={"answer": confirmed(one.answer, word.answer), "repeated": word})


def _told(asked: GateIn, report: Report, checks: Sequence[Check]) -> GateOut:
    answers = [check.answer for check in checks]
    failed = any(check.word.answer == "does not hold" for check in checks)
    holds_not = "does not hold" in answers
    cells = (report.find(report.headline), report.find(report.acceptance))
    return GateOut(
        run=report.run,
        baseline=asked.baseline,
        repeat=asked.repeat,
        question=report.question,
        answer=together(answers),
        sentence=wording.overall(answers),
        checks=tuple(checks),
        confirmed=holds_not if failed and asked.repeat is not None else None,
        family=len(checks),
        notes=tuple(_notes(asked, len(checks), failed=failed, holds_not=holds_not)),
        beside=tuple(cell for cell in cells if cell is not None),
        passport=report.passport,
    )


def _notes(asked: GateIn, checks: int, *, failed: bool, holds_not: bool) -> list[Sentence]:
    said = [wording.family(checks)] if checks > 1 else []
    if failed:
        said.append(wording.unconfirmed() if asked.repeat is None else wording.confirmation(asked.repeat, holds_not))
    return said


def gates_service(request: Request, who: Who) -> Gates:
    return narrowed(request, Gates, who)
