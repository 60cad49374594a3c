"""Figures of stage times, by hand: shapes, interpolation, and the identities between them."""

import pytest

from app.domain.estimate import Figure
from app.domain.observations import CostFact
from app.metrics.catalogue import METRICS, points
from app.metrics.frame import from_facts
from app.reports.build import build
from tests.app.metrics.test_figures import hand
from tests.factories import record, requests, trial_fact


def cost(stage: str, tokens: int, seconds: float, *, sequences: int = 1, times: int = 5) -> CostFact:
    return CostFact.model_validate({"stage": stage, "sequences": sequences, "tokens": tokens, "seconds": (seconds,) * times})


# A plain step is 2 s; four drafts take 0.4 s to propose and 3 s to verify.
COSTS = (cost("step", 0, 2.0), cost("draft", 4, 0.4), cost("verify", 4, 3.0))


def reason(id: str, *costs: CostFact, disturbed: bool = False) -> str:
    trials = [trial_fact(arm="speculative", purpose="profile", contended=True)] if disturbed else []
    (reading,) = METRICS[id].compute(from_facts(hand(), trials, costs=costs))
    assert reading.pooled.point is None
    assert reading.pooled.reason is not None
    return reading.pooled.reason.text


def test_costs_are_in_plain_steps() -> None:
    """Catches seconds that pass for steps."""
    found = points(hand(), costs=COSTS)
    assert found["draft_cost[1,4]"] == pytest.approx(0.2)
    assert found["verify_cost[1,4]"] == pytest.approx(1.5)


def test_predicted_by_hand() -> None:
    """Rounds of 4, 4 and 2 drafts and one step without: 1.7 + 1.7 + 1.35 + 1 steps for 9 tokens; 2 drafts lie half-way to no draft."""
    assert points(hand(), costs=COSTS)["predicted_speedup"] == pytest.approx(9 / 5.75)


def test_break_even_by_hand() -> None:
    """10 drafts in 3 rounds: n̄ = 10/3, at 5/6 of the way from no draft to 4."""
    drafts = 10 / 3
    expected = (0.2 * drafts / 4 + 0.5 * drafts / 4) / drafts
    assert points(hand(), costs=COSTS)["break_even_acceptance"] == pytest.approx(expected)


def test_free_drafts_give_the_ceiling() -> None:
    """With drafts for nothing and verification at a step, the prediction is tokens_per_target_forward and any acceptance pays."""
    measured = requests(prompts=8, passes=2)
    free = [cost("step", 0, 2.0), *(cost("draft", n, 0.0) for n in range(1, 9)), *(cost("verify", n, 2.0) for n in range(1, 9))]
    found = points(measured, costs=free)
    assert found["predicted_speedup"] == pytest.approx(found["tokens_per_target_forward"])
    assert found["break_even_acceptance"] == pytest.approx(0.0)


def test_at_the_break_even_acceptance_the_prediction_is_one() -> None:
    """The two figures come from the same costs: rounds of 4 that keep as much as the bar asks take as many steps as tokens they give."""
    bar = points(hand(), costs=COSTS)["break_even_acceptance"]
    assert bar is not None
    assert 1 + 4 * bar == pytest.approx(0.2 + 1.5)


def test_costs_are_of_their_batch() -> None:
    """Catches a verification over four sequences divided by a plain step over one."""
    loaded = (*COSTS, cost("step", 0, 4.0, sequences=4), cost("verify", 4, 10.0, sequences=4))
    found = points(hand(), costs=loaded)
    assert found["verify_cost[4,4]"] == pytest.approx(2.5)
    assert found["verify_cost[1,4]"] == pytest.approx(1.5)


def test_rare_shapes_are_no_costs() -> None:
    """Catches one slow forward that becomes the cost of a shape, and rounds priced beyond what was profiled."""
    rare = (*COSTS[:2], cost("verify", 4, 3.0, times=4))
    assert "verify_cost[1,4]" not in points(hand(), costs=rare)
    short = (COSTS[0], cost("draft", 2, 0.2), cost("verify", 2, 2.5))
    assert "of the rounds have a shape" in reason("predicted_speedup", *short)
    assert "were not profiled often enough" in reason("break_even_acceptance", *short)


def test_a_run_without_a_profile_says_so() -> None:
    for id in ("draft_cost", "verify_cost", "predicted_speedup", "break_even_acceptance", "memory_overhead"):
        assert reason(id) == "This run has no profiled trial."
    assert "disturbed the profiled trial" in reason("draft_cost", disturbed=True)


def test_what_cannot_pay_is_said_in_words() -> None:
    """Catches a bar above 100 % that reads as an acceptance one could reach."""
    (reading,) = METRICS["break_even_acceptance"].compute(from_facts(hand(), costs=(COSTS[0], COSTS[1], cost("verify", 4, 12.0))))
    assert reading.pooled.point is not None
    assert reading.pooled.point > 1
    assert reading.pooled.reason is not None
    assert reading.pooled.reason.text.startswith("Cannot pay at any acceptance")


def test_memory_by_hand() -> None:
    """Weights and cache of a drafter that has none are 0, observed; an unread mark is missing."""
    plain = trial_fact(arm="plain", purpose="profile", peak_bytes=1000, weight_bytes=600, cache_bytes=100)
    own = trial_fact(arm="speculative", purpose="profile", peak_bytes=1300, weight_bytes=600, cache_bytes=100)
    found = points(hand(), [plain, own])
    assert (found["memory_overhead"], found["memory_overhead[weights]"], found["memory_overhead[KV cache]"]) == (300, 0, 0)
    unread = points(hand(), [plain, own.model_copy(update={"peak_bytes": None})])
    assert unread["memory_overhead"] is None


def test_layer_passes_do_not_hold_the_prefill() -> None:
    """Draft and verification alone, over the tokens that they gave."""
    assert points(hand(prefill_layer_passes=10_000))["layer_passes_per_token"] == pytest.approx(520 / 9)


def test_the_report_carries_costs() -> None:
    """Catches costs that are stored and never read."""
    measured = record()
    drafts = {n for fact in measured.requests for n in fact.round_drafted}
    costs = (cost("step", 0, 2.0), *(cost("draft", n, 0.1 * n) for n in drafts), *(cost("verify", n, 2.0 + 0.1 * n) for n in drafts))
    report = build(measured.model_copy(update={"costs": costs}))
    cell = report.find("predicted_speedup")
    assert isinstance(cell, Figure)
    assert cell.pooled.low is None
