"""Planned arrivals are what an open load is: a wrong law of theirs is another load under the right name."""

from itertools import pairwise
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners.loads.open import arrivals


@pytest.mark.parametrize("burstiness", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("rate", [0.5, 20.0])
def test_gaps_have_the_mean_and_the_spread_of_their_law(rate: float, burstiness: float) -> None:
    """Catches scale and shape swapped, which keeps the mean right at burstiness 1 only, and a burstiness that does nothing."""
    times = arrivals(20_000, rate, burstiness, "a")
    gaps = [after - before for before, after in pairwise([0.0, *times])]
    assert fmean(gaps) == pytest.approx(1 / rate, rel=0.05)
    assert stdev(gaps) / fmean(gaps) == pytest.approx(burstiness**-0.5, rel=0.06)


def test_a_burstiness_of_one_is_a_poisson_process() -> None:
    """Catches a law that has the exponential's two moments but not its shape: counts in fixed intervals would not be Poisson."""
    times = arrivals(40_000, 1.0, 1.0, "b")
    counts = [0] * int(times[-1])
    for at in times:
        if at < len(counts):
            counts[int(at)] += 1
    for n, share in ((0, 0.3679), (1, 0.3679), (2, 0.1839), (3, 0.0613)):
        assert counts.count(n) / len(counts) == pytest.approx(share, abs=0.01)


@settings(max_examples=50)
@given(n=st.integers(1, 60), rate=st.floats(0.01, 1000), burstiness=st.floats(0.05, 50), seed=st.text(max_size=8))
def test_arrivals_stand_in_order_and_repeat(n: int, rate: float, burstiness: float, seed: str) -> None:
    """Catches arms of one pair that would be sent at different times, and a request before the one in front of it."""
    found = arrivals(n, rate, burstiness, seed)
    assert len(found) == n
    assert found[0] >= 0
    assert all(before <= after for before, after in pairwise(found))
    assert found == arrivals(n, rate, burstiness, seed)
    assert arrivals(n, 2 * rate, burstiness, seed) == pytest.approx([at / 2 for at in found])


def test_another_seed_is_another_pattern() -> None:
    assert arrivals(8, 1.0, 1.0, "1:0") != arrivals(8, 1.0, 1.0, "1:1")
