"""When a machine counts as warm."""

from runners.protocol.warmup import medians, steady


def test_three_level_groups_are_steady() -> None:
    """Catches a rule that looks at means, which one slow step would move."""
    steps = [1.0] * 7 + [9.0] + [1.01] * 8 + [1.0] * 8
    assert medians(steps) == [1.0, 1.01, 1.0]
    assert steady(steps)


def test_a_drifting_machine_is_not_steady() -> None:
    assert not steady([1.0] * 8 + [1.01] * 8 + [1.03] * 8)


def test_too_few_steps_are_not_steady() -> None:
    """Catches a warm-up that ends before there is anything to compare."""
    assert not steady([1.0] * 23)


def test_only_the_last_three_groups_count() -> None:
    assert steady([5.0] * 16 + [1.0] * 24)
