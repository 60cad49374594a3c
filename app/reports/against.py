"""What speed and acceptance say of one run against another, in one sentence."""

from collections.abc import Mapping, Sequence

from app.domain.sentence import Kind, Quantity, Sentence, plain
from app.reports.accepted import Values, difference, guarded, is_told, why_untold
from app.reports.axes import Axis
from app.reports.format import say
from app.reports.report import BreakEven, Contrast, Report
from app.reports.words import mark
from app.statistics.verdict import Cause, Outcome
from app.statistics.wording import quantity

# What is wrong with the bench itself, however many prompts there are.
_UNSETTLED: dict[Cause, str] = {
    "not level": mark(
        "Cannot tell of speed: the bench of run %(run)s was not level, plain against plain gave %(floor)s where 1 is due. Acceptance differs by "
        "%(difference)s, over %(pairs)s."
    ),
    "contended": mark("Cannot tell of speed: other processes disturbed run %(run)s. Acceptance differs by %(difference)s, over %(pairs)s."),
    "slow plain": mark(
        "Cannot tell of speed: the plain arm of run %(run)s is no fair baseline. Acceptance differs by %(difference)s, over %(pairs)s."
    ),
}
# Of the first, whose speed-up is surely the greater, and of the second: of two engines that is not yet the one which says more in a second.
_FASTER: dict[tuple[Outcome, Outcome], str] = {
    ("pays", "pays"): mark(
        "Yes, and better: both pay, and run %(first)s gains more. Its speed-up is %(speedup)s of that of run %(second)s; acceptance differs by "
        "%(difference)s, over %(pairs)s."
    ),
    ("pays", "does not pay"): mark(
        "Run %(first)s pays and run %(second)s does not. Its speed-up is %(speedup)s of that of run %(second)s; acceptance differs by "
        "%(difference)s, over %(pairs)s."
    ),
    ("pays", "cannot tell"): mark(
        "Run %(first)s pays and gains more; of run %(second)s it is not known whether it pays. The speed-up of the first is %(speedup)s of that "
        "of the second; acceptance differs by %(difference)s, over %(pairs)s."
    ),
    ("cannot tell", "does not pay"): mark(
        "Run %(first)s gains more, but it is not known that it pays; run %(second)s does not. The speed-up of the first is %(speedup)s of that "
        "of the second; acceptance differs by %(difference)s, over %(pairs)s."
    ),
    ("cannot tell", "cannot tell"): mark(
        "Run %(first)s gains more; of neither is it known whether it pays. Its speed-up is %(speedup)s of that of run %(second)s; acceptance "
        "differs by %(difference)s, over %(pairs)s."
    ),
    ("cannot tell", "pays"): mark(
        "Run %(first)s gains more over what both measured, but only of run %(second)s is it known that it pays. The speed-up of the first is "
        "%(speedup)s of that of the second; acceptance differs by %(difference)s, over %(pairs)s."
    ),
    ("does not pay", "cannot tell"): mark(
        "Run %(first)s gains more and still does not pay; of run %(second)s it is not known whether it pays. The speed-up of the first is "
        "%(speedup)s of that of the second; acceptance differs by %(difference)s, over %(pairs)s."
    ),
    # Each on all that it measured, the quotient over what both did: they may contradict.
    ("does not pay", "pays"): mark(
        "Cannot tell: run %(second)s pays and run %(first)s does not, and yet over what both measured the speed-up of the first is %(speedup)s of "
        "that of the second. Acceptance differs by %(difference)s, over %(pairs)s."
    ),
}


def names(reports: Sequence[Report], axis: Axis) -> dict[str, str]:
    """What the first two are called: by number, and by what tells them apart."""

    def name(report: Report) -> str:
        told = {"language": report.spec.language, "drafter": report.spec.drafter_title, "engine": report.spec.engine}.get(axis)
        return f"{report.run} ({told})" if told else str(report.run)

    return {"first": name(reports[0]), "second": name(reports[1])}


def unsettled(reports: Sequence[Report], accepted: Contrast | None) -> Sentence | None:
    """Where the bench of one settles nothing of speed, whatever its figures are: then two of them settle nothing either. None where both do."""
    found = next(((report, cause) for report in reports for cause in report.verdict.causes if cause in _UNSETTLED), None)
    if found is None:
        return None
    report, cause = found
    floor = report.verdict.noise_floor
    if accepted is None or not is_told(accepted) or (cause == "not level" and floor is None):
        return plain("Cannot tell: the bench of run %(run)s settles nothing of speed, as its own verdict says.", run=report.run)
    values: Values = {"run": report.run, **difference(accepted)}
    if floor is not None:
        values["floor"] = quantity("ratio", floor)
    return Sentence(text=_UNSETTLED[cause], values=values)


def half(named: Mapping[str, str], accepted: Contrast | None, speed: Contrast | None) -> Sentence:
    """Where one of the two cannot be contrasted."""
    if speed is not None:
        return _half_of_speed(named, speed)
    assert accepted is not None
    if not is_told(accepted):
        return plain(
            "Cannot tell: only acceptance is contrasted, and how it differs cannot be told: %(reason)s (the run with fewer drafted in %(prompts)s).",
            **why_untold(accepted),
        )
    return plain("Only acceptance is contrasted: the difference is %(difference)s, over %(pairs)s.", **difference(accepted))


def _half_of_speed(named: Mapping[str, str], speed: Contrast) -> Sentence:
    values: Values = {**named, "speedup": quantity("ratio", speed.estimate), "pairs": speed.estimate.n}
    if speed.estimate.low is None:
        return plain(
            "Cannot tell: only speed is contrasted, and %(pairs)s give no interval: the speed-up of run %(first)s is %(speedup)s of that of run "
            "%(second)s.",
            **values,
        )
    return plain(
        "Only speed is contrasted: the speed-up of run %(first)s is %(speedup)s of that of run %(second)s, over %(pairs)s.",
        **values,
    )


def by_load(named: Mapping[str, str], accepted: Contrast, own: BreakEven, other: BreakEven, *, kind: Kind) -> Sentence:
    return guarded(_by_load(named, accepted, own, other, kind), accepted)


def _by_load(named: Mapping[str, str], accepted: Contrast, own: BreakEven, other: BreakEven, kind: Kind) -> Sentence:
    """Break-even loads are intervals: one lies below another only where the two have no inside in common."""
    assert own.low is not None
    assert own.high is not None
    assert other.low is not None
    assert other.high is not None
    ends = {"low": own.low, "high": own.high, "other_low": other.low, "other_high": other.high}
    values: Values = {name: Quantity(kind=kind, value=value) for name, value in ends.items()}
    values |= {**named, **difference(accepted)}
    if own.high <= other.low:
        return plain(
            "No. The series of run %(first)s stops paying between load %(low)s and %(high)s, that of run %(second)s between %(other_low)s and "
            "%(other_high)s; acceptance differs by %(difference)s, over %(pairs)s.",
            **values,
        )
    if own.low >= other.high:
        return plain(
            "Yes, and up to a heavier load: the series of run %(first)s stops paying between %(low)s and %(high)s, that of run %(second)s between "
            "%(other_low)s and %(other_high)s; acceptance differs by %(difference)s, over %(pairs)s.",
            **values,
        )
    return plain(
        "Cannot tell which of the two pays up to a heavier load: the series of run %(first)s stops between %(low)s and %(high)s, that of run "
        "%(second)s between %(other_low)s and %(other_high)s. Acceptance differs by %(difference)s, over %(pairs)s.",
        **values,
    )


def both(reports: Sequence[Report], axis: Axis, accepted: Contrast, speed: Contrast) -> Sentence:
    """Both are said in every case: acceptance is not speed. The word at the head is decided by speed, which is what pays."""
    values: Values = {**names(reports, axis), "speedup": quantity("ratio", speed.estimate), **difference(accepted)}
    if speed.estimate.low is None:
        return _without_interval(accepted, speed, values)
    return guarded(_settled(reports, axis, accepted, speed, values), accepted)


def _settled(reports: Sequence[Report], axis: Axis, accepted: Contrast, speed: Contrast, values: Values) -> Sentence:
    """Where the speed-ups are contrasted with an interval."""
    if axis not in ("language", "engine", "drafter"):
        # That question asks how, so a yes or no would answer another one.
        return plain(
            "The speed-up of run %(first)s is %(speedup)s of that of run %(second)s; acceptance differs by %(difference)s, over %(pairs)s.", **values
        )
    first, second = (report.verdict.outcome for report in reports[:2])
    if first == second == "does not pay":
        return plain(
            "It pays in neither run. The speed-up of run %(first)s is %(speedup)s of that of run %(second)s; acceptance differs by %(difference)s, "
            "over %(pairs)s.",
            **values,
        )
    side = side_of(speed, 1.0)
    if side < 0:
        return _less((first, second), values)
    return Sentence(text=_FASTER[first, second], values=values) if side > 0 else _level((first, second), accepted, values)


def _less(outcomes: tuple[Outcome, Outcome], values: Values) -> Sentence:
    """The first one's speed-up is surely the lesser."""
    if outcomes == ("pays", "does not pay"):
        return plain(
            "Cannot tell: run %(first)s pays and run %(second)s does not, and yet over what both measured the speed-up of the first is %(speedup)s "
            "of that of the second. Acceptance differs by %(difference)s, over %(pairs)s.",
            **values,
        )
    return plain(
        "No. The speed-up of run %(first)s is %(speedup)s of that of run %(second)s; acceptance differs by %(difference)s, over %(pairs)s.",
        **values,
    )


def side_of(contrast: Contrast, even: float) -> int:
    """−1 where the whole interval lies below no difference, 1 above, 0 where it holds it or is not known."""
    low, high = contrast.estimate.low, contrast.estimate.high
    if low is None or high is None:
        return 0
    return 1 if low > even else -1 if high < even else 0


def _without_interval(accepted: Contrast, speed: Contrast, values: Values) -> Sentence:
    few = {name: value for name, value in values.items() if name not in {"pairs", "pairs_of"}} | {"pairs": speed.estimate.n}
    if not is_told(accepted):
        return plain(
            "Cannot tell: %(pairs)s give no interval of speed (the speed-up of run %(first)s is %(speedup)s of that of run %(second)s), and how "
            "acceptance differs cannot be told: %(reason)s (the run with fewer drafted in %(prompts)s).",
            **{name: value for name, value in few.items() if name != "difference"} | why_untold(accepted),
        )
    if speed.estimate.reason is not None and not speed.estimate.reason.values:
        return plain(
            "Cannot tell: acceptance differs by %(difference)s and the speed-up of run %(first)s is %(speedup)s of that of run %(second)s, over "
            "%(pairs)s. %(reason)s",
            **values | {"reason": say(speed.estimate.reason)},
        )
    return plain(
        "Cannot tell: acceptance differs by %(difference)s and the speed-up of run %(first)s is %(speedup)s of that of run %(second)s, but "
        "%(pairs)s are too few for an interval.",
        **few,
    )


def _level(outcomes: tuple[Outcome, Outcome], accepted: Contrast, values: Values) -> Sentence:
    """An interval that holds no difference is no proof of equality; two decided verdicts are an answer."""
    if outcomes == ("pays", "pays"):
        return plain(
            "It pays in both, and no difference in speed-up is shown: the speed-up of run %(first)s is %(speedup)s of that of run %(second)s. "
            "Acceptance differs by %(difference)s, over %(pairs)s.",
            **values,
        )
    if side_of(accepted, 0.0) != 0:
        return plain(
            "Cannot tell of speed: the speed-up of run %(first)s is %(speedup)s of that of run %(second)s, which may be no difference. Acceptance "
            "does differ, by %(difference)s, over %(pairs)s.",
            **values,
        )
    if not is_told(accepted):
        text = mark(
            "Cannot tell: the speed-up of run %(first)s is %(speedup)s of that of run %(second)s, which may be no difference. Acceptance differs by "
            "%(difference)s, over %(pairs)s."
        )
        return Sentence(text=text, values=values)
    return plain(
        "Cannot tell: the speed-up of run %(first)s is %(speedup)s of that of run %(second)s and acceptance differs by %(difference)s, over "
        "%(pairs)s; either may be no difference.",
        **values,
    )
