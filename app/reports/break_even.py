"""The load at which a speed-up crosses 1 (`break_even_load`), read off runs that differ in load alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.estimate import Estimate, Figure
from app.domain.sentence import Kind, Quantity, Sentence, plain
from app.domain.spec import Load
from app.reports.report import BreakEven, Report


@dataclass(frozen=True)
class At:
    """A load (requests at once, or arrivals a second) and the headline speed-up under it; None where it has none."""

    load: float
    speedup: Estimate | None


def break_even(measured: Sequence[At], kind: Kind) -> BreakEven:
    """An interval of loads and not a fitted curve: nothing is assumed of the speed-up between two loads but that it falls as load rises.

    A load that is faster beyond doubt above one that is slower contradicts that, and then nothing is read off.
    """
    known = sorted((at for at in measured if at.speedup is not None and at.speedup.low is not None), key=lambda at: at.load)
    if len(known) < 2:
        return _none(plain("The break-even load is not known: it takes the speed-up, with its interval, at two loads."))
    faster = [at.load for at in known if _low(at) > 1]
    slower = [at.load for at in known if _high(at) < 1]
    ends = {"first": Quantity(kind=kind, value=known[0].load), "last": Quantity(kind=kind, value=known[-1].load)}
    if faster and slower and max(faster) > min(slower):
        return _none(plain("The break-even load is not known: the speed-up does not fall steadily from %(first)s to %(last)s.", **ends))
    if not faster or not slower:
        return _open(known, bool(faster), bool(slower), ends)
    low, high = max(faster), min(slower)
    said = plain(
        "The break-even load lies between %(low)s, where speculation is still faster, and %(high)s, where it is slower.",
        low=Quantity(kind=kind, value=low),
        high=Quantity(kind=kind, value=high),
    )
    return BreakEven(low=low, high=high, point=_crossing(known, low, high), sentence=said)


def of_reports(reports: Sequence[Report]) -> BreakEven | None:
    """Of runs that differ in nothing but how heavy their load is; None where loads are equal or of two kinds.

    Closed loads take their own headlines: of whole requests at one at a time, of throughput above. Both are wall-clock speed-ups of the same work.
    """
    loads = [report.spec.load for report in reports]
    if len(set(loads)) < len(loads) or len({_but_how_heavy(load) for load in loads}) > 1:
        return None
    found = [At(load.rate or float(load.concurrency), _headline(report)) for load, report in zip(loads, reports, strict=True)]
    return break_even(found, "asked_rate" if loads[0].rate is not None else "count")


def _but_how_heavy(load: Load) -> tuple[object, ...]:
    return (load.kind,) if load.rate is None else (load.kind, load.burstiness, load.concurrency)


def _headline(report: Report) -> Estimate | None:
    """A headline from which something may be concluded: a bench that is not level, or too few prompts, give a figure and no verdict."""
    cell = report.find(report.headline)
    judged = report.verdict.outcome != "cannot tell" or set(report.verdict.causes) <= {"interval", "family"}
    return cell.pooled if isinstance(cell, Figure) and judged else None


def _open(known: Sequence[At], faster: bool, slower: bool, ends: dict[str, Quantity]) -> BreakEven:
    """Loads that do not bracket it."""
    if faster and _low(known[-1]) > 1:
        return _none(plain("The break-even load is not within the loads measured: speculation is still faster at %(last)s.", **ends))
    if slower and _high(known[0]) < 1:
        return _none(plain("The break-even load is not within the loads measured: speculation is slower already at %(first)s.", **ends))
    return _none(plain("The break-even load cannot be told between %(first)s and %(last)s: intervals there include 1.", **ends))


def _crossing(known: Sequence[At], low: float, high: float) -> float | None:
    """Where the line through the two loads around the first crossing is 1; None where a point in between lies on the wrong side."""
    inside = [at for at in known if low <= at.load <= high]
    signs = [_point(at) > 1 for at in inside]
    if signs != sorted(signs, reverse=True):
        return None
    before, after = inside[sum(signs) - 1], inside[sum(signs)]
    above, below = math.log(_point(before)), math.log(_point(after))
    share = above / (above - below)
    return math.exp(math.log(before.load) + share * (math.log(after.load) - math.log(before.load)))


def _none(sentence: Sentence) -> BreakEven:
    return BreakEven(sentence=sentence)


def _point(at: At) -> float:
    assert at.speedup is not None
    assert at.speedup.point is not None
    return at.speedup.point


def _low(at: At) -> float:
    assert at.speedup is not None
    assert at.speedup.low is not None
    return at.speedup.low


def _high(at: At) -> float:
    assert at.speedup is not None
    assert at.speedup.high is not None
    return at.speedup.high
