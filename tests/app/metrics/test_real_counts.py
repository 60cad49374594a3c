"""Counts as public trackers reported them (definitions § 6), through the figures."""

import pytest

from app.domain.counts import Counts
from app.metrics.catalogue import METRICS
from app.metrics.frame import counts_of_histogram, from_counts
from app.metrics.identities import positions_agree

PREFILL_INSIDE = Counts(requests=1, emitted=200, rounds=188, verified=11, drafted=940)
OVERSHOOT = Counts(requests=80, emitted=16990, rounds=4816, drafted=33712, verified=12208, longest_draft=7)
OPEN = Counts(requests=80, prefill_tokens=80, emitted=18200, rounds=4816, drafted=None, verified=12208, undrafted=0)
HIDDEN = Counts(requests=1, emitted=5376, rounds=993, drafted=4960, verified=3562, undrafted=821, prefill_tokens=0)
SHORT = counts_of_histogram([39, 1, 0, 3], 3)


def point(counts: Counts, id: str, **part: str) -> float | None:
    return next(reading.pooled.point for reading in METRICS[id].compute(from_counts(counts)) if reading.part == part)


@pytest.mark.parametrize(
    ("counts", "id", "expected"),
    [
        (PREFILL_INSIDE, "tokens_per_round", 1.0585),
        (PREFILL_INSIDE, "acceptance_rate", 0.0117),
        (OVERSHOOT, "acceptance_rate", 0.362),
        (OVERSHOOT, "tokens_per_round", 3.535),
        (HIDDEN, "tokens_per_round", 4.587),
        (HIDDEN, "tokens_per_target_forward", 2.96),
        (SHORT, "tokens_per_round", 1.23256),
        (SHORT, "acceptance_rate", 0.07752),
    ],
)
def test_comes_out_as_reported(counts: Counts, id: str, expected: float) -> None:
    """200/188 = 1.0638 counts the prefill's token as a round's; 5376/993 counts undrafted steps as rounds."""
    digits = len(str(expected).split(".")[1])
    assert round(point(counts, id) or 0.0, digits) == expected


def test_histogram_gives_its_counts() -> None:
    assert (SHORT.rounds, SHORT.verified, SHORT.drafted) == (43, 10, 129)
    assert SHORT.broken() == []


def test_histogram_gives_positions() -> None:
    """3 of 43 rounds kept three; 4 kept one or more."""
    assert point(SHORT, "acceptance_at", position="1") == pytest.approx(4 / 43)
    assert point(SHORT, "acceptance_at_all_rounds", position="3") == pytest.approx(3 / 43)
    assert point(SHORT, "acceptance_given_previous", position="2") == pytest.approx(3 / 4)


def test_totals_have_no_interval() -> None:
    """A point from totals may not pass for an estimate over prompts."""
    for id in ("acceptance_rate", "tokens_per_round"):
        reading = METRICS[id].compute(from_counts(OVERSHOOT))[0]
        assert reading.pooled.low is None
        assert (reading.pooled.n, reading.pooled.counted) == (80, "requests")
        assert reading.macro is None


def test_a_missing_count_is_absent_and_never_zero() -> None:
    """Undrafted steps unknown: neither coverage nor tokens per forward may be computed as if there were none."""
    for id, count in (
        ("draft_coverage", "steps without a draft, U"),
        ("tokens_per_target_forward", "tokens of the prefill, P"),
        ("accepted_share", "delivered drafts, A"),
    ):
        (reading,) = METRICS[id].compute(from_counts(PREFILL_INSIDE))
        assert reading.pooled.point is None
        assert reading.pooled.reason is not None
        assert reading.pooled.reason.values["count"] == count
    assert point(OPEN, "acceptance_rate") is None


def test_no_draft_leaves_what_was_observed() -> None:
    """ΣD = 0: no acceptance, but a coverage of 0 and one token a forward were seen."""
    idle = Counts(requests=4, emitted=104, rounds=0, drafted=0, verified=0, undrafted=100, prefill_tokens=4, accepted=0)
    (acceptance,) = METRICS["acceptance_rate"].compute(from_counts(idle))
    assert acceptance.pooled.reason is not None
    assert acceptance.pooled.reason.text == "No draft was made."
    assert point(idle, "draft_coverage") == 0
    assert point(idle, "tokens_per_target_forward") == 1


def test_positions_halved_by_two_ranks_are_named() -> None:
    """An engine that sums rounds over two ranks halves every share by position: the identity that breaks is said."""
    whole = [0.8, 0.6, 0.4]
    assert positions_agree(whole, verified=180, rounds=100) is None
    said = positions_agree([share / 2 for share in whole], verified=180, rounds=100)
    assert said is not None
    assert "V/R" in said.text
    assert said.values["quotient"].value == pytest.approx(0.5)  # type: ignore[union-attr]
