"""An engine whose truth is known, from the loop to the report: what comes out must be what was put in."""

from collections.abc import Sequence as Many
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np
import pytest
from torch import Tensor

from app.domain.estimate import Estimate, Figure
from app.domain.facts import AnyFact, RequestFact, TrialFact
from app.reports.report import Report
from runners.controllers.constant import Constant, ConstantParams
from runners.drafters.base import Drafter, Params
from runners.drafters.none import NoDrafter
from runners.engine.draft import Batch, Draft
from runners.engine.loop import Loop
from runners.engine.sequence import Request, Sequence
from runners.engine.stops import StopRules
from runners.verifiers.base import NoParams
from runners.verifiers.exact import Exact
from tests.simulated import SimulatedDrafter, SimulatedTarget, Simulation, VirtualClock, World, chance

QUIET = World()
# Other noises, prompts and pairs are held against simulation where they take less time (tests/app/statistics).
NOISES = [0.03, 0.1]


def mixed(key: str) -> float:
    """Prompts differ in how guessable they are."""
    return 0.3 + 0.5 * chance(f"acceptance {key}", 0)


NOISY = World(step_noise=0.05, drift=0.02, acceptance=mixed)


def figure(report: Report, id: str, **part: str) -> Estimate:
    cell = report.find(id, **part)
    assert isinstance(cell, Figure), cell
    return cell.pooled


def decode(simulation: Simulation, requests: list[Request], *, plain: bool) -> list[Sequence]:
    """The real loop on the simulated engine, without protocol and report."""
    clock = VirtualClock(simulation.world, 1)
    target = SimulatedTarget(simulation.world, clock, slots=simulation.concurrency)
    drafter: Drafter = NoDrafter(Params(), target) if plain else SimulatedDrafter(Params(), target)
    loop = Loop(target, drafter, Constant(ConstantParams(length=simulation.draft)), Exact(NoParams()), StopRules(simulation.tokens), clock)
    clock.start()
    return loop.run(requests, simulation.concurrency)


def steady_rate(simulation: Simulation, *, plain: bool, times: int = 12) -> float:
    """Tokens per virtual second in the long run: the same prompts over and over, each time in another order, without the ends."""
    source, base = np.random.default_rng(3), simulation.ready().requests
    requests = [replace(base[i], prompt=f"{base[i].prompt}-{turn}") for turn in range(times) for i in source.permutation(len(base))]
    steps = sorted((end, n) for s in decode(simulation, requests, plain=plain) for end, n in zip(s.step_end, s.step_tokens, strict=True))
    middle = steps[len(steps) // 10 : -len(steps) // 10]
    return sum(n for _, n in middle[1:]) / (middle[-1][0] - middle[0][0])


def test_without_noise_a_speed_up_is_recovered_to_the_last_digit() -> None:
    """Catches time that one arm is charged and the other is not, anywhere between clock and report. Closed form: every draft is kept, so 24 tokens
    are one from the prefill and, behind it, 4 rounds of 4 + 1 and a step of 2 drafts + 1."""
    world = replace(QUIET, acceptance=lambda _: 1.0)
    report = Simulation(world=world).report()
    rounds = 4 * (world.forward(1, 4) + 4 * world.propose) + world.forward(1, 2) + 2 * world.propose
    plain, speculative = world.prefill + 23 * world.forward(1, 0), world.prefill + rounds
    whole, decoding = figure(report, "speedup_end_to_end", over="total time"), figure(report, "speedup_decode", over="total time")
    assert whole.point == pytest.approx(plain / speculative, rel=1e-9)
    assert decoding.point == pytest.approx(23 * world.forward(1, 0) / rounds, rel=1e-9)
    assert figure(report, "acceptance_rate").point == 1.0
    assert figure(report, "tokens_per_target_forward").point == pytest.approx(23 / 5)


@pytest.mark.parametrize("rate", [0.0, 0.4, 0.8])
def test_counts_follow_the_law_of_the_drafter(rate: float) -> None:
    """Catches a bonus token counted as kept, and drafts behind a rejected one counted as tried. With chance α for each of 4 drafts a round keeps
    α + α² + α³ + α⁴, and position i is kept in α^i of rounds."""
    report = Simulation(world=replace(QUIET, acceptance=lambda _: rate), prompts=48, tokens=160, blocks=1).report()
    expected = sum(rate**i for i in range(1, 5)) / 4
    acceptance = figure(report, "acceptance_rate")
    assert acceptance.point == pytest.approx(expected, abs=0.02)
    for i in range(1, 5):
        assert figure(report, "acceptance_at", position=str(i)).point == pytest.approx(rate**i, abs=0.03)
        if rate:
            assert figure(report, "acceptance_given_previous", position=str(i)).point == pytest.approx(rate, abs=0.05)
    assert figure(report, "tokens_per_round").point == pytest.approx(1 + 4 * expected, abs=0.06)


@dataclass(frozen=True)
class Seen:
    """What many virtual runs said of their headline."""

    covered: int
    runs: int
    pays: int
    uneven: int


def many(simulation: Simulation, truth: float, runs: int = 30) -> Seen:
    reports = [replace(simulation, seed=seed).report() for seed in range(1, runs + 1)]
    found = [figure(report, report.headline) for report in reports]
    return Seen(
        covered=sum(each.low is not None and each.high is not None and each.low <= truth <= each.high for each in found),
        runs=runs,
        pays=sum(report.verdict.outcome == "pays" for report in reports),
        uneven=sum("not level" in report.verdict.causes for report in reports),
    )


def truth_of_prompts_like_these(simulation: Simulation, prompts: int = 1500) -> float:
    """The geometric mean over very many prompts of plain ÷ speculative seconds, without noise."""
    quiet = replace(simulation.quiet(), prompts=prompts, seed=200)
    asked = quiet.ready().requests
    whole = [{s.request.prompt: s.step_end[-1] - s.sent_at for s in decode(quiet, asked, plain=plain)} for plain in (True, False)]
    return exp(sum(log(whole[0][prompt] / whole[1][prompt]) for prompt in whole[0]) / prompts)


@pytest.mark.parametrize("noise", NOISES)
def test_the_interval_at_load_1_holds_the_truth(noise: float) -> None:
    """Catches an interval that a whole trial's noise, drift or the differences of prompts make too narrow: of 30 at 95 % fewer than 25 hold the truth
    in one of 300 tries."""
    simulation = Simulation(world=replace(NOISY, trial_noise=noise), blocks=2)
    assert many(simulation, truth_of_prompts_like_these(simulation)).covered >= 25


def test_the_interval_under_load_holds_the_steady_rate() -> None:
    """Catches a window whose edges favour an arm: answers of equal length end together in plain and never in the speculative arm."""
    simulation = Simulation(world=replace(NOISY, drift=0.0, trial_noise=0.03), prompts=24, concurrency=4, blocks=3)
    covered = 0
    for seed in range(1, 31):
        own = replace(simulation, seed=seed)
        truth = steady_rate(own.quiet(), plain=False) / steady_rate(own.quiet(), plain=True)
        found = figure(own.report(), "speedup_throughput")
        covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert covered >= 25


@pytest.mark.parametrize(("concurrency", "noise"), [(1, 0.1), (4, 0.03)])
def test_equal_arms_seldom_seem_to_differ(concurrency: int, noise: float) -> None:
    """A/A through the whole pipeline: drafts that cost nothing and are never right. `pays` in at most 2.5 % and "not level" in at most 5 % of runs;
    of 30 that is more than 3, and more than 5, in one of 150 tries."""
    world = replace(NOISY, propose=0.0, per_draft=0.0, acceptance=lambda _: 0.0, trial_noise=noise)
    seen = many(Simulation(world=world, concurrency=concurrency, blocks=4 if concurrency > 1 else 2, prompts=12, tokens=12), 1.0, runs=30)
    assert seen.pays <= 3
    assert seen.uneven <= 5


class SlowWhenSecond(SimulatedTarget):
    """Whatever runs right behind another arm on the same prompt finds the machine 6 % slower, as one that throttles under a longer burst does."""

    last: tuple[int, ...] = ()
    slow = False

    def _prefill(self, slot: int, ids: Many[int]) -> Tensor:
        self.slow = tuple(ids) == self.last
        self.last = () if self.slow else tuple(ids)
        return super()._prefill(slot, ids)

    def verify(self, batch: Batch, draft: Draft) -> Tensor:
        if self.slow:
            self.clock.spend(0.06 * self.world.forward(len(batch), draft.width))
        return super().verify(batch, draft)


def test_a_bench_that_favours_a_place_is_not_level() -> None:
    """The negative control of the noise floor: here it must speak up."""
    world = replace(QUIET, propose=0.0, per_draft=0.0, step_noise=0.01, acceptance=lambda _: 0.0)
    reports = [Simulation(world=world, target=SlowWhenSecond, prompts=12, seed=seed).report() for seed in range(1, 9)]
    assert all("not level" in report.verdict.causes for report in reports)


def counts_the_bonus(fact: AnyFact) -> AnyFact:
    if isinstance(fact, RequestFact) and fact.arm == "speculative":
        kept = tuple(n + 1 for n in fact.round_verified)
        return fact.model_copy(update={"round_verified": kept, "verified": sum(kept), "accepted": sum(kept)})
    return fact


def on_another_clock(fact: AnyFact) -> AnyFact:
    """The speculative arm's clock ticks in other units, and its trials say so of themselves."""
    if isinstance(fact, RequestFact) and fact.arm == "speculative":
        times = {name: getattr(fact, name) / 1000 for name in ("sent_at", "first_at", "last_at")}
        return fact.model_copy(update=times | {"step_end": tuple(end / 1000 for end in fact.step_end)})
    return fact


def test_a_bonus_token_counted_as_kept_never_becomes_a_fact() -> None:
    with pytest.raises(ValueError, match=r"E = P \+ A"):
        Simulation(change=counts_the_bonus).facts()


def test_trials_know_how_long_they_took() -> None:
    """What an arm's requests add up to and what its trial says are one clock: an arm on another one is seen by their quotient."""
    for change, same in ((lambda fact: fact, True), (on_another_clock, False)):
        facts = Simulation(change=change, blocks=1).facts()
        for arm in ("plain", "speculative"):
            requests = sum(f.last_at - f.sent_at for f in facts if isinstance(f, RequestFact) and f.arm == arm)
            trials = sum(f.seconds for f in facts if isinstance(f, TrialFact) and f.arm == arm)
            assert (abs(requests / trials - 1) < 1e-6) == (same or arm == "plain")
