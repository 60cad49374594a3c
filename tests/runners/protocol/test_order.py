"""Which arm goes first."""

from hypothesis import given
from hypothesis import strategies as st

from runners.protocol.order import plain_first


@given(st.integers(1, 60), st.integers(0, 1000), st.integers(0, 9))
def test_balanced_within_a_pass_and_swapped_in_the_next(prompts: int, seed: int, block: int) -> None:
    """Catches an order that favours an arm: drift would then be read as speed."""
    first, second = plain_first(prompts, seed, block, False), plain_first(prompts, seed, block, True)
    assert abs(sum(first) - sum(second)) <= 1
    assert [not x for x in first] == second
    assert first == plain_first(prompts, seed, block, False)


def test_blocks_and_seeds_differ() -> None:
    """Catches an order that is the same in every block."""
    orders = {tuple(plain_first(24, seed, block, False)) for seed in range(3) for block in range(3)}
    assert len(orders) == 9
