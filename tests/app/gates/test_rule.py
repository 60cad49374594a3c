"""A gate never says more than an interval does."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gates.rule import Answer, confirmed, judge, together

ANSWERS: tuple[Answer, ...] = ("holds", "does not hold", "could not be measured", "cannot tell")
finite = st.floats(-1e6, 1e6)


@given(finite, finite, finite)
def test_an_interval_around_its_bound_decides_nothing(a: float, b: float, bound: float) -> None:
    """Catches a gate that holds, or fails, by its point: with the bound strictly inside the interval nothing may be said."""
    low, high = min(a, b), max(a, b)
    least, most = judge(low, high, least=bound), judge(low, high, most=bound)
    if low < bound < high:
        assert least == most == "cannot tell"
    assert (least == "holds") == (low >= bound)
    assert (least == "does not hold") == (high < bound)
    assert (most == "holds") == (high <= bound)
    assert (most == "does not hold") == (low > bound)
    # No number beyond either end changes the answer towards the end that it is beyond.
    assert judge(low, high, least=math.nextafter(low, -math.inf)) == "holds"
    assert judge(low, high, most=math.nextafter(high, math.inf)) == "holds"


@pytest.mark.parametrize(
    ("low", "high", "least", "most"),
    [
        (1.1, 1.2, "holds", "does not hold"),
        (1.05, 1.2, "holds", "cannot tell"),
        (1.0, 1.1, "cannot tell", "cannot tell"),
        (1.0, 1.05, "cannot tell", "holds"),
        (0.9, 1.0, "does not hold", "holds"),
        (1.05, 1.05, "holds", "holds"),
    ],
)
def test_every_place_of_an_interval(low: float, high: float, least: str, most: str) -> None:
    """The table of 1.05 against intervals above, at, around and below it."""
    assert (judge(low, high, least=1.05), judge(low, high, most=1.05)) == (least, most)


def test_one_bound_at_a_time() -> None:
    with pytest.raises(ValueError, match="one bound"):
        judge(0, 1)
    with pytest.raises(ValueError, match="one bound"):
        judge(0, 1, least=0, most=1)


def test_only_what_fails_twice_fails() -> None:
    """Catches a repeat that turns a pass into a failure, and a failure that stands although its repeat says otherwise."""
    for first, repeat in itertools.product(ANSWERS, ANSWERS):
        both = confirmed(first, repeat)
        assert (both == "does not hold") == (first == repeat == "does not hold")
        assert (both == "holds") == (first == "holds")


def test_a_gate_holds_only_whole() -> None:
    """Catches a gate that holds although one of its checks does not say so."""
    for answers in itertools.product(ANSWERS, repeat=3):
        found = together(answers)
        assert (found == "holds") == (set(answers) == {"holds"})
        assert ("does not hold" in answers) == (found == "does not hold")
    with pytest.raises(ValueError, match="without a check"):
        together([])
