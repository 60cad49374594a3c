"""Trials whose answers are drawn: who draws with which seed, from the bench to the report."""

from typing import Any

import pytest
import torch

from app.domain.estimate import Figure
from app.domain.facts import RequestFact, TrialFact
from app.reports.build import build
from runners.clock import Clock
from runners.engine.stops import StopRules
from runners.parts import choose
from runners.protocol.bench import Bench
from runners.protocol.closed import ClosedTrials
from runners.protocol.control import Control
from runners.protocol.paired import PairedTrials
from runners.protocol.trials import Trials
from tests.factories import record
from tests.models import SAMPLED, spec, tiny
from tests.runners.protocol.test_closed import Ready

DRAWN = spec("layerskip", {"exit_layer": 3}, rule=SAMPLED)


@pytest.fixture(scope="module", params=[1, 3])
def facts(request: pytest.FixtureRequest) -> list[Any]:
    concurrency = int(request.param)
    ready: Any = Ready(trials=2)
    ready.spec = DRAWN.model_copy(update={"trials": 2, "load": DRAWN.load.model_copy(update={"concurrency": concurrency})})
    target: Any = tiny("llama", slots=concurrency)
    chosen, rules, clock = choose(ready.spec), StopRules(16), Clock(torch.device("cpu"))
    control = Control(target, rules, clock, chosen.law) if concurrency == 1 else None
    bench = Bench(target, {0: chosen}, rules, clock, control=control)
    kind: type[Trials] = PairedTrials if concurrency == 1 else ClosedTrials
    return [fact for _, fact in kind({0: ready}, bench, [0], lambda _run, _fact: None).headline()]


def requests(facts: list[Any]) -> list[RequestFact]:
    return [fact for fact in facts if isinstance(fact, RequestFact)]


def test_every_pass_draws_anew_and_its_arms_share_the_seed(facts: list[Any]) -> None:
    """Catches passes that repeat one draw, and arms of one pass that draw with different seeds: their pair could not be found."""
    found = requests(facts)
    for prompt in {fact.prompt for fact in found}:
        own = [fact for fact in found if fact.prompt == prompt]
        by_trial = {trial: {fact.seed for fact in own if fact.trial == trial} for trial in {fact.trial for fact in own}}
        assert all(len(seeds) == 1 for seeds in by_trial.values())
        assert len(set.union(*by_trial.values())) == len(by_trial) >= 4
    for arm in {fact.arm for fact in found}:
        answers = {fact.output_digest for fact in found if fact.arm == arm and fact.prompt == found[0].prompt}
        assert len(answers) > 1, arm


def test_the_facts_make_a_report_of_drawn_answers(facts: list[Any]) -> None:
    """Catches facts of the bench that the figures cannot use: counts of all draws, a prompt one cluster."""
    found = requests(facts)
    load = 1 if any(fact.arm == "control" for fact in found) else 3
    asked = DRAWN.model_copy(update={"trials": 2, "load": DRAWN.load.model_copy(update={"concurrency": load})})
    # The tiny model says no words, so its language is given.
    spoken = tuple(f.model_copy(update={"answer_language": "en", "answer_letters": 100, "degenerate": False}) for f in found)
    made = record(spec=asked).model_copy(update={"requests": spoken, "trials": tuple(f for f in facts if isinstance(f, TrialFact))})
    report = build(made)
    assert report.headline == ("speedup_decode" if load == 1 else "speedup_throughput")
    cell = report.find("acceptance_rate")
    assert isinstance(cell, Figure), cell
    own = [fact for fact in found if fact.arm == "speculative"]
    assert cell.pooled.point == sum(f.verified for f in own) / sum(f.drafted for f in own)
    assert cell.pooled.n == len({f.prompt for f in own}) == 9
    assert report.losslessness == ()
