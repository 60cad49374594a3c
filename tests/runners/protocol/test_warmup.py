"""When a machine counts as warm."""

import pytest
import torch

from runners.clock import Clock
from runners.controllers.goodput import Goodput
from runners.engine.stops import StopRules
from runners.parts import choose
from runners.protocol.bench import Bench
from runners.protocol.warmup import medians, steady, warm_up
from tests.models import prompts, spec, tiny


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


@pytest.mark.parametrize("concurrency", [1, 3])
def test_it_goes_on_until_a_controller_has_its_step_times(concurrency: int) -> None:
    """Catches trials that a controller enters without having seen steps of their shape, and a reset that throws away what the warm-up showed."""
    clock, asked = Clock(torch.device("cpu")), spec("layerskip", {"exit_layer": 2}, controller="goodput", longest=4)
    bench = Bench(tiny("llama", slots=concurrency), {0: choose(asked)}, StopRules(24), clock)
    controller = bench.arms[0].controller
    assert isinstance(controller, Goodput)
    assert not controller.warm(concurrency)
    found = warm_up(bench, prompts(6), concurrency, limit=30.0)
    bench.reset()
    assert controller.warm(1)
    assert controller.warm(concurrency)
    assert controller._settled is not None
    assert found[0].drafted > 0
