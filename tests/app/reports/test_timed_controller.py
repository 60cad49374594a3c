"""Counts of a run whose controller decides by measured times: every undisturbed repeat counts, and a prompt is still one cluster."""

from typing import Any

import pytest

from app.domain.estimate import Figure
from app.domain.facts import RequestFact
from app.reports.build import build
from app.reports.record import RunRecord
from app.reports.report import Report
from tests import factories

PROMPTS, PASSES = 12, 4


def varying(fact: RequestFact) -> RequestFact:
    """The same answer, drafted one token shorter in its first round on every odd pass, as a controller on the clock may do."""
    if fact.arm != "speculative" or fact.trial % 2 == 0:
        return fact
    first = fact.round_drafted[0] - 1
    assert fact.round_verified[0] <= first or fact.round_verified[0] == fact.round_drafted[0]
    if fact.round_verified[0] > first:
        return fact
    drafted = (first, *fact.round_drafted[1:])
    return fact.model_copy(update={"drafted": sum(drafted), "round_drafted": drafted, "round_depth": drafted})


def record(*, timed: bool, vary: bool, passes: int = PASSES, **over: Any) -> RunRecord:
    made = factories.record(prompts=PROMPTS, passes=passes, **over)
    requests = tuple(varying(fact) if vary else fact for fact in made.requests)
    return made.model_copy(update={"requests": requests, "preflight": factories.preflight_fact(timed_controller=timed)})


def acceptance(report: Report) -> Figure:
    found = report.find("acceptance_rate")
    assert isinstance(found, Figure)
    return found


def share(facts: list[RequestFact]) -> float:
    return sum(f.verified for f in facts) / sum(f.drafted for f in facts)


def speculative(made: RunRecord, trials: set[int]) -> list[RequestFact]:
    return [f for f in made.requests if f.arm == "speculative" and f.trial in trials]


def test_all_repeats_count_where_they_differ_by_the_clock() -> None:
    """Catches one lucky repeat taken for all: the figure is Σ/Σ over every pass, and so are R, E and the rows per prompt."""
    made = record(timed=True, vary=True)
    found, every = build(made), speculative(made, set(range(PASSES)))
    assert acceptance(found).pooled.point == pytest.approx(share(every))
    assert share(every) != pytest.approx(share(speculative(made, {0})))
    assert acceptance(found).rounds == sum(f.rounds for f in every)
    assert acceptance(found).emitted == sum(f.emitted for f in every)
    assert sum(row.drafted for row in found.prompts) == sum(f.drafted for f in every)


def test_repeats_are_not_taken_for_prompts() -> None:
    """Catches an interval that shrinks because the same prompts were measured again: equal repeats leave it as one trial gives it."""
    once = acceptance(build(record(timed=False, vary=False))).pooled
    often = acceptance(build(record(timed=True, vary=False))).pooled
    assert often.n == once.n == PROMPTS
    assert (often.point, often.low, often.high) == pytest.approx((once.point, once.low, once.high))


def test_disturbed_blocks_do_not_count() -> None:
    """Catches drafts whose lengths followed other people's load."""
    made = record(timed=True, vary=True)
    disturbed = tuple(t.model_copy(update={"contended": t.trial == 0 and t.arm == "plain"}) for t in made.trials)
    found = build(made.model_copy(update={"trials": disturbed}))
    assert acceptance(found).pooled.point == pytest.approx(share(speculative(made, {2, 3})))


def test_the_report_says_why_repeats_differ() -> None:
    """Catches a suspicion where there is a reason, and a reason where there is none."""

    def said(**over: bool) -> list[str]:
        return [note.text for note in build(record(**over)).notes if note.text.startswith("Repeats")]

    assert said(timed=True, vary=True) == [
        "Repeats are identical: no. The controller decides by measured times. Counts are taken over all undisturbed trials."
    ]
    assert said(timed=False, vary=True) == ["Repeats are identical: no. Counts come from one trial, and others give other ones."]
    assert "yes" in said(timed=True, vary=False)[0]
    assert "one trial" in said(timed=False, vary=False)[0]


def test_other_greedy_runs_count_one_trial_as_before() -> None:
    made = record(timed=False, vary=True)
    assert acceptance(build(made)).pooled.point == pytest.approx(share(speculative(made, {0})))
