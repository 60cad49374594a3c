"""Expected tokens over measured seconds."""

import itertools

import pytest

from runners.controllers._step_times import StepTimes, between
from runners.controllers.goodput import ENOUGH, Goodput, GoodputParams


def warmed(seconds: dict[tuple[int, int], float], **params: float) -> Goodput:
    """A controller whose warm-up measured these cells, (rows, width) → seconds."""
    controller = Goodput(GoodputParams(**params))  # type: ignore[arg-type]
    controller.reset()
    for (rows, width), took in seconds.items():
        for _ in range(ENOUGH):
            controller.stepped([width] * rows, took)
    controller.settle()
    controller.reset()
    return controller


def told(controller: Goodput, share: float, rounds: int = 400) -> None:
    """Rounds of 4 drafts in which that share of tokens is kept, evenly spread: runs of kept ones between single rejected ones."""
    controller.begin(0)
    position = 0
    for _ in range(rounds):
        kept = 0
        while kept < 4 and int((position + 1) * share) > int(position * share):
            kept, position = kept + 1, position + 1
        position += 1 if kept < 4 else 0
        controller.observe(0, 4, kept)


COSTS = {(1, n): 1.0 + 0.2 * n for n in (0, 1, 2, 4, 8)}


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_it_asks_for_the_length_with_most_expected_tokens_a_second(share: float) -> None:
    """Catches a wrong expectation or an off-by-one, against the closed form at the acceptance that it estimates."""
    controller = warmed(COSTS)
    told(controller, share)
    a = controller._own[0].share
    assert a == pytest.approx(share, abs=0.12)
    best = max(range(9), key=lambda n: (1 - a ** (n + 1)) / (1 - a) / (1.0 + 0.2 * n))
    assert controller.lengths([0]) == [best]


def test_the_estimate_does_not_depend_on_how_many_are_drafted() -> None:
    """Catches kept ÷ drafted as the chance of a token, which falls with the length of drafts that are cut off by their first rejected token."""
    found = []
    for n in (1, 2, 8):
        controller = warmed(COSTS, memory=0.999)
        controller.begin(0)
        # Every fourth token is rejected: 3 kept, then 1 that is not.
        stream = itertools.cycle([True, True, True, False])
        for _ in range(4000):
            kept = 0
            while kept < n and next(stream):
                kept += 1
            controller.observe(0, n, kept)
        found.append(controller._own[0].share)
    assert found == pytest.approx([0.75] * 3, abs=0.01)


def test_it_drafts_nothing_where_drafts_are_never_kept_but_goes_on_probing() -> None:
    """Catches a controller that pays for drafts for ever, and one that never looks again."""
    controller = warmed(COSTS, probe=10)
    controller.begin(0)
    wishes = []
    for _ in range(100):
        wish = controller.lengths([0])[0]
        if wish:
            controller.observe(0, wish, 0)
        controller.stepped([wish], 1.0)
        wishes.append(wish)
    late = wishes[30:]
    assert set(late) == {0, 1}
    assert 5 <= sum(late) <= 7
    controller.observe(0, 1, 1)
    for _ in range(60):
        wish = controller.lengths([0])[0]
        if wish:
            controller.observe(0, wish, wish)
    assert controller.lengths([0])[0] > 1


def test_a_busy_batch_drafts_less() -> None:
    """Catches a table that is not kept apart by rows: the same acceptance, but drafts cost more where the batch is full."""
    controller = warmed(COSTS | {(8, n): 1.0 + 1.2 * n for n in (0, 1, 2, 4, 8)})
    for slot in range(8):
        controller.begin(slot)
        controller.observe(slot, 4, 3)
    assert controller.lengths([0])[0] > 1
    assert controller.lengths(list(range(8))) == [0] * 8


def test_times_stand_still_after_the_warm_up_unless_online() -> None:
    """Catches greedy repeats that differ because a later trial was slower."""
    for online in (False, True):
        controller = warmed(COSTS, online=online)
        controller.begin(0)
        before = controller.lengths([0])
        for _ in range(40):
            controller.stepped(before, 100.0)
        assert controller.timed == online
        assert (controller.lengths([0]) != before) == online
        controller.reset()
        controller.begin(0)
        assert controller.lengths([0]) == before


def test_the_warm_up_asks_until_every_length_is_measured() -> None:
    """Catches a table with holes, and a warm-up that waits for ever for lengths that the drafter cannot give."""
    for can_give in (8, 1):
        controller = Goodput(GoodputParams(longest=8))
        controller.begin(0)
        asked = []
        while not controller.warm(1):
            asked.append(controller.lengths([0])[0])
            controller.stepped([min(asked[-1], can_give)], 1.0)
        assert set(asked) == {0, 1, 2, 4, 8}
        assert len(asked) == (25 if can_give == 8 else 60)


def test_seconds_between_cells_lie_on_lines() -> None:
    cells = {0: 1.0, 2: 2.0, 4: 6.0}
    assert [between(cells, n) for n in range(6)] == [1.0, 1.5, 2.0, 4.0, 6.0, 8.0]
    assert [between({1: 3.0}, n) for n in range(3)] == [3.0] * 3
    assert between({0: 2.0, 1: 1.0}, 5) == 1.0


def test_batches_between_measured_ones_lie_between_them() -> None:
    times = StepTimes()
    assert times.curve(1, 1) is None
    for rows, seconds in ((1, 1.0), (5, 3.0)):
        times.add(rows, 0, seconds)
        times.add(rows, 1, 2 * seconds)
    assert times.curve(3, 1) == [2.0, 4.0]
    assert times.curve(9, 1) == [3.0, 6.0]


def test_a_longer_draft_is_never_faster() -> None:
    """Catches a cell that was measured in a lucky moment and draws all drafts to its length."""
    times = StepTimes()
    for width, seconds in ((0, 2.0), (1, 1.0), (2, 3.0)):
        times.add(1, width, seconds)
    assert times.curve(1, 2) == [2.0, 2.0, 3.0]


def test_one_slow_step_moves_nothing() -> None:
    """Catches a mean: the first step of a shape may load kernels."""
    times = StepTimes()
    for seconds in (50.0, 1.0, 1.1):
        times.add(1, 0, seconds)
    assert times.curve(1, 0) == [1.1]
