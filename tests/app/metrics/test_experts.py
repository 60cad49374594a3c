"""Figures of experts: by hand, beside requests of which nobody counted them, and counts that cannot be."""

import pytest
from pydantic import ValidationError

from app.metrics.catalogue import METRICS, points
from app.metrics.experts import UNCOUNTED
from app.metrics.frame import from_facts
from tests.factories import request_fact, requests

IDS = ("experts_per_verify", "expert_reuse")


def test_sums_are_over_rounds_and_not_over_requests() -> None:
    """Two requests of 5 and 20 rounds: a mean of their means would weigh them alike."""
    own = [fact for fact in requests(prompts=2, passes=1) if fact.arm == "speculative"]
    told = [fact.model_copy(update={"experts_read": 10 * n, "experts_chosen": 40 * n}) for n, fact in enumerate(own, start=1)]
    found = points(told)
    assert found["experts_per_verify"] == pytest.approx(sum(f.experts_read or 0 for f in told) / sum(f.rounds for f in told))
    assert found["expert_reuse"] == pytest.approx(3 / 4)


def test_uncounted_is_absent_with_its_reason() -> None:
    """Catches a zero in place of a count that nobody made, and a reason that blames the source where the target has no experts."""
    frames = from_facts(requests(prompts=3, passes=1))
    for id in IDS:
        [reading] = METRICS[id].compute(frames)
        assert (reading.pooled.point, reading.pooled.reason) == (None, UNCOUNTED)


def test_counted_by_some_is_no_figure() -> None:
    """Catches a figure over those requests alone that happen to have counts."""
    own = [fact for fact in requests(prompts=3, passes=1) if fact.arm == "speculative"]
    told = [own[0].model_copy(update={"experts_read": 5, "experts_chosen": 9}), *own[1:]]
    for id in IDS:
        [reading] = METRICS[id].compute(from_facts(told))
        assert reading.pooled.point is None
        assert reading.pooled.reason is not None
        assert reading.pooled.reason != UNCOUNTED


@pytest.mark.parametrize("counts", [{"experts_read": 5}, {"experts_chosen": 5}, {"experts_read": 6, "experts_chosen": 5}])
def test_counts_that_cannot_be_are_refused(counts: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="experts were read than chosen"):
        request_fact(**counts)
