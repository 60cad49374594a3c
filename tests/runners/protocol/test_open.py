"""Arrivals through the loop and the blocks of an open load, on a clock that only simulates: every time is known to the digit."""

from collections import Counter
from typing import Any

import pytest
import torch

from app.domain.facts import FACT, RequestFact, TrialFact
from runners.clock import Clock
from runners.controllers.constant import Constant, ConstantParams
from runners.drafters.base import Params
from runners.drafters.none import NoDrafter
from runners.engine.draft import Batch, Draft
from runners.engine.loop import Loop
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.engine.toy import ToyTarget
from runners.loads.open import arrivals
from runners.measure import KINDS
from runners.parts import choose
from runners.protocol.bench import Bench
from runners.verifiers.base import NoParams
from runners.verifiers.exact import Exact
from tests.models import spec, tiny
from tests.runners.protocol.test_closed import Ready

STEP = 1.0


class Simulated(Clock):
    """Stands still unless something takes time; waiting is skipped and kept in `waits`."""

    def __init__(self) -> None:
        super().__init__(torch.device("cpu"))
        self.seconds = 0.0
        self.waits: list[float] = []

    def start(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def wait_until(self, seconds: float) -> None:
        self.waits.append(seconds - self.seconds)
        self.seconds = max(self.seconds, seconds)


class Slow(ToyTarget):
    """A toy whose every forward takes a second, whoever rides in it."""

    def __init__(self, clock: Simulated, slots: int) -> None:
        super().__init__(slots=slots)
        self.clock = clock

    def verify(self, batch: Batch, draft: Draft) -> torch.Tensor:
        self.clock.seconds += STEP
        return super().verify(batch, draft)


def served(planned: list[float], concurrency: int, tokens: int = 3, **more: Any) -> tuple[dict[str, Sequence], Simulated]:
    clock = Simulated()
    target = Slow(clock, concurrency)
    loop = Loop(target, NoDrafter(Params(), target), Constant(ConstantParams()), Exact(NoParams()), StopRules(tokens), clock)
    requests = [Request(f"p{i}", (0, 1, 2, 3 + i), planned_at=at) for i, at in enumerate(planned)]
    return {s.request.prompt: s for s in loop.run(requests, concurrency, **more)}, clock


def test_a_request_waits_for_its_arrival_and_an_idle_loop_for_the_next() -> None:
    """Catches arrivals that are served early, and a loop that spins through idle time instead of waiting for it."""
    found, clock = served([2.0, 10.0], 1)
    assert [(s.sent_at, s.step_end[-1]) for s in found.values()] == [(2.0, 5.0), (10.0, 13.0)]
    assert len(clock.waits) == 4 + 10
    assert max(clock.waits) == 0.5
    assert sum(clock.waits) == pytest.approx(2.0 + 5.0)


def test_a_late_request_does_not_move_the_ones_behind_it() -> None:
    """Catches drift: arrivals counted from the last answer are a closed load, and queueing then hides in no figure at all."""
    found, _ = served([0.0, 1.0, 2.0, 30.0], 1)
    assert [s.sent_at for s in found.values()] == [0.0, 3.0, 6.0, 30.0]
    assert [s.sent_at - (s.request.planned_at or 0.0) for s in found.values()] == [0.0, 2.0, 4.0, 0.0]


def test_who_arrives_while_others_decode_joins_them() -> None:
    """Catches slots that take nobody in before all of them are free, and more requests in flight than slots."""
    found, _ = served([0.0, 0.5, 0.6], 2)
    assert [s.sent_at for s in found.values()] == [0.0, 1.0, 3.0]
    assert [s.step_end[-1] for s in found.values()] == [3.0, 4.0, 6.0]


def test_a_wait_ends_when_nobody_wants_the_run() -> None:
    """Catches a cancelled run that sleeps until an arrival an hour away."""
    asked = iter([False] * 3 + [True] * 10)
    found, clock = served([3600.0], 1, cancelled=lambda: next(asked))
    assert found == {}
    assert clock.seconds < 5


def test_a_real_clock_sleeps_until_it_is_time() -> None:
    """Catches a wait in the wrong unit, and one that ends early."""
    clock = Clock(torch.device("cpu"))
    clock.start()
    clock.wait_until(0.05)
    assert clock.now() >= 0.05
    clock.wait_until(0.0)


@pytest.fixture(scope="module")
def facts() -> list[Any]:
    ready: Any = Ready(trials=2)
    load = {"kind": "open", "rate": 2.0, "concurrency": 2}
    ready.spec = ready.spec.model_validate(ready.spec.model_dump() | {"load": load})
    bench = Bench(tiny("llama", slots=2), {0: choose(ready.spec)}, StopRules(6), Simulated())
    told = KINDS[ready.spec.load.regime]({0: ready}, bench, [0], lambda *_: None).headline()
    return [fact for _, fact in told]


def test_both_arms_of_a_pair_share_their_arrivals_and_pairs_do_not(facts: list[Any]) -> None:
    """Catches arms weighed under different luck, and a run whose pairs all repeat one pattern of arrivals."""
    planned: dict[tuple[int, str], tuple[Any, ...]] = {}
    for trial in range(4):
        for arm in ("plain", "speculative"):
            own = [f for f in facts if isinstance(f, RequestFact) and (f.trial, f.arm) == (trial, arm)]
            planned[trial, arm] = tuple(sorted((f.planned_at, f.prompt) for f in own))
            assert len({f.prompt for f in own}) == len(own) == 9
    assert all(planned[trial, "plain"] == planned[trial, "speculative"] for trial in range(4))
    assert len({planned[trial, "plain"] for trial in range(4)}) == 4
    assert [at for at, _ in planned[0, "plain"]] == arrivals(9, 2.0, 1.0, f"{spec().sampling.seed}:0")


def test_blocks_are_those_of_trial_pairs(facts: list[Any]) -> None:
    """Catches an open load measured prompt by prompt, and facts that would not come back from their own JSON."""
    trials = [f for f in facts if isinstance(f, TrialFact)]
    # A busy machine repeats a block, under a number of its own.
    blocks = {t.block for t in trials}
    assert blocks >= {0, 1}
    assert Counter((t.block, t.arm) for t in trials) == dict.fromkeys([(b, a) for b in blocks for a in ("plain", "speculative")], 2)
    assert all(FACT.validate_json(f.model_dump_json()) == f for f in facts)
    assert all(f.sent_at >= f.planned_at for f in facts if isinstance(f, RequestFact))
