"""Several speculative arms beside one plain arm: to each run its facts must look as if it had been measured alone."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from app.domain.facts import FACT, RequestFact, TrialFact
from runners.clock import Clock
from runners.engine.stops import StopRules
from runners.environment import Quiet
from runners.parts import choose
from runners.protocol.bench import Bench, Cancelled
from runners.protocol.closed import ClosedTrials
from runners.protocol.control import Control
from runners.protocol.paired import PairedTrials
from runners.protocol.trials import Told, Trials
from runners.protocol.warmup import warm_up
from tests.models import prompts, spec, tiny
from tests.runners.protocol.test_closed import Ready
from tests.simulated import NoWatch

RUNS = {0: spec("ngram"), 1: spec("layerskip", {"exit_layer": 2}), 2: spec("layerskip", {"exit_layer": 4}, length=2)}


def trials_of(concurrency: int, wanted: Callable[[int], bool] = lambda _: True) -> Trials:
    target: Any = tiny("llama", slots=concurrency)
    rules, clock = StopRules(12), Clock(torch.device("cpu"))
    readies: dict[int, Any] = {}
    for run, asked in RUNS.items():
        readies[run] = Ready(trials=2)
        readies[run].spec = asked.model_copy(update={"trials": 2, "load": asked.load.model_copy(update={"concurrency": concurrency})})
    chosen = {run: choose(asked) for run, asked in RUNS.items()}
    control = Control(target, rules, clock) if concurrency == 1 else None
    bench = Bench(target, chosen, rules, clock, wanted, control)
    kind: type[Trials] = PairedTrials if concurrency == 1 else ClosedTrials
    watch: Any = NoWatch
    return kind(readies, bench, [0], lambda _run, _fact: None, watch)


@pytest.fixture(scope="module", params=[1, 3])
def told(request: pytest.FixtureRequest) -> list[Told]:
    return list(trials_of(request.param).headline())


def requests(told: list[Told], run: int, arm: str) -> list[RequestFact]:
    return [fact for of, fact in told if of == run and isinstance(fact, RequestFact) and fact.arm == arm]


def test_every_run_has_a_plain_and_a_speculative_arm_of_its_own(told: list[Told]) -> None:
    """Catches a run without plain facts, and a speculative arm told to another run."""
    for run, asked in RUNS.items():
        plain, speculative = requests(told, run, "plain"), requests(told, run, "speculative")
        assert {(f.prompt, f.trial) for f in plain} == {(f.prompt, f.trial) for f in speculative}
        assert len(speculative) == 9 * 4
        longest = int(asked.controller.params.get("length", 4))
        assert {f.longest_draft for f in speculative} == {longest}
        assert {(f.prompt, f.output_digest) for f in plain} == {(f.prompt, f.output_digest) for f in speculative}
        assert all(FACT.validate_json(fact.model_dump_json()) == fact for of, fact in told if of == run)


def test_the_plain_arm_is_measured_once_for_all(told: list[Told]) -> None:
    """Catches a plain arm per drafter: time wasted, and pairs that stand further apart than said."""
    first = [(f.prompt, f.trial, f.sent_at, f.last_at) for f in requests(told, 0, "plain")]
    for run in (1, 2):
        assert [(f.prompt, f.trial, f.sent_at, f.last_at) for f in requests(told, run, "plain")] == first


def test_to_a_run_its_two_arms_are_first_and_second(told: list[Told]) -> None:
    """Catches an order that other runs' arms shift: the noise floor reads plain's place from it."""
    for run in RUNS:
        by_pass: dict[tuple[str, int], dict[str, RequestFact]] = {}
        for fact in requests(told, run, "plain") + requests(told, run, "speculative"):
            by_pass.setdefault((fact.prompt, fact.trial), {})[fact.arm] = fact
        for pair in by_pass.values():
            assert {pair["plain"].order, pair["speculative"].order} == {0, 1}
        for prompt in {prompt for prompt, _ in by_pass}:
            leading = [pair["plain"].order for (of, _), pair in sorted(by_pass.items(), key=lambda item: item[0][1]) if of == prompt]
            assert leading[0] != leading[1], "the second pass of a block turns the order round"


def test_each_arm_has_its_trials(told: list[Told]) -> None:
    for run in RUNS:
        trials = [fact for of, fact in told if of == run and isinstance(fact, TrialFact)]
        assert {(t.arm, t.trial) for t in trials if t.arm != "control"} == {(arm, n) for arm in ("plain", "speculative") for n in range(4)}


def test_a_withdrawn_run_leaves_the_others_alone() -> None:
    """Catches a cancelled run that takes its siblings with it, or that goes on being measured."""
    gone: list[int] = []
    trials = trials_of(1, wanted=lambda run: run not in gone)
    told = []
    for run, fact in trials.headline():
        told.append((run, fact))
        if isinstance(fact, RequestFact) and fact.trial == 0:
            gone[:] = [1]
    assert {f.trial for f in requests(told, 1, "speculative")} == {0}
    for run in (0, 2):
        assert {f.trial for f in requests(told, run, "speculative")} == {0, 1, 2, 3}


def test_nobody_wanted_ends_the_measurement() -> None:
    with pytest.raises(Cancelled):
        list(trials_of(1, wanted=lambda _: False).headline())


@pytest.mark.parametrize("concurrency", [1, 3])
def test_warm_up_speaks_of_each_run_apart(concurrency: int) -> None:
    """Catches drafts of one run that make another look active."""
    trials = trials_of(concurrency)
    found = warm_up(trials.bench, prompts(9), concurrency, limit=0.0)
    assert set(found) == set(RUNS)
    assert found[1].drafted > 0
    assert {"plain", "speculative"} <= set(found[0].fact.medians)


class Disturbed:
    """A watch that others disturb in one reading, the third: under load the first run's arm in the first half of the first block."""

    def __init__(self) -> None:
        self.read_so_far = 0

    def __call__(self, cores: list[int]) -> "Disturbed":
        del cores
        return self

    def read(self) -> Quiet:
        self.read_so_far += 1
        return Quiet(1.0, 0.0, 0.5 if self.read_so_far == 3 else 0.0, None)


def test_a_block_is_repeated_for_those_whom_it_was_disturbed_for() -> None:
    """Catches a run with an undisturbed block more than it asked for, since another one on the same bench was disturbed: under load each arm is
    watched alone."""
    trials = trials_of(3)
    trials._watch = Disturbed()  # type: ignore[assignment]
    told = [(run, fact) for run, fact in trials.headline() if isinstance(fact, TrialFact)]
    for run in RUNS:
        own = [fact for of, fact in told if of == run]
        void = {fact.block for fact in own if fact.contended}
        assert len({fact.block for fact in own} - void) == 2
    assert {len({fact.block for of, fact in told if of == run}) for run in RUNS} == {2, 3}
