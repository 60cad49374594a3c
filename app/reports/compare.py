"""Records → Comparison: passports first, then pairs, then one sentence."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from app.domain.estimate import Counted, Figure
from app.domain.passport import Passport
from app.domain.sentence import plain
from app.domain.status import RunState
from app.reports.answer import answer, question
from app.reports.axes import Differences, allowed, differences
from app.reports.break_even import of_reports
from app.reports.build import measured
from app.reports.contrasts import Side, contrasts, cut_short, refused_sides, side_of, unpaired
from app.reports.family import Family
from app.reports.kept import Measured
from app.reports.loads import slug
from app.reports.pairing import loads_of, pairs_of, series_of
from app.reports.record import RunRecord
from app.reports.report import BreakEven, Comparison, Difference, Pair, Report, Series
from app.statistics.family import still_pay

FEWEST_RUNS = 2


class NoSuchLoad(ValueError):
    """No pair of the runs was measured at the load asked for; `known` are those at which there is one."""

    def __init__(self, load: str, known: Sequence[str]) -> None:
        super().__init__(load)
        self.known = tuple(known)


def compare(records: Sequence[RunRecord], load: str | None = None) -> Comparison:
    """`contrast` of runs that are measured from their facts first."""
    return contrast([measured(record) for record in records], load)


def contrast(runs: Sequence[Measured], load: str | None = None) -> Comparison:
    """Two or more runs side by side, the first named contrasted with the others, at the load asked for or else at the lightest.

    Raises ValueError for fewer than two, NoSuchLoad for a load (app.reports.loads.slug) at which there is no pair.
    """
    if len(runs) < FEWEST_RUNS:
        raise ValueError("a comparison needs two runs")
    runs = as_family(runs)
    reports = [run.report for run in runs]
    passports = [report.passport for report in reports if report.passport is not None]
    if len(passports) < len(reports):
        return _incomparable(reports)
    loads = [passport.load for passport in passports]
    series = series_of(passports)
    places = pairs_of(series, loads)
    known = loads_of(places, series, loads)
    if load is not None and load not in known:
        raise NoSuchLoad(load, known)
    chosen = next(pair for pair in places if load in (None, slug(loads[pair[0]])))
    order = [*chosen, *(place for own in series for place in own if place not in chosen)]
    seen = differences([passports[place] for place in order], over_loads=bool(known))
    lines = [Series(runs=tuple(reports[p].run for p in own), break_even_load=_crossing([reports[p] for p in own])) for own in series]

    @cache
    def side(place: int, parallel: bool) -> Side:
        return side_of(runs[place], parallel=parallel)

    pairs = {pair: _pair(pair, [passports[place] for place in pair], lines, side) for pair in places}
    shown = pairs[chosen]
    return Comparison(
        reports=tuple(reports[place] for place in order),
        question=shown.question,
        answer=shown.answer,
        comparable=shown.comparable,
        differences=seen.fields,
        agreeing=seen.agreeing,
        contrasts=shown.contrasts,
        refused=shown.refused,
        break_even_load=lines[0].break_even_load if len(lines) == 1 else None,
        pairs=tuple(pairs.values()),
        series=tuple(lines),
        loads=known,
        load=slug(loads[chosen[0]]) if known else None,
    )


def _pair(places: tuple[int, int], passports: Sequence[Passport], lines: Sequence[Series], side: Callable[[int, bool], Side]) -> Pair:
    """`side` gives the run at a place, by twins or not."""
    seen: Differences = differences(passports)
    a, b = (side(place, seen.axis == "language") for place in places)
    reports = [a.report, b.report]
    counted: Counted = "parallel pairs" if seen.axis == "language" else "prompts"
    comparable = "all" not in seen.forbidden
    cut = cut_short(reports)
    found = tuple(contrasts(a, b, counted, seen.forbidden)) if comparable and cut is None else ()
    return Pair(
        run=a.report.run,
        against=b.report.run,
        axis=seen.axis,
        load=slug(passports[0].load),
        question=question(reports, seen.axis),
        answer=answer(reports, seen, found, _crossings(lines, reports)),
        comparable=comparable,
        contrasts=found,
        refused=(*([cut] if cut else []), *refused_sides(reports), *seen.forbidden.values(), *unpaired(reports)),
        allowed=allowed(seen.forbidden),
    )


def _crossings(lines: Sequence[Series], pair: Sequence[Report]) -> tuple[BreakEven, BreakEven] | None:
    """Of the pair's two series, where both are known."""
    found = [own.break_even_load for report in pair for own in lines if report.run in own.runs]
    first, second = (found[0], found[1]) if len(lines) > 1 else (None, None)
    return None if first is None or second is None or first.low is None or second.low is None else (first, second)


def _crossing(reports: Sequence[Report]) -> BreakEven | None:
    return of_reports(reports) if len(reports) > 1 else None


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


def as_family(runs: Sequence[Measured]) -> list[Measured]:
    """Runs whose verdicts are adjusted for being weighed together (Holm over `pays`); the size of the family is in each."""
    alone = [run.weighed() for run in runs]
    weighed = [(i, found.pooled) for i, report in enumerate(alone) if (found := _speedup(report)) is not None]
    kept = still_pay([(speedup, alone[i].verdict.margin) for i, speedup in weighed])
    pays = {i: still for (i, _), still in zip(weighed, kept, strict=True)}
    size = max(len(weighed), 1)
    reports = [_sized(report, size) if pays.get(i, True) else runs[i].weighed(Family(size, False)) for i, report in enumerate(alone)]
    return [replace(run, report=report) for run, report in zip(runs, reports, strict=True)]


def _sized(report: Report, size: int) -> Report:
    """A campaign that a run belongs to stays its family, however few of it are compared."""
    return report.model_copy(update={"verdict": report.verdict.model_copy(update={"family": max(size, report.verdict.family)})})


def _speedup(report: Report) -> Figure | None:
    cell = report.find(report.headline) if report.state == RunState.SUCCEEDED else None
    return cell if isinstance(cell, Figure) and cell.pooled.low is not None else None
