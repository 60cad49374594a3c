"""How often the gates over a machine and its load are wrong, by simulation at the noise that real runs showed.

`python -m tests.app.statistics.gates` (part of `make coverage`) writes the rates that the methodology page shows. Every gate is the code that runs:
a reading of the cores' counters, the rule that ends a warm-up, the stability of an open load, plain against plain.

The noise is that of two runs of SmolLM2-135M on two cores, one alone on its machine and one beside other work.
"""

import heapq
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.stats import binomtest

from app.domain.spec import Load
from app.metrics.arrivals import stability
from app.metrics.frame import Frames, from_facts
from app.statistics.pairs import excludes_one, noise_floor, throughput_floor
from app.statistics.verdict import MOST_CONTENDED
from runners.environment import Watch
from runners.protocol.warmup import steady
from tests.app.statistics.grid import machine
from tests.app.statistics.simulate import Array, paired_seconds, places
from tests.factories import trial_fact
from tests.factories_open import served

Fire = Callable[[np.random.Generator], bool]
Wanted = Literal["none", "all"]
TABLE = Path(__file__).parents[3] / "app" / "statistics" / "gates.json"
SEED, SIMULATIONS = 1, 2000
# Shares of the cores that others took in a trial, at most alone and in the median beside other work, and the spread of the seconds of a plain step.
ALONE, BESIDE = {"others": 0.0003, "step": 0.008}, {"others": 0.033, "step": 0.06}
CORES, TICK, BURST = 2, 0.01, 0.02
STEP_SECONDS, STEPS, WARM_SECONDS, ARMS = 0.028, 32, 60.0, 3
NEAR = 0.05
TRIALS, ARRIVALS = 6, 24


@dataclass(frozen=True)
class Rate:
    """`flagged` of `n` simulations made the gate fire; `low` and `high` are Wilson's 95 % interval of that share (Wilson 1927). `wanted` says
    whether it should fire on `none` or `all` of them; `case` with its `values` says what was simulated."""

    gate: str
    case: str
    wanted: Wanted
    values: dict[str, float] = field(default_factory=dict)
    flagged: int = 0
    n: int = 0
    low: float = 0.0
    high: float = 1.0


def measured(case: Rate, fire: Fire, simulations: int, seed: int = SEED) -> Rate:
    """The case with its rate. Each case draws from a stream of its own."""
    words = [ord(letter) for letter in f"{case.gate}{case.case}{sorted(case.values.items())}"]
    source = np.random.default_rng([seed, *words])
    flagged = sum(fire(source) for _ in range(simulations))
    interval = binomtest(flagged, simulations).proportion_ci(method="wilson")
    return Rate(case.gate, case.case, case.wanted, case.values, flagged, simulations, interval.low, interval.high)


class Counted(Watch):
    """A watch over counters that were drawn; each is (all time, busy, stolen, own) in seconds."""

    def __init__(self, before: tuple[float, ...], after: tuple[float, ...]) -> None:
        self._readings = iter((before, after))
        super().__init__([])

    def _counters(self) -> tuple[float, float, float, float]:
        total, busy, stolen, own = next(self._readings)
        return total, busy, stolen, own


def disturbed(source: np.random.Generator, others: float, seconds: float) -> bool:
    """Whether a trial is contended on cores of which others take this share, in bursts of 20 ms on average; this process takes the rest. The
    system keeps a core's busy time, and the two kinds of this process's own, in hundredths of a second and rounds them down."""
    bursts = source.exponential(BURST, source.poisson(others * CORES * seconds / BURST))
    taken = np.clip(np.bincount(source.integers(0, CORES, len(bursts)), bursts, CORES), 0, seconds)
    own, begun = CORES * seconds - float(taken.sum()), source.uniform(0, TICK, CORES + 2)
    after = begun + np.array([*np.full(CORES, seconds), 0.95 * own, 0.05 * own])

    def counters(at: Array) -> tuple[float, ...]:
        told = np.floor(at / TICK) * TICK
        busy, ours = float(told[:CORES].sum()), float(told[CORES:].sum())
        return busy, busy, 0.0, ours

    return Counted(counters(begun), counters(after)).read().contended


def undecided(source: np.random.Generator, others: float, seconds: float, blocks: int = 3) -> bool:
    """Whether a run of so many blocks of two trials cannot tell since too many of them were void; a void one is repeated once."""
    void, made = 0, 0
    for _ in range(blocks):
        again = any(disturbed(source, others, seconds) for _ in range(2))
        void, made = void + again, made + 1
        if again:
            void, made = void + any(disturbed(source, others, seconds) for _ in range(2)), made + 1
    return void > made * MOST_CONTENDED


def never_steady(source: np.random.Generator, spread: float) -> bool:
    """Whether a machine whose pace does not change is called unsteady after all the time that a warm-up has; plain steps are a third of them."""
    steps: list[float] = []
    while len(steps) * STEP_SECONDS * ARMS < WARM_SECONDS:
        steps += np.exp(source.normal(0, spread, STEPS)).tolist()
        if steady(steps):
            return False
    return True


def waited(source: np.random.Generator, spread: float, slow: float, constant: float) -> bool:
    """Whether warm-up goes on until a machine that begins `slow` times slower, and comes round over so many steps, is within 5 % of its pace."""
    at, steps = 0, list[float]()
    while at * STEP_SECONDS * ARMS < WARM_SECONDS:
        pace = 1 + (slow - 1) * np.exp(-np.arange(at, at + STEPS) / constant)
        steps += (pace * np.exp(source.normal(0, spread, STEPS))).tolist()
        at += STEPS
        if steady(steps):
            return bool(pace[-1] < 1 + NEAR)
    return True


def overloaded(source: np.random.Generator, use: float, slots: int) -> bool:
    """Whether a plain arm is called unstable at this share of what it can serve: Poisson arrivals, answers that take a second on average and
    differ in length by a factor of 6."""
    frames = empty(slots, rate=use * slots)
    requests = frames.requests
    for trial in range(TRIALS):
        planned = np.cumsum(source.exponential(1 / (use * slots), ARRIVALS * slots))
        sent, ended = queued(planned, source.uniform(0.5, 3.0, len(planned)) / 1.75, slots)
        told = {"planned_at": planned, "queueing": sent - planned, "last_at": ended, "seconds": ended - planned}
        for column, values in told.items():
            requests.loc[requests["trial"] == trial, column] = values
    seen = stability(frames, "plain")
    return seen is not None and not seen.stable


def empty(slots: int, rate: float) -> Frames:
    """Trials of a plain arm at this load whose times are still to be filled in, request by request."""
    found = _empty(slots)
    return replace(found, requests=found.requests.copy(), load=Load(kind="open", rate=rate, concurrency=slots))


@cache
def _empty(slots: int) -> Frames:
    requests = [fact for trial in range(TRIALS) for fact in served("plain", trial, 0, [float(at) for at in range(ARRIVALS * slots)])]
    trials = [trial_fact(arm="plain", trial=trial, block=trial // 2) for trial in range(TRIALS)]
    return from_facts(requests, trials, load=Load(kind="open", rate=1.0, concurrency=slots))


def queued(planned: Array, seconds: Array, slots: int) -> tuple[Array, Array]:
    """When requests get one of the slots, first come first served, and when they leave it; all `[requests]`, in seconds."""
    free, sent = [0.0] * slots, np.empty(len(planned))
    for place, at in enumerate(planned):
        sent[place] = max(at, heapq.heappop(free))
        heapq.heappush(free, sent[place] + seconds[place])
    return sent, sent + seconds


def tilted(source: np.random.Generator, prompts: int, order_effect: float) -> bool:
    """Whether plain against plain excludes 1 where the second place in a pair is slower by this share; 6 passes, one request at a time."""
    seconds, plain_first = paired_seconds(source, 1, prompts, order_effect=float(np.log1p(order_effect)))
    first, second = places(seconds, plain_first)
    return excludes_one(noise_floor(first[0], second[0]))


def tilted_together(source: np.random.Generator, blocks: int) -> bool:
    """The same of a level bench under load: two plain trials a block, noise of 3 % in each."""
    rates = 1 / machine(source, 1, 2 * blocks, 0.03)[0, :, 0].reshape(blocks, 2)
    return excludes_one(throughput_floor(rates[:, 0], rates[:, 1]))


def cases() -> Iterator[tuple[Rate, Fire, int]]:
    """Every case, what decides it, and for how much of the simulations it is asked: those that build whole runs are dear."""
    for wanted, shares in (("none", (ALONE["others"], 0.01, 0.02)), ("all", (0.05, 0.1))):
        for others in shares:
            for seconds in (1.0, 8.0):
                values = {"others": others, "seconds": seconds}
                yield Rate("disturbed", "trial", wanted, values), lambda s, o=others, t=seconds: disturbed(s, o, t), 1
            yield Rate("disturbed", "run", wanted, {"others": others, "seconds": 8.0}), lambda s, o=others: undecided(s, o, 8.0), 1
    for spread in (ALONE["step"], 0.02, BESIDE["step"]):
        yield Rate("warm-up", "level", "none", {"spread": spread}), lambda s, r=spread: never_steady(s, r), 1
    for constant in (20.0, 100.0, 400.0):
        values = {"slow": 0.3, "steps": constant, "near": NEAR}
        yield Rate("warm-up", "slow", "all", values), lambda s, c=constant: waited(s, ALONE["step"], 1.3, c), 1
    for wanted, uses in (("none", (0.5, 0.7, 0.8, 0.9)), ("all", (1.2, 1.5, 2.0))):
        for use in uses:
            yield Rate("unstable", "use", wanted, {"use": use, "slots": 1}), lambda s, u=use: overloaded(s, u, 1), 5
    for prompts in (8, 24):
        yield Rate("not level", "prompts", "none", {"prompts": prompts}), lambda s, p=prompts: tilted(s, p, 0.0), 1
    yield Rate("not level", "blocks", "none", {"blocks": 4}), lambda s: tilted_together(s, 4), 1
    for effect in (0.02, 0.05):
        yield Rate("not level", "order", "all", {"prompts": 24, "effect": effect}), lambda s, e=effect: tilted(s, 24, e), 1


def main() -> None:
    rates = []
    for case, fire, dear in cases():
        rates.append(measured(case, fire, SIMULATIONS // dear))
        one = rates[-1]
        said = f"{one.flagged / one.n:7.2%} of {one.n} [{one.low:.2%}, {one.high:.2%}]"
        sys.stdout.write(f"{one.gate:10} {one.case:8} {one.values!s:50} should fire on {one.wanted:4} {said}\n")
        sys.stdout.flush()
    told = {"seed": SEED, "noise": {"alone": ALONE, "beside other work": BESIDE}, "rates": [asdict(each) for each in rates]}
    TABLE.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
