"""The question and the one sentence of a comparison."""

from collections.abc import Mapping, Sequence

from app.domain.sentence import Kind, Quantity, Sentence, plain
from app.reports.axes import Axis, Differences
from app.reports.contrasts import cut_short
from app.reports.format import say
from app.reports.report import BreakEven, Contrast, Report
from app.statistics.verdict import Outcome
from app.statistics.wording import quantity


def question(reports: Sequence[Report], axis: Axis) -> Sentence:
    """What the first two runs are asked together."""
    first, second = reports[0].spec, reports[1].spec
    if axis == "language":
        return plain(
            "Does %(drafter)s pay as well in %(language)s as in %(other_language)s?",
            drafter=first.drafter.name,
            language=first.language,
            other_language=second.language,
        )
    if axis == "drafter" and first.drafter.name != second.drafter.name:
        return plain(
            "Does %(drafter)s pay as well as %(other)s in %(language)s?",
            drafter=first.drafter.name,
            other=second.drafter.name,
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
        return next(iter(seen.forbidden.values()), plain("Nothing can be contrasted: the runs share no prompt that both measured."))
    if accepted is not None and speed is None and crossings is not None:
        return _by_load(accepted, *crossings, kind="count" if reports[0].spec.load.rate is None else "asked_rate")
    if accepted is None or speed is None:
        return _half(accepted, speed)
    return _both(reports, seen.axis, accepted, speed)


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
    return plain(
        "Cannot tell: the %(language)s run is refused (%(failing)s of %(n)s requests fail the check “%(gate)s”), so nothing is contrasted with it.",
        language=refused.spec.language,
        failing=gate.failing,
        n=gate.n,
        gate=gate.name,
    )


def _side_of(contrast: Contrast, even: float) -> int:
    """−1 where the whole interval lies below no difference, 1 above, 0 where it holds it or is not known."""
    low, high = contrast.estimate.low, contrast.estimate.high
    if low is None or high is None:
        return 0
    return 1 if low > even else -1 if high < even else 0


def _half(accepted: Contrast | None, speed: Contrast | None) -> Sentence:
    if speed is not None:
        return plain("Only speed is contrasted: the speed-up is %(speedup)s of the other's.", speedup=quantity("ratio", speed.estimate))
    assert accepted is not None
    return plain("Only acceptance is contrasted: the difference is %(difference)s.", difference=quantity("points", accepted.estimate))


def _by_load(accepted: Contrast, own: BreakEven, other: BreakEven, *, kind: Kind) -> Sentence:
    """Break-even loads are intervals: one lies below another only where the two have no inside in common."""
    assert own.low is not None
    assert own.high is not None
    assert other.low is not None
    assert other.high is not None
    ends = {"low": own.low, "high": own.high, "other_low": other.low, "other_high": other.high}
    values: dict[str, str | int | Quantity] = {name: Quantity(kind=kind, value=value) for name, value in ends.items()}
    values |= {"difference": quantity("points", accepted.estimate), "pairs": accepted.estimate.n}
    if own.high <= other.low:
        return plain(
            "No. It stops paying between load %(low)s and %(high)s, the other between %(other_low)s and %(other_high)s; acceptance differs by "
            "%(difference)s, over %(pairs)s.",
            **values,
        )
    if own.low >= other.high:
        return plain(
            "Yes, and up to a heavier load: it stops paying between %(low)s and %(high)s, the other between %(other_low)s and %(other_high)s; "
            "acceptance differs by %(difference)s, over %(pairs)s.",
            **values,
        )
    return plain(
        "Cannot tell which of the two pays up to a heavier load: it stops between %(low)s and %(high)s, the other between %(other_low)s and "
        "%(other_high)s. Acceptance differs by %(difference)s, over %(pairs)s.",
        **values,
    )


def _both(reports: Sequence[Report], axis: Axis, accepted: Contrast, speed: Contrast) -> Sentence:
    """Both are said in every case: acceptance is not speed. The word at the head is decided by speed, which is what pays."""
    values: dict[str, str | int | Quantity] = {
        "difference": quantity("points", accepted.estimate),
        "speedup": quantity("ratio", speed.estimate),
        "pairs": accepted.estimate.n,
    }
    if speed.estimate.low is None and speed.estimate.reason is not None and not speed.estimate.reason.values:
        return plain(
            "Cannot tell: acceptance differs by %(difference)s and the speed-up is %(speedup)s of the other's, over %(pairs)s. %(reason)s",
            **values | {"reason": say(speed.estimate.reason)},
        )
    if speed.estimate.low is None:
        return plain(
            "Cannot tell: acceptance differs by %(difference)s and the speed-up is %(speedup)s of the other's, "
            "but %(pairs)s are too few for an interval.",
            **values,
        )
    if axis not in ("language", "drafter"):
        # That question asks how, so a yes or no would answer another one.
        return plain(
            "Run %(run)s's speed-up is %(speedup)s of run %(other)s's; acceptance differs by %(difference)s, over %(pairs)s.",
            **values | {"run": reports[0].run, "other": reports[1].run},
        )
    if all(report.verdict.outcome == "does not pay" for report in reports[:2]):
        return plain(
            "It pays in neither run. The first's speed-up is %(speedup)s of the second's; acceptance differs by %(difference)s, over %(pairs)s.",
            **values,
        )
    side = _side_of(speed, 1.0)
    if side < 0:
        return plain("No. Its speed-up is %(speedup)s of the other's; acceptance differs by %(difference)s, over %(pairs)s.", **values)
    if side > 0:
        return _better([report.verdict.outcome for report in reports[:2]], values)
    # An interval that holds no difference is no proof of equality; two decided verdicts are an answer.
    if all(report.verdict.outcome == "pays" for report in reports[:2]):
        return plain(
            "As far as can be told, yes: it pays in both. The speed-up is %(speedup)s of the other's; acceptance differs by %(difference)s, "
            "over %(pairs)s.",
            **values,
        )
    if _side_of(accepted, 0.0) != 0:
        return plain(
            "Cannot tell of speed: the speed-up is %(speedup)s of the other's, which may be no difference. Acceptance does differ, by "
            "%(difference)s, over %(pairs)s.",
            **values,
        )
    return plain(
        "Cannot tell: the speed-up is %(speedup)s of the other's and acceptance differs by %(difference)s, over %(pairs)s; "
        "either may be no difference.",
        **values,
    )


def _better(outcomes: Sequence[Outcome], values: Mapping[str, str | int | Quantity]) -> Sentence:
    """The first is the faster one; `yes` alone would say that the second pays too."""
    if outcomes == ["pays", "does not pay"]:
        return plain(
            "It pays, and the other does not. Its speed-up is %(speedup)s of the other's; acceptance differs by %(difference)s, over %(pairs)s.",
            **values,
        )
    if outcomes[1] == "does not pay":
        return plain(
            "It is faster, but it is not known that it pays, and the other does not. Its speed-up is %(speedup)s of the other's; acceptance "
            "differs by %(difference)s, over %(pairs)s.",
            **values,
        )
    if outcomes[1] != "pays":
        return plain(
            "It is faster. Its speed-up is %(speedup)s of the other's, of which it is not known that it pays; acceptance differs by %(difference)s, "
            "over %(pairs)s.",
            **values,
        )
    return plain("Yes, and better. Its speed-up is %(speedup)s of the other's; acceptance differs by %(difference)s, over %(pairs)s.", **values)
