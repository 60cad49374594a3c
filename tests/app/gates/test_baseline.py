"""A run against its baseline, by pairs."""

import pytest

from app.domain.estimate import Figure
from app.domain.facts import RequestFact
from app.errors import InvalidInput
from app.gates.baseline import defaults, of_baseline
from app.gates.schemas import Check, Tolerance
from app.reports.compare import compare
from app.reports.format import say
from app.reports.record import RunRecord
from tests.factories import preflight_fact, record, run_spec

OLD = record(run=1, language="en", prompts=12, acceptance=0.8, seed=1)


def checks(new: RunRecord, old: RunRecord, *tolerances: Tolerance) -> list[Check]:
    comparison = compare([new, old])
    return list(of_baseline(comparison, tolerances or defaults(comparison.reports[0]), given=bool(tolerances)))


def changed(base: RunRecord, run: int = 2, **over: object) -> RunRecord:
    return base.model_copy(update={"run": run} | over)


def _of(fact: RequestFact, factor: float) -> float:
    return factor + 0.001 * (int(fact.prompt[-2:]) % 3 - 1) if fact.arm == "speculative" else 1.0


def slower(base: RunRecord, factor: float) -> RunRecord:
    """The same counts; every speculative request takes about `factor` as long, each prompt a little more or less."""
    facts = tuple(fact.model_copy(update={"last_at": fact.sent_at + (fact.last_at - fact.sent_at) * _of(fact, factor)}) for fact in base.requests)
    return changed(base, requests=facts)


def test_the_same_again_holds() -> None:
    """Catches a gate that cannot pass a build in which nothing changed: greedy counts are equal on every pair, which leaves no spread."""
    speed, acceptance = checks(slower(OLD, 1.0), OLD)
    assert (acceptance.figure, acceptance.answer) == ("acceptance_rate", "holds")
    assert say(acceptance.word.sentence) == "No difference: both runs gave the same on each of 12\u00a0pairs."
    assert (speed.figure, speed.answer) == ("speedup_end_to_end", "holds")


def test_a_slower_build_does_not_hold() -> None:
    """Catches a regression of speed that hides behind equal counts; the limit is the run's margin, on the quotient of the pairs."""
    speed, acceptance = checks(slower(OLD, 1.2), OLD)
    assert (speed.answer, speed.unit, speed.min) == ("does not hold", "ratio", 0.98)
    assert speed.word.estimate is not None
    assert speed.word.estimate.high is not None
    assert speed.word.estimate.high < 0.98
    assert (acceptance.unit, acceptance.min) == ("points", pytest.approx(-0.02))


def test_the_difference_is_paired() -> None:
    """Catches a gate that holds two intervals against each other: these overlap, while each prompt alone became slower."""
    new = slower(OLD, 1.04)
    speed, _ = checks(new, OLD)
    ours, theirs = (report.find("speedup_end_to_end") for report in compare([new, OLD]).reports)
    assert isinstance(ours, Figure)
    assert isinstance(theirs, Figure)
    assert ours.pooled.high is not None
    assert theirs.pooled.low is not None
    assert ours.pooled.high > theirs.pooled.low
    assert (speed.answer, speed.word.estimate and speed.word.estimate.n) == ("does not hold", 12)


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"language": "ru"}, "language"),
        ({"preflight": preflight_fact(suite_digest="f" * 64)}, "suite_digest"),
        ({"preflight": preflight_fact(weights_digest="a" * 64, suite_version="2")}, "suite_version"),
        ({"spec": run_spec(language="en", max_new_tokens=64)}, "max_new_tokens"),
    ],
)
def test_another_measurement_is_no_baseline(over: dict[str, object], field: str) -> None:
    """Catches a gate between runs that measured different things: it is refused, and says by which field."""
    new = record(run=2, language="ru", prompts=12) if "language" in over else changed(OLD, **over)
    for check in checks(new, OLD):
        assert check.answer == "could not be measured"
        assert field in say(check.word.sentence)


def test_another_engine_still_counts_the_same_tokens() -> None:
    """Catches an upgrade of the engine that hides its loss of acceptance: counts are contrasted, speed is refused by the field."""
    new = changed(OLD, preflight=preflight_fact(engine_version="9"))
    speed, acceptance = checks(new, OLD)
    assert (speed.answer, acceptance.answer) == ("could not be measured", "holds")
    assert "engine's version differs" in say(speed.word.sentence)


def test_a_refused_run_is_no_baseline() -> None:
    """Catches a baseline whose figures are refused."""
    looping = changed(OLD, run=1, requests=tuple(fact.model_copy(update={"degenerate": True, "repeated_share": 0.9}) for fact in OLD.requests))
    assert {check.answer for check in checks(changed(OLD), looping)} == {"could not be measured"}


def test_figures_that_have_no_pairs_are_said_so() -> None:
    """Catches a tolerance that is silently not looked at."""
    with pytest.raises(InvalidInput, match="no paired difference"):
        checks(changed(OLD), OLD, Tolerance(figure="request_latency", within=0.1))
    (cost,) = checks(changed(OLD), OLD, Tolerance(figure="layer_passes_per_token", within=0.02))
    assert (cost.min, cost.max) == (None, 1.02)
