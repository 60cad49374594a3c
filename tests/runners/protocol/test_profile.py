"""Profiled trials: stages, shapes and who is told, on the tiny model and on a clock that each stage moves by a known amount."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from app.domain.facts import TrialFact
from app.domain.observations import CostFact
from app.metrics.catalogue import points
from runners.clock import Clock
from runners.drafters.base import Drafter, More
from runners.engine.draft import Batch, Draft
from runners.engine.stops import StopRules
from runners.engine.target import Target
from runners.engine.toy import ToyTarget
from runners.environment import Quiet
from runners.parts import choose
from runners.protocol import profile
from runners.protocol.bench import Bench, Cancelled
from runners.protocol.profile import Profile
from tests.models import spec, tiny
from tests.runners.protocol.test_closed import Ready


class Watched:
    """The cores' counters, read as quiet or busy as a test wants them; contention of a test machine is no matter of these tests."""

    def __init__(self, others: Sequence[float]) -> None:
        self.others = list(others)

    def __call__(self, cores: list[int]) -> Any:
        return self

    def read(self) -> Quiet:
        return Quiet(load_average=None, steal=0.0, others=self.others.pop(0), clock_mhz=None)


class Ticking(Clock):
    """Shows what the stages say they took."""

    def __init__(self) -> None:
        self.shown, self.settled = 0.0, 0

    def start(self) -> None:
        self.shown = 0.0

    def now(self) -> float:
        return self.shown

    def settle(self) -> None:
        self.settled += 1


class Timed(ToyTarget):
    """A forward takes 1 s and 0.1 s for each draft column."""

    def __init__(self, clock: Ticking, slots: int) -> None:
        super().__init__(slots=slots)
        self.clock = clock

    def verify(self, batch: Batch, draft: Draft) -> torch.Tensor:
        self.clock.shown += 1.0 + 0.1 * draft.width
        return super().verify(batch, draft)

    def early(self, batch: Batch, tokens: torch.Tensor, depth: int, exit_layer: int) -> tuple[torch.Tensor, None]:
        self.clock.shown += 0.05
        return super().early(batch, tokens, depth, exit_layer)


RUNS = {0: spec("layerskip", {"exit_layer": 5}), 3: spec("layerskip", {"exit_layer": 4}, length=2)}


def measured(
    target: Target,
    clock: Clock,
    concurrency: int,
    watch: Sequence[float] = (0.0,),
    *,
    seconds: float = 1e6,
    wanted: Callable[[int], bool] = lambda _: True,
) -> list[tuple[int, Any]]:
    ready: Any = Ready(trials=2)
    ready.spec = RUNS[0].model_copy(update={"load": RUNS[0].load.model_copy(update={"concurrency": concurrency})})
    bench = Bench(target, {run: choose(asked) for run, asked in RUNS.items()}, StopRules(16), clock, wanted)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(profile, "Watch", Watched(watch))
        patched.setattr(profile, "MOST", 1e6)  # seconds of the test's clock
        return list(Profile(ready, bench, [0], seconds).run())


def of(told: list[tuple[int, Any]], run: int, kind: type) -> list[Any]:
    return [fact for each, fact in told if each == run and isinstance(fact, kind)]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_stages_take_what_they_took(concurrency: int) -> None:
    """Catches a stage that holds another's time, a proposal timed with the forward, and a plain arm that each run measures anew."""
    clock = Ticking()
    told = measured(Timed(clock, concurrency), clock, concurrency)
    for run, longest in ((0, 4), (3, 2)):
        costs = of(told, run, CostFact)
        assert {(c.stage, c.sequences, c.tokens) for c in costs} >= {
            ("step", concurrency, 0),
            ("draft", concurrency, longest),
            ("verify", concurrency, longest),
        }
        for cost in costs:
            expected = {"step": 1.0, "draft": 0.05 * cost.tokens, "verify": 1 + 0.1 * cost.tokens}[cost.stage]
            assert cost.seconds == pytest.approx([expected] * len(cost.seconds)), cost
        assert max(c.tokens for c in costs) == longest, "another run's arm leaked in"
    plain = [[c for c in of(told, run, CostFact) if c.stage == "step"] for run in RUNS]
    assert plain[0] == plain[1]
    found = points([], costs=of(told, 0, CostFact))
    assert found[f"draft_cost[{concurrency},4]"] == pytest.approx(0.2)
    assert found[f"verify_cost[{concurrency},4]"] == pytest.approx(1.4)


class Once(Drafter):
    """Drafts for the first row of a batch alone."""

    name = "once"

    def propose(self, batch: Batch, limits: Sequence[int], more: More | None = None) -> Draft:
        return Draft.from_lists([[1] * min(limits[0], 3), *([[]] * (len(batch) - 1))], self.target.device)


def test_a_mixed_step_is_one_of_its_longest_row() -> None:
    """Catches a padded forward that is booked under the number of drafts of a row that only rode along."""
    clock = Ticking()
    target = Timed(clock, 3)
    chosen = choose(RUNS[0])
    mixed = chosen.__class__(Once, None, chosen.controller, chosen.controller_params, chosen.verifier, chosen.law)
    ready: Any = Ready(trials=2)
    bench = Bench(target, {0: mixed}, StopRules(16), clock)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(profile, "Watch", Watched([0.0]))
        told = list(Profile(ready, bench, [0], 1e6).run())
    verified = {(c.sequences, c.tokens): c.seconds for c in of(told, 0, CostFact) if c.stage == "verify"}
    assert verified[3, 3] == pytest.approx([1.3] * len(verified[3, 3]))


def test_all_arms_decode_the_same_prompts_and_the_device_is_waited_for() -> None:
    """Catches arms that are stopped at different places, so that their contexts differ in length, and stages read from an unsettled device."""
    clock = Ticking()
    told = measured(Timed(clock, 1), clock, 1, seconds=200.0)
    trials = of(told, 0, TrialFact)
    assert {(t.arm, t.purpose) for t in trials} == {("plain", "profile"), ("speculative", "profile")}
    # 30 s are 15 % of 200: two turns of three arms exceed them.
    plain = next(t for t in trials if t.arm == "plain")
    assert plain.forwards < 16 * 8
    assert plain.seconds == pytest.approx(plain.forwards * 1.0)
    assert clock.settled > 4 * plain.forwards


def test_a_disturbed_trial_is_made_once_more() -> None:
    """Catches times of a busy machine that become costs."""
    clock = Ticking()
    again = measured(Timed(clock, 1), clock, 1, (0.5, 0.0))
    assert [(t.trial, t.contended) for t in of(again, 0, TrialFact) if t.arm == "plain"] == [(0, True), (1, False)]
    assert of(again, 0, CostFact)
    busy = measured(Timed(clock, 1), clock, 1, (0.5, 0.5))
    assert not of(busy, 0, CostFact)
    assert len(of(busy, 0, TrialFact)) == 4


def test_nobody_waits_for_it() -> None:
    clock = Ticking()
    with pytest.raises(Cancelled):
        measured(Timed(clock, 1), clock, 1, wanted=lambda _: False)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_on_a_real_model(concurrency: int) -> None:
    """Catches profiled decoding that decodes something else than the loop, and a mark of memory that is not the arm's own."""
    target: Any = tiny("llama", slots=concurrency)
    ready: Any = Ready(trials=2)
    bench = Bench(target, {0: choose(spec("ngram"))}, StopRules(16), Clock(torch.device("cpu")))
    ran = bench.together(0, ready.requests, concurrency)
    assert ran is not None
    rounds = sum(outcome.sequence.rounds for outcome in ran[0])
    ready.spec = ready.spec.model_copy(update={"load": ready.spec.load.model_copy(update={"concurrency": concurrency})})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(profile, "Watch", Watched([0.0]))
        told = list(Profile(ready, bench, [0], 1e6).run())
    verified = [(c.sequences, c.tokens, len(c.seconds)) for c in of(told, 0, CostFact) if c.stage == "verify"]
    if concurrency == 1:
        assert sum(times for *_, times in verified) == rounds
    assert {s for s, *_ in verified} <= set(range(1, concurrency + 1))
    trials = of(told, 0, TrialFact)
    assert [t.peak_bytes for t in trials] == [None, None], "what one arm freed stands in the mark of the next"
    assert all(t.weight_bytes and t.cache_bytes for t in trials)
