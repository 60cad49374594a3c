"""Speed-ups and contrasts over pairs: what must hold whatever was measured."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.statistics.differences import product_quotient, quotient_of_pairs, share_difference
from app.statistics.family import holm, p_pays, still_pay
from app.statistics.pairs import excludes_one, noise_floor, speedup

SECONDS = st.floats(0.01, 10)
PAIRS = st.lists(st.tuples(SECONDS, SECONDS), min_size=6, max_size=30)


@given(PAIRS)
def test_swapping_the_arms_inverts_the_ratio(pairs: list[tuple[float, float]]) -> None:
    """Catches a mean taken on the wrong scale: only on the log does the swap invert point and interval alike."""
    a, b = zip(*pairs, strict=True)
    there, back = speedup(a, b), speedup(b, a)
    assert there.point * back.point == pytest.approx(1)
    if there.low is not None and back.low is not None:
        assert (there.low * back.high, there.high * back.low) == pytest.approx((1, 1))


@given(PAIRS, st.floats(0.1, 100))
def test_scaling_time_leaves_the_ratio(pairs: list[tuple[float, float]], factor: float) -> None:
    """Seconds or milliseconds, a fast machine or a slow one: the ratio is the same."""
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    one, other = speedup(a, b), speedup(a * factor, b * factor)
    assert one.point == pytest.approx(other.point)
    if one.low is not None and other.low is not None:
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


@given(PAIRS)
def test_the_point_lies_between_the_prompts(pairs: list[tuple[float, float]]) -> None:
    single = [a / b for a, b in pairs]
    assert min(single) * (1 - 1e-9) <= speedup(*zip(*pairs, strict=True)).point <= max(single) * (1 + 1e-9)


def test_a_constant_effect_is_found_whatever_the_prompts_last() -> None:
    """Prompts a hundred times longer than others carry no more weight: the headline is over prompts, not over seconds."""
    plain_seconds = np.array([0.1, 10, 0.2, 20, 0.1, 5, 1, 2])
    found = speedup(plain_seconds, plain_seconds / 1.5 * np.array([1.01, 0.99] * 4))
    assert found.point == pytest.approx(1.5, rel=1e-3)
    assert found.low < 1.5 < found.high


def test_only_an_interval_without_one_is_not_level() -> None:
    level = noise_floor([1.0, 1.1, 0.9, 1.2, 1.0, 1.05, 0.97, 1.01], [1.02, 1.08, 0.91, 1.19, 1.01, 1.04, 0.99, 1.0])
    tilted = noise_floor(np.linspace(1, 2, 8), np.linspace(1, 2, 8) * np.linspace(1.09, 1.11, 8))
    assert not excludes_one(level)
    assert excludes_one(tilted)
    assert not excludes_one(Estimate(point=1.4, n=2, counted="prompts", reason=plain("few")))


def test_difference_of_equal_runs_is_nothing() -> None:
    """Catches pairs that are not paired: the same counts on both sides have no spread of differences at all."""
    side = (np.array([2.0, 4, 4, 6, 7, 8]), np.full(6, 10.0))
    found = share_difference(side, side)
    assert found.point == 0
    assert found.low is None
    assert found.reason is not None


@given(PAIRS)
def test_swapping_the_runs_inverts_the_quotient(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    ones = np.ones_like(a)
    for there, back in (
        (quotient_of_pairs(a, b), quotient_of_pairs(b, a)),
        (product_quotient([(a, 1), (ones, -1)], [(b, 1), (ones, -1)]), product_quotient([(b, 1), (ones, -1)], [(a, 1), (ones, -1)])),
    ):
        assert there.point * back.point == pytest.approx(1)
        assert there.low is None or there.low * back.high == pytest.approx(1)


def test_pairing_removes_what_both_runs_share() -> None:
    """The same prompts in two languages: the paired interval must be narrower than that of shuffled, unpaired sides."""
    source = np.random.default_rng(7)
    chance = source.uniform(0.2, 0.8, 24)
    a = (np.round(60 * chance), np.full(24, 60.0))
    b = (np.round(60 * (chance - 0.1) + source.normal(0, 1, 24)), np.full(24, 60.0))
    order = source.permutation(24)
    paired, loose = share_difference(a, b), share_difference(a, (b[0][order], b[1][order]))
    assert paired.high - paired.low < 0.5 * (loose.high - loose.low)


def _estimate(point: float, half: float, n: int = 24) -> Estimate:
    return Estimate(point=point, low=point / half, high=point * half, n=n, counted="prompts")


def test_holm_by_hand() -> None:
    """0.01·3, then 0.02·2, then 0.04·1 raised to the one before; the order given is kept."""
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])


def test_p_is_read_back_from_the_interval() -> None:
    """An interval whose end touches 1 + margin has p = 2.5 % one-sided."""
    assert p_pays(_estimate(1.1, 1.1 / 1.02), 0.02) == pytest.approx(0.025, abs=1e-9)


def test_one_of_many_needs_more() -> None:
    """A drafter that pays alone, barely, does not among five that do not."""
    barely = (_estimate(1.1, 1.1 / 1.021), 0.02)
    assert still_pay([barely]) == [True]
    assert still_pay([barely] + [(_estimate(0.9, 1.05), 0.02)] * 4)[0] is False
