"""Records → Comparison: passports first, then pairs, then one sentence."""

from collections.abc import Sequence

from app.domain.estimate import Counted, Figure
from app.domain.sentence import plain
from app.reports.answer import answer, question
from app.reports.axes import NAMED_ONLY, differences
from app.reports.break_even import of_reports
from app.reports.build import build
from app.reports.contrasts import Side, contrasts, pair_names, refused_sides, unpaired
from app.reports.family import Family
from app.reports.record import RunRecord, frames_of
from app.reports.report import Comparison, Contrast, Difference, Report
from app.statistics.family import still_pay

FEWEST_RUNS = 2


def compare(records: Sequence[RunRecord]) -> Comparison:
    """Two or more runs side by side, the first contrasted with the second. Raises ValueError for fewer."""
    if len(records) < FEWEST_RUNS:
        raise ValueError("a comparison needs two runs")
    reports = as_family(records)
    passports = [report.passport for report in reports]
    if any(passport is None for passport in passports):
        return _incomparable(reports)
    seen = differences([passport for passport in passports if passport is not None])
    comparable = "all" not in seen.forbidden
    parallel = seen.axis == "language"
    counted: Counted = "parallel pairs" if parallel else "prompts"
    found: list[Contrast] = []
    if comparable:
        a, b = (_side(record, report, parallel=parallel) for record, report in zip(records[:2], reports[:2], strict=True))
        found = list(contrasts(a, b, counted, seen.forbidden))
    return Comparison(
        reports=tuple(reports),
        question=question(reports, seen.axis),
        answer=answer(reports, seen, found),
        comparable=comparable,
        differences=seen.fields,
        agreeing=seen.agreeing,
        contrasts=tuple(found),
        refused=(*refused_sides(reports), *seen.forbidden.values(), *unpaired(reports)),
        break_even_load=of_reports(reports)
        if seen.axis == "load" and all(each.expected or each.field in NAMED_ONLY for each in seen.fields)
        else None,
    )


def _side(record: RunRecord, report: Report, *, parallel: bool) -> Side:
    return Side(frames_of(record), report, pair_names(record, parallel=parallel))


def _incomparable(reports: Sequence[Report]) -> Comparison:
    """Runs of which one has no passport: there is nothing to check, so nothing is contrasted."""
    nameless = next(report for report in reports if report.passport is None)
    field = nameless.missing[0] if nameless.missing else "passport"
    said = plain("These runs cannot be compared: run %(run)s has no %(field)s.", run=nameless.run, field=field)
    values = tuple("missing" if report.passport is None else "present" for report in reports)
    lacking = () if len(set(values)) == 1 else (Difference(field=field, values=values, forbids=said),)
    return Comparison(
        reports=tuple(reports),
        question=question(reports, "nothing"),
        answer=said,
        comparable=False,
        differences=lacking,
        agreeing=(),
        contrasts=(),
        refused=tuple(refused_sides(reports)) or (said,),
    )


def as_family(records: Sequence[RunRecord]) -> list[Report]:
    """Reports whose verdicts are adjusted for being weighed together (Holm over `pays`); the size of the family is in each."""
    alone = [build(record) for record in records]
    weighed = [(i, found.pooled) for i, report in enumerate(alone) if (found := _speedup(report)) is not None]
    kept = still_pay([(speedup, alone[i].verdict.margin) for i, speedup in weighed])
    pays = {i: still for (i, _), still in zip(weighed, kept, strict=True)}
    size = max(len(weighed), 1)
    return [_sized(report, size) if pays.get(i, True) else build(records[i], Family(size, False)) for i, report in enumerate(alone)]


def _sized(report: Report, size: int) -> Report:
    """A campaign that a run belongs to stays its family, however few of it are compared."""
    return report.model_copy(update={"verdict": report.verdict.model_copy(update={"family": max(size, report.verdict.family)})})


def _speedup(report: Report) -> Figure | None:
    cell = report.find(report.headline)
    return cell if isinstance(cell, Figure) and cell.pooled.low is not None else None
