"""A bandit over draft lengths, with tokens per second for reward."""

from collections import Counter

from runners.controllers.bandit import Bandit, BanditParams


def play(controller: Bandit, seconds: list[float], kept: list[int], steps: int, rows: int = 1) -> list[int]:
    """Steps that take `seconds[n]` and keep `kept[n]` of n drafts in every row; the lengths chosen."""
    chosen = []
    for _ in range(steps):
        n = controller.lengths(list(range(rows)))[0]
        for slot in range(rows if n else 0):
            controller.observe(slot, n, kept[n])
        controller.stepped([n] * rows, seconds[n])
        chosen.append(n)
    return chosen


def test_it_comes_to_the_length_with_most_tokens_a_second() -> None:
    """Catches reward by acceptance alone, or by time alone: rates are 1, 1.5, 1.33, 1.25 tokens a second."""
    controller = Bandit(BanditParams(longest=3))
    chosen = play(controller, [1.0, 4 / 3, 2.25, 3.2], [0, 1, 2, 3], 600)
    assert set(chosen[:4]) == {0, 1, 2, 3}
    assert Counter(chosen[300:]).most_common(1)[0][0] == 1


def test_no_draft_is_an_arm_and_can_win() -> None:
    controller = Bandit(BanditParams(longest=3))
    chosen = play(controller, [1.0, 1.5, 2.0, 2.5], [0, 0, 0, 0], 400)
    assert Counter(chosen).most_common(1)[0][0] == 0


def test_batch_sizes_learn_apart() -> None:
    """Catches one row's lesson applied to a full batch: drafts pay alone and do not among eight."""
    controller = Bandit(BanditParams(longest=2))
    for _ in range(20):
        alone = play(controller, [1.0, 1.1, 1.2], [0, 1, 2], 20)
        full = play(controller, [1.0, 3.0, 5.0], [0, 1, 2], 20, rows=8)
    assert Counter(alone).most_common(1)[0][0] == 2
    assert Counter(full).most_common(1)[0][0] == 0


def test_a_rate_is_a_sum_over_a_sum() -> None:
    """Catches the mean of rates of single steps: one lucky fast step would outweigh many slow ones."""
    controller = Bandit(BanditParams(longest=1, exploration=0.0))
    controller.lengths([0])
    controller.stepped([0], 1.0)
    # Length 1: steps of 0.1 s and of 9.9 s, 2 tokens each. Mean of rates 10.1, rate 0.4, against 1.
    for seconds in (0.1, 9.9):
        controller._bins[0].asked = 1
        controller._under.bin = controller._bins[0]
        controller.observe(0, 1, 1)
        controller.stepped([1], seconds)
    assert controller.lengths([0]) == [0]


def test_discount_follows_a_change() -> None:
    """Catches a discount that does nothing: after the best length changes, only a bandit that forgets leaves it soon."""
    shares = {}
    for discount in (1.0, 0.95):
        controller = Bandit(BanditParams(longest=1, discount=discount))
        play(controller, [1.0, 1.0], [0, 1], 1000)
        after = play(controller, [1.0, 1.0], [0, 0], 200)
        late = play(controller, [0.5, 1.0], [0, 0], 200)
        shares[discount] = sum(n == 0 for n in after + late)
    assert shares[0.95] > 250
    assert shares[0.95] > 1.5 * shares[1.0]


def test_a_step_after_a_reset_is_not_credited() -> None:
    """Catches a trial whose last step is credited to the next one."""
    controller = Bandit(BanditParams(longest=1))
    controller.lengths([0])
    controller.reset()
    controller.stepped([0], 1.0)
    assert controller.lengths([0]) == [0]
