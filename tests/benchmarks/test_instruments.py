"""What benchmarks put around our loop, on tiny models and a clock that ticks when it is read."""

from typing import Any

import pytest
import torch

from benchmarks.bare import BARE_SLOT, Beside
from benchmarks.forwards import Forwards
from runners.clock import Clock
from runners.engine.loop import Loop
from runners.engine.stops import StopRules
from tests.models import loop_of, plain_loop, prompts, spec, tiny

TOKENS, EXIT = 8, 2


class Ticking(Clock):
    """Every reading is a second later than the one before it."""

    def __init__(self) -> None:
        super().__init__(torch.device("cpu"))
        self.time = 0.0

    def now(self) -> float:
        self.time += 1.0
        return self.time


def ticking(loop: Loop) -> Any:
    loop.clock = Ticking()
    return loop


@pytest.mark.parametrize(("drafter", "forwards"), [("none", TOKENS - 1), ("layerskip", None)])
def test_every_module_of_the_model_is_inside_a_forward(drafter: str, forwards: int | None) -> None:
    """Catches a head or a stretch of layers that counts as time outside, and a stretch that is counted twice."""
    target: Any = tiny("llama")
    rules = StopRules(TOKENS)
    loop = ticking(plain_loop(target, rules) if drafter == "none" else loop_of(target, spec(drafter, {"exit_layer": EXIT}), rules))
    outside: list[str] = []
    with Forwards(target, loop.clock, {0, EXIT, target.layers}) as watching:
        for name, module in target.ours.named_modules():
            if not list(module.children()):
                module.register_forward_pre_hook(lambda *_, name=name: None if watching.computing else outside.append(name))
        ended = loop.run(prompts(1), 1)[0].step_end
    assert outside == []
    assert all(after > before for before, after in watching.spans)
    assert all(later[0] >= earlier[1] for earlier, later in zip(watching.spans, watching.spans[1:], strict=False))
    if forwards is not None:
        parts = 6  # embedding, angles, two stretches of layers, norm, head
        assert watching.between(ended[0], ended[-1]) == parts * forwards


def test_what_the_bare_loop_takes_is_not_charged_to_ours() -> None:
    """Catches bare steps inside our time, a prefill that only one of them pays, and a bare loop that decodes something else."""
    target: Any = tiny("llama")
    loop = ticking(plain_loop(target, StopRules(TOKENS)))
    verify, prefill = target.verify, target.prefill

    def slow(work: Any, slot_of: Any) -> Any:
        def run(*given: Any) -> Any:
            loop.clock.time += 1_000_000.0 if slot_of(*given) == BARE_SLOT else 1_000.0
            return work(*given)

        return run

    target.verify = slow(verify, lambda batch, _: batch.slots[0])
    target.prefill = slow(prefill, lambda slot, _: slot)
    bare, ours = Beside.of(loop).both(prompts(1)[0])
    assert bare == pytest.approx(1_000_000 * TOKENS, rel=1e-3)
    assert ours == pytest.approx(1_000 * TOKENS, rel=0.1)
