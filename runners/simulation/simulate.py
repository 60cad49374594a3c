"""Plays a controller over traces in virtual time, and weighs it against an oracle that knows the process and the costs."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from runners.controllers.base import Controller
from runners.simulation.costs import Costs, expected_tokens
from runners.simulation.oracle import Oracle
from runners.simulation.traces import Process, Trace, draw

# A length is near the best one when it delivers this share of its tokens a second; a switch has been followed when SETTLED of HORIZON steps are.
NEAR, HORIZON, SETTLED = 0.9, 8, 6
# The warm-up plays over a text of its own.
WARM_TOKENS, WARM_STEPS = 4000, 400
# What any controller may reach: the oracle's longest draft, and room at the end of a text.
LONGEST = 32


@dataclass(frozen=True)
class Played:
    """Of one play: what was delivered in how many virtual seconds, and of the first row, step by step, where it stood and how much was drafted."""

    tokens: int
    seconds: float
    positions: tuple[int, ...]
    drafted: tuple[int, ...]

    @property
    def rate(self) -> float:
        """Tokens per second over all rows."""
        return self.tokens / self.seconds

    @property
    def mean_drafted(self) -> float:
        return sum(self.drafted) / len(self.drafted)


def play(controller: Controller, traces: Sequence[Trace], costs: Costs, *, noise: float = 0.0, seed: int = 0, steps: int | None = None) -> Played:
    """All rows step together until one has come to the end of its trace, or for `steps` steps. Seconds that the controller is told are
    off by a factor of spread `noise` (log-normal); those that count are not."""
    chance, rows = random.Random(seed), range(len(traces))
    at, tokens, seconds = [0] * len(traces), 0, 0.0
    positions: list[int] = []
    lengths: list[int] = []
    for slot in rows:
        controller.begin(slot)
    while max(at) + LONGEST + 1 < len(traces[0]) and (steps is None or len(lengths) < steps):
        if isinstance(controller, Oracle):
            controller.positions = at
        drafted = [_drafted(controller, slot, wish, traces[slot], at[slot]) for slot, wish in zip(rows, controller.lengths(rows), strict=True)]
        positions.append(at[0])
        lengths.append(drafted[0])
        for slot in rows:
            kept = _kept(traces[slot], at[slot], drafted[slot])
            if drafted[slot]:
                controller.observe(slot, drafted[slot], kept)
            at[slot] += kept + 1
            tokens += kept + 1
        took = costs.seconds(len(traces), max(drafted))
        seconds += took
        controller.stepped(drafted, took * math.exp(chance.gauss(0.0, noise)))
    return Played(tokens, seconds, tuple(positions), tuple(lengths))


def _drafted(controller: Controller, slot: int, wish: int, trace: Trace, position: int) -> int:
    """How many of the wished drafts are made: all, or as far as the drafter is sure enough of each."""
    if not controller.stops_drafts:
        return wish
    return next((i + 1 for i in range(wish) if not controller.proceeds(slot, float(trace.confidence[position + i]))), wish)


def _kept(trace: Trace, position: int, drafted: int) -> int:
    return next((i for i in range(drafted) if not trace.kept[position + i]), drafted)


def warm(controller: Controller, process: Process, costs: Costs, rows: int, *, noise: float, seed: int) -> None:
    """What the bench does before the first trial: the controller sees steps until it knows what it needs to, and forgets the rest."""
    for count in sorted({1, rows}):
        controller.reset()
        traces = [draw(process, WARM_TOKENS, 10_000 + seed * 100 + row) for row in range(count)]
        while not controller.warm(count):
            play(controller, traces, costs, noise=noise, seed=seed, steps=WARM_STEPS)
    controller.settle()
    controller.reset()


@dataclass(frozen=True)
class Score:
    """`regret` is the share of the oracle's tokens per second that was missed, on the same texts; below 0 where the controller knew more than the
    process, as one does that sees confidence. `reaction` counts steps, and is None where nothing switched or it never settled."""

    rate: float
    regret: float
    mean_drafted: float
    reaction: int | None


def score(controller: Controller, process: Process, costs: Costs, *, rows: int = 1, tokens: int = 4000, noise: float = 0.05, seed: int = 1) -> Score:
    """One controller on one process, warmed up first."""
    warm(controller, process, costs, rows, noise=noise, seed=seed)
    traces = [draw(process, tokens, seed * 1000 + row) for row in range(rows)]
    own = play(controller, traces, costs, noise=noise, seed=seed)
    best = play(Oracle(traces, costs, LONGEST), traces, costs)
    found = reaction(own, traces[0], costs) if rows == 1 else None
    return Score(own.rate, 1 - own.rate / best.rate, own.mean_drafted, found)


def reaction(played: Played, trace: Trace, costs: Costs) -> int | None:
    """Steps from the one switch of a trace until lengths are near the best of the new regime and stay there (NEAR, SETTLED of HORIZON)."""
    switches = trace.switches()
    if len(switches) != 1:
        return None
    chance = float(trace.chance[-1])
    rates = [expected_tokens(chance, n) / costs.seconds(1, n) for n in range(LONGEST + 1)]
    near = [rates[n] >= NEAR * max(rates) for n in played.drafted]
    first = next((i for i, position in enumerate(played.positions) if position >= switches[0]), len(near))
    return next((i - first for i in range(first, len(near) - HORIZON + 1) if sum(near[i : i + HORIZON]) >= SETTLED), None)
