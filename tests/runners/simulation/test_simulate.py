"""Controllers against an oracle: bounds that hold for a reason, over several seeds."""

from collections.abc import Callable
from statistics import mean
from typing import Any

import numpy as np
import pytest

from runners.controllers.bandit import Bandit, BanditParams
from runners.controllers.base import Controller
from runners.controllers.confidence import Confidence, ConfidenceParams
from runners.controllers.constant import Constant, ConstantParams
from runners.controllers.goodput import Goodput, GoodputParams
from runners.controllers.window import Window, WindowParams
from runners.parts import controllers
from runners.simulation.__main__ import table
from runners.simulation.costs import Costs, expected_tokens
from runners.simulation.oracle import Oracle
from runners.simulation.simulate import LONGEST, Played, Score, play, reaction, score
from runners.simulation.traces import PROCESSES, Process, Trace, draw, stationary, switching

SEEDS = range(1, 6)
COSTS = Costs()
# Every position costs as much as half the weights: drafts pay only where nearly all are kept.
BUSY = Costs(token=0.5)


def constant(length: int) -> Controller:
    return Constant(ConstantParams(length=length))


def scores(make: Callable[[], Controller], process: Process, costs: Costs = COSTS, **over: Any) -> list[Score]:
    return [score(make(), process, costs, seed=seed, **over) for seed in SEEDS]


def regrets(make: Callable[[], Controller], process: Process, costs: Costs = COSTS, **over: Any) -> list[float]:
    return [found.regret for found in scores(make, process, costs, **over)]


def test_a_play_counts_by_hand() -> None:
    """Catches an off-by-one in rounds, tokens or time. Drafts of positions 0, 1, 3 are kept, others are not; 2 drafts a step."""
    kept = np.zeros(LONGEST + 8, dtype=bool)
    kept[[0, 1, 3]] = True
    trace = Trace(np.full(len(kept), 0.5), kept, np.full(len(kept), 0.5))
    costs = Costs(weights=1.0, token=0.0, draft=0.25)
    # Steps begin at 0 (keeps 2, then its own token), 3 (keeps 1), 5, 6: 3 + 2 + 1 + 1 tokens.
    assert play(constant(2), [trace], costs) == Played(tokens=7, seconds=4 * 1.5, positions=(0, 3, 5, 6), drafted=(2, 2, 2, 2))


@pytest.mark.parametrize("chance", [0.0, 0.4, 0.8])
def test_a_constant_length_earns_what_the_closed_form_says(chance: float) -> None:
    """Catches a simulator that is off: tokens per second of fixed lengths against 1 + α + … + α^n over t, within five standard errors."""
    for n in (1, 3):
        found = [play(constant(n), [draw(stationary(chance), 8000, seed)], COSTS) for seed in SEEDS]
        steps = sum(len(each.drafted) for each in found)
        rate = sum(each.tokens for each in found) / sum(each.seconds for each in found)
        spread = n / 2 / steps**0.5 / COSTS.seconds(1, n)
        assert rate == pytest.approx(expected_tokens(chance, n) / COSTS.seconds(1, n), abs=5 * spread)


@pytest.mark.parametrize("process", PROCESSES)
def test_no_fixed_length_beats_the_oracle(process: str) -> None:
    """Catches an oracle that is none: the mean regret of every length is not below 0 by more than chance allows."""
    for n in (1, 2, 4, 8):
        assert mean(regrets(lambda n=n: constant(n), PROCESSES[process])) > -0.01  # type: ignore[misc]


def test_the_oracle_drafts_nothing_where_nothing_is_kept() -> None:
    trace = draw(stationary(0.0), 500, 1)
    assert set(play(Oracle([trace], COSTS, LONGEST), [trace], COSTS).drafted) == {0}


@pytest.mark.parametrize("process", ["kept often", "kept seldom", "never kept", "good, then bad", "bad, then good", "bursty"])
def test_goodput_regrets_less_than_a_constant_that_is_wrong(process: str) -> None:
    """Catches a controller that is worse than none: lengths far from the best of the process lose more, for every seed."""
    wrong = {"kept often": 1, "kept seldom": 8, "never kept": 4, "good, then bad": 8, "bad, then good": 8, "bursty": 8}[process]
    own, fixed = regrets(lambda: Goodput(GoodputParams()), PROCESSES[process]), regrets(lambda: constant(wrong), PROCESSES[process])
    assert all(a < b for a, b in zip(own, fixed, strict=True))


@pytest.mark.parametrize(("costs", "rows"), [(COSTS, 1), (BUSY, 1), (Costs(token=0.05), 16)])
def test_goodput_stops_drafting_where_drafts_are_never_kept(costs: Costs, rows: int) -> None:
    """Catches drafts that are paid for in vain: beyond the first steps only the probes are left, one step in 17."""
    for seed in SEEDS:
        found = score(Goodput(GoodputParams()), stationary(0.0), costs, rows=rows, tokens=2000, seed=seed)
        assert found.mean_drafted < 1 / 17 + 0.02
        assert found.regret < 0.1


def test_goodput_drafts_alone_and_not_in_a_full_batch() -> None:
    """Catches a table that does not tell batch sizes apart: the same text, where 16 rows compute and one reads weights."""
    costs = Costs(token=0.2)
    for seed in SEEDS:
        alone = score(Goodput(GoodputParams()), stationary(0.5), costs, rows=1, tokens=1500, seed=seed)
        full = score(Goodput(GoodputParams()), stationary(0.5), costs, rows=16, tokens=500, seed=seed)
        assert alone.mean_drafted > 0.8
        assert full.mean_drafted < 0.2


def test_goodput_is_close_to_the_oracle_where_nothing_changes() -> None:
    """Catches an estimate or a table that is biased: with 5 % of noise on every time the loss stays below 3 %."""
    for chance in (0.3, 0.6, 0.85):
        assert mean(regrets(lambda: Goodput(GoodputParams()), stationary(chance))) < 0.03


@pytest.mark.parametrize(("before", "after"), [(0.95, 0.1), (0.1, 0.95)])
def test_the_window_follows_a_switch_within_its_own_memory(before: float, after: float) -> None:
    """It forgets in 8 rounds and then moves one token a round between 1 and 8: 8 + 7 rounds in most texts; in any, that three times over."""
    every = scores(lambda: Window(WindowParams(longest=8)), switching(before, after))
    assert sorted(10**6 if found.reaction is None else found.reaction for found in every)[len(every) // 2] <= 8 + 7
    for found in every:
        assert found.reaction is not None
        assert found.reaction <= 3 * (8 + 7)


@pytest.mark.parametrize(("before", "after"), [(0.95, 0.1), (0.1, 0.95)])
def test_goodput_follows_a_switch(before: float, after: float) -> None:
    """Catches an estimate that a long past outweighs, and a length 0 that is never left: memory is 20 drafts, a probe comes after 16 steps."""
    for found in scores(lambda: Goodput(GoodputParams()), switching(before, after)):
        assert found.reaction is not None
        assert found.reaction <= 60


def test_a_constant_never_follows() -> None:
    """Negative control of the reaction: what does not adapt must not be said to."""
    for found in scores(lambda: constant(16), switching(0.95, 0.1)):
        assert found.reaction is None


def test_reaction_is_counted_from_the_switch() -> None:
    """Catches steps before the switch that are counted, and a lone lucky step taken for a reaction."""
    trace = Trace(np.where(np.arange(200) < 100, 0.9, 0.0), np.zeros(200, dtype=bool), np.zeros(200))
    lengths = [8] * 100 + [8, 8, 0, 8, 8, 8] + [0] * 50
    assert reaction(Played(156, 1.0, tuple(range(156)), tuple(lengths)), trace, COSTS) == 4
    assert reaction(Played(156, 1.0, tuple(range(156)), (8,) * 156), trace, COSTS) is None


def missed(chance: float, tokens: int, seeds: range) -> float:
    """What a bandit misses of the best of its own lengths, on the same texts, in the mean."""
    best = max(range(1 + BanditParams().longest), key=lambda n: expected_tokens(chance, n) / COSTS.seconds(1, n))
    found = []
    for seed in seeds:
        text = [draw(stationary(chance), tokens, seed)]
        fixed = play(Constant(ConstantParams.model_construct(length=best)), text, COSTS)
        found.append(1 - play(Bandit(BanditParams()), text, COSTS, noise=0.05, seed=seed).rate / fixed.rate)
    return mean(found)


@pytest.mark.parametrize("chance", [0.0, 0.3, 0.85])
def test_a_bandit_regrets_less_the_longer_it_plays(chance: float) -> None:
    """Catches a bandit that does not learn, or goes on exploring as before: what it misses falls towards 0 with time."""
    assert missed(chance, 4000, range(8)) < missed(chance, 250, range(20)) / 2


def test_a_bandit_that_forgets_follows_a_switch_that_one_that_does_not_misses() -> None:
    text = switching(0.9, 0.2)
    keeps = mean(regrets(lambda: Bandit(BanditParams()), text, tokens=8000))
    forgets = mean(regrets(lambda: Bandit(BanditParams(discount=0.98)), text, tokens=8000))
    assert forgets < keeps


def test_confidence_that_is_worth_something_beats_the_length_it_begins_with() -> None:
    """Catches a stop that is the wrong way round."""
    for process in ("kept seldom", "bursty"):
        own = regrets(lambda: Confidence(ConfidenceParams(length=8)), PROCESSES[process])
        fixed = regrets(lambda: constant(8), PROCESSES[process])
        assert all(a < b for a, b in zip(own, fixed, strict=True))


def test_the_table_is_the_same_every_time_and_names_every_controller() -> None:
    """Catches chance without a seed, and a controller that the simulator cannot play."""
    first, again = (list(table(COSTS, 2, 300, 1)) for _ in range(2))
    assert first == again
    assert len(first) == 1 + len(PROCESSES) * len(controllers())
    assert {line[16:30].strip() for line in first[1:]} == set(controllers())
