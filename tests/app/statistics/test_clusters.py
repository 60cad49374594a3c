"""Hand-sized golden values, the boundary cases, and what must hold for any counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.statistics.clusters import geometric_mean, mean_share, product, ratio, residual_error, share
from app.statistics.student import quantile, upper_tail

COUNTS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)).map(lambda pair: (min(pair), max(pair))), min_size=6, max_size=30)


def test_students_t_is_the_tables() -> None:
    """Catches one-sided quantiles used as two-sided ones, and the normal used for t."""
    assert quantile(0.95, 7) == pytest.approx(2.364624, abs=1e-6)
    assert quantile(0.95, 23) == pytest.approx(2.068658, abs=1e-6)
    assert upper_tail(2.364624, 7) == pytest.approx(0.025, abs=1e-6)


def test_share_by_hand() -> None:
    """Six prompts, D = 10 each, V = 2 4 4 6 6 8: p = 0.5, residuals −3 −1 −1 1 1 3, Σe² = 22, s.e. = √(6/5·22)/60 = 0.085635."""
    found = share([2, 4, 4, 6, 6, 8], [10] * 6)
    half = 2.570582 * 0.085635 / 0.25
    assert found.point == 0.5
    assert (found.low, found.high) == pytest.approx((1 / (1 + math.exp(half)), 1 / (1 + math.exp(-half))), rel=1e-4)
    assert (found.n, found.counted, found.level) == (6, "prompts", 0.95)


def test_ratio_by_hand() -> None:
    """The same residuals on the log: 0.5·exp(±2.570582·0.085635/0.5), and an offset that is added after the interval."""
    found, raised = ratio([2, 4, 4, 6, 6, 8], [10] * 6), ratio([2, 4, 4, 6, 6, 8], [10] * 6, offset=1.0)
    factor = math.exp(2.570582 * 0.085635 / 0.5)
    assert (found.low, found.high) == pytest.approx((0.5 / factor, 0.5 * factor), rel=1e-4)
    assert (raised.point, raised.low, raised.high) == pytest.approx((1.5, 1 + 0.5 / factor, 1 + 0.5 * factor), rel=1e-4)


def test_geometric_mean_by_hand() -> None:
    """Logs 0, 0, 0, ln 2, ln 2, ln 2: mean ln 2 / 2, s = ln 2 · √0.3."""
    found = geometric_mean([1, 1, 1, 2, 2, 2])
    assert found.point == pytest.approx(math.sqrt(2))
    assert found.high == pytest.approx(math.sqrt(2) * math.exp(2.570582 * math.log(2) * math.sqrt(0.3) / math.sqrt(6)), rel=1e-5)


@pytest.mark.parametrize(
    ("numerator", "denominator", "point", "words"),
    [
        ([0] * 8, [10] * 8, 0.0, "0% or 100%"),
        ([10] * 8, [10] * 8, 1.0, "0% or 100%"),
        ([1, 2, 3, 4, 5], [10] * 5, 0.3, "fewer than"),
        ([4], [10], 0.4, "one request"),
        ([4] * 8, [10] * 8, 0.4, "same value"),
        ([0] * 8, [0] * 8, None, "divided by is 0"),
        ([3] * 4 + [2, 0, 0, 0, 0], [10] * 4 + [9, 0, 0, 0, 0], 14 / 49, "fewer than"),
    ],
)
def test_no_interval_without_ground(numerator: list[int], denominator: list[int], point: float | None, words: str) -> None:
    """Catches an interval of width 0, a point of 0 for what is absent, and prompts without drafts passing for evidence."""
    found = share(numerator, denominator)
    assert found.point == (None if point is None else pytest.approx(point))
    assert found.low is None
    assert found.reason is not None
    assert words in found.reason.text


def test_totals_have_no_interval() -> None:
    found = share([11], [940], totals=1)
    assert found.low is None
    assert found.counted == "requests"
    assert found.reason is not None
    assert "totals" in found.reason.text


def test_a_ratio_of_zero_has_no_logarithm() -> None:
    assert ratio([0] * 8, [5] * 8).low is None
    assert geometric_mean([0, 1, 2, 3, 4, 5]).point is None


@given(COUNTS)
def test_estimates_stay_inside_the_sample(counts: list[tuple[int, int]]) -> None:
    """Σ/Σ lies between the least and the greatest prompt, the mean too; an interval stays inside (0, 1) and around its point."""
    x, y = [a for a, _ in counts], [b for _, b in counts]
    single = [a / b for a, b in counts]
    for found in (share(x, y), mean_share(single)):
        assert found.point is not None
        assert min(single) - 1e-12 <= found.point <= max(single) + 1e-12
        assert found.low is None or 0 <= found.low <= found.point <= found.high <= 1


@given(COUNTS, st.randoms(use_true_random=False))
def test_order_of_prompts_is_irrelevant(counts: list[tuple[int, int]], random: object) -> None:
    shuffled = counts.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    a, b = (share([x for x, _ in each], [y for _, y in each]) for each in (counts, shuffled))
    assert a.point == pytest.approx(b.point)
    assert (a.low is None) == (b.low is None)
    assert a.low is None or (a.low, a.high) == pytest.approx((b.low, b.high), rel=1e-9)


@given(COUNTS)
def test_interval_narrows_with_more_of_the_same(counts: list[tuple[int, int]]) -> None:
    """The same prompts four times over: the same point, a narrower interval."""
    x, y = [a for a, _ in counts], [b for _, b in counts]
    once, often = share(x, y), share(x * 4, y * 4)
    assert once.point == pytest.approx(often.point)
    if once.low is not None and often.low is not None:
        assert often.high - often.low < once.high - once.low


def test_nothing_above_the_least_has_no_interval() -> None:
    """Catches a logarithm of what is 0 or, counted wrongly elsewhere, below it."""
    for found in (geometric_mean([1.0] * 8, least=1.0), ratio([0, 1, -2, 0, 0, 0, 0, 0], [5] * 8, offset=1.0)):
        assert (found.low, found.high) == (None, None)
        assert found.reason is not None
        assert found.reason.text.startswith("No interval: nothing was counted above 0")


def test_product_of_two_terms_is_the_ratio() -> None:
    """Catches a product whose influences differ from the residuals of the ratio that it generalises."""
    x, y = np.array([2.0, 4, 4, 6, 7, 8]), np.array([10.0, 9, 11, 10, 12, 10])
    one, other = ratio(x, y), product([(x, 1), (y, -1)])
    assert (one.point, one.low, one.high) == pytest.approx((other.point, other.low, other.high), rel=1e-12)


def test_clusters_that_carry_nothing_are_told_and_not_counted() -> None:
    """Two of three prompts drafted, V/D = 2/10 and 4/10: 0.3 over 2 of 3. Six of eight: the golden interval of the six, n = 6."""
    few, enough = share([2, 4, 0], [10, 10, 0]), share([2, 4, 4, 6, 6, 8, 0, 0], [10] * 6 + [0, 0])
    six = share([2, 4, 4, 6, 6, 8], [10] * 6)
    assert (few.point, few.n, few.of) == (pytest.approx(0.3), 2, 3)
    assert few.reason is not None
    assert few.reason.values["prompts"] == 2
    assert (enough.n, enough.of, six.n, six.of) == (6, 8, 6, None)
    assert (enough.low, enough.high) == pytest.approx((six.low, six.high), rel=1e-12)
    none = share([0, 0, 0], [0, 0, 0])
    assert (none.point, none.n, none.of) == (None, 0, 3)


@given(COUNTS, st.integers(0, 30))
def test_n_is_the_degrees_of_freedom_and_one(counts: list[tuple[int, int]], empty: int) -> None:
    """Catches an n that counts prompts on which the interval does not rest, in shares, ratios and products alike."""
    x, y = (np.array([*(pair[i] for pair in counts), *[0] * empty], dtype=float) for i in (0, 1))
    for found in (share(x, y), ratio(x, y), product([(x, 1), (y, -1)])):
        assert (found.n, found.of) == (len(counts), len(counts) + empty if empty else None)
    found = ratio(x, y)
    if found.low is not None and found.point is not None:
        half = quantile(0.95, found.n - 1) * residual_error(x, y) / found.point
        assert math.log(found.high / found.low) / 2 == pytest.approx(half, rel=1e-9)
        of_product = product([(x, 1), (y, -1)])
        assert (of_product.low, of_product.high) == pytest.approx((found.low, found.high), rel=1e-9)
