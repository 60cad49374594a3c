"""Which arm goes first."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.protocol.order import orders, williams


@pytest.mark.parametrize("arms", range(1, 10))
def test_every_arm_in_every_place_and_behind_every_other_equally_often(arms: int) -> None:
    """Catches a square in which one arm always cools down, or heats up, the same next one."""
    rows = williams(arms)
    assert all(sorted(row) == list(range(arms)) for row in rows)
    places = Counter((place, arm) for row in rows for place, arm in enumerate(row))
    assert len(places) == arms * arms
    assert len(set(places.values())) == 1
    behind = Counter(pair for row in rows for pair in pairwise(row))
    assert len(behind) == arms * (arms - 1)
    assert len(set(behind.values())) <= 1


@given(st.integers(1, 60), st.integers(2, 6), st.integers(0, 1000), st.integers(0, 9))
def test_the_second_pass_turns_every_order_round(prompts: int, arms: int, seed: int, block: int) -> None:
    """Catches an order that favours an arm: drift would then be read as speed."""
    first, second = (orders(prompts, arms, seed, block, later) for later in (False, True))
    assert [row[::-1] for row in first] == second
    assert first == orders(prompts, arms, seed, block, False)


@given(st.integers(1, 60), st.integers(0, 1000), st.integers(0, 9))
def test_two_arms_go_first_equally_often(prompts: int, seed: int, block: int) -> None:
    leading = Counter(row[0] for row in orders(prompts, 2, seed, block, False))
    assert abs(leading[0] - leading[1]) <= 1


def test_blocks_and_seeds_differ() -> None:
    """Catches an order that is the same in every block."""
    found = {tuple(map(tuple, orders(24, 2, seed, block, False))) for seed in range(3) for block in range(3)}
    assert len(found) == 9
