"""The break-even load, from speed-ups that are given."""

import math

import pytest

from app.domain.estimate import Estimate
from app.domain.sentence import plain
from app.reports.break_even import At, break_even
from app.reports.compare import compare
from app.reports.format import say
from tests.factories import record, run_spec
from tests.factories_load import load_record
from tests.factories_open import open_record


def at(load: float, point: float, half: float = 0.05) -> At:
    return At(load, Estimate(point=point, low=point * (1 - half), high=point * (1 + half), n=6, counted="trial pairs"))


def test_it_lies_between_the_last_faster_and_the_first_slower() -> None:
    """Catches an interval narrowed by a load that decides nothing; the point is by hand: from 1.2 at 2 to 1/1.2 at 8 it is at 4."""
    found = break_even([at(8, 1 / 1.2), at(1, 1.5), at(2, 1.2)], "count")
    assert (found.low, found.high, found.point) == (2, 8, pytest.approx(4.0))
    unsure = break_even([at(1, 1.5), at(2, 1.2), at(4, 1.01), at(8, 0.7)], "count")
    assert (unsure.low, unsure.high) == (2, 8)
    share = math.log(1.01) / (math.log(1.01) - math.log(0.7))
    assert unsure.point == pytest.approx(4 * 2**share)


@pytest.mark.parametrize(
    ("loads", "words"),
    [
        ([at(1, 1.5), at(4, 1.2)], "still faster"),
        ([at(1, 0.8), at(4, 0.5)], "slower already"),
        ([at(1, 1.02), at(4, 0.99)], "cannot be told"),
        ([at(1, 1.5), at(4, 1.01)], "cannot be told"),
        ([at(1, 0.8), at(4, 1.3)], "does not fall steadily"),
        ([at(1, 1.5), At(4, None)], "two loads"),
        ([at(1, 1.5), At(4, Estimate(point=0.5, n=2, counted="trial pairs", reason=plain("few")))], "two loads"),
    ],
)
def test_what_is_not_bracketed_is_not_named(loads: list[At], words: str) -> None:
    """Catches an extrapolated crossing, and one read off a point that has no interval."""
    found = break_even(loads, "count")
    assert (found.low, found.high, found.point) == (None, None, None)
    assert words in found.sentence.text


def test_points_that_cross_twice_give_the_interval_alone() -> None:
    found = break_even([at(1, 1.5), at(2, 0.99), at(4, 1.01), at(8, 0.7)], "count")
    assert (found.low, found.high, found.point) == (1, 8, None)


def test_runs_at_several_loads_are_a_sweep() -> None:
    """One at a time pays and four at a time is slower: it lies between 1 and 4. Loads of two kinds, or another difference, are no sweep."""
    one = record(prompts=12, passes=4, spec=run_spec(), acceptance=0.9)
    four = load_record(run=2, slow=3.0)
    found = compare([one, four]).break_even_load
    assert found is not None
    assert (found.low, found.high) == (1, 4)
    assert say(found.sentence).startswith("The break-even load lies between 1, where")
    assert compare([one, open_record(run=3)]).break_even_load is None
    rates = compare([open_record(run=4, rate=0.3), open_record(run=5, rate=0.5)]).break_even_load
    assert rates is not None
    assert say(rates.sentence) == "The break-even load is not within the loads measured: speculation is still faster at 0.5\u00a0requests/s."


def test_a_run_without_a_verdict_brackets_nothing() -> None:
    """Catches a load at which nothing was concluded, for want of prompts, taken as one at which speculation is faster."""
    faster = load_record(run=2, slow=0.5, prompts=16)
    few = record(run=1, prompts=6, passes=4, language="ru")
    found = compare([few, faster]).break_even_load
    assert found is not None
    assert (found.low, found.high, found.point) == (None, None, None)
    assert "takes the speed-up" in say(found.sentence)
