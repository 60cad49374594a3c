"""Warm-up: all arms decode until the first one's steps, plain's where it has such an arm, are steady and the controllers have seen what they need."""

import statistics
from collections.abc import Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from itertools import cycle, pairwise

from app.domain.bounds import Arm
from app.domain.facts import WarmupFact
from runners.engine.sequence import Request
from runners.protocol.arms import Arms, Outcome, Seat

GROUP = 8
GROUPS = 3
WITHIN = 0.02
# At the run's own load, the most passes for a controller that has not seen all it needs.
PASSES = 4


def medians(steps: list[float]) -> list[float]:
    """Seconds: the median of each of the last three whole groups of 8 steps; fewer when there are not as many."""
    whole = len(steps) // GROUP
    groups = [steps[i * GROUP : (i + 1) * GROUP] for i in range(max(0, whole - GROUPS), whole)]
    return [statistics.median(group) for group in groups]


def steady(steps: list[float]) -> bool:
    found = medians(steps)
    return len(found) == GROUPS and max(found) <= min(found) * (1 + WITHIN)


@dataclass(frozen=True)
class Warmth:
    """How one run's arms warmed up, and how many tokens its own drafted on the way."""

    fact: WarmupFact
    drafted: int


def warm_up(bench: Arms, requests: Many[Request], concurrency: int, limit: float) -> dict[int, Warmth]:
    """Warms all arms, prompt by prompt, for at most `limit` seconds, then each once at the run's own load if that is above 1; by run."""
    seen: dict[tuple[Arm, Seat], list[Outcome]] = {}
    bench.reset()
    for request in cycle(requests):
        for outcome in bench.all_arms(request):
            seen.setdefault((outcome.arm, outcome.seat), []).append(outcome)
        if (steady(_steps(next(iter(seen.values())))) and _learnt(bench, 1)) or bench.clock.now() > limit:
            break
    seconds = bench.clock.now()
    if concurrency > 1:
        # Batches of other shapes run other kernels; the first of them is not to be timed.
        for seat in bench.seats():
            for _ in range(PASSES):
                bench.together(seat, requests[: 2 * concurrency], concurrency)
                seconds += bench.clock.now()
                if seat is None or bench.arms[seat].controller.warm(concurrency):
                    break
    for arm in bench.arms.values():
        arm.controller.settle()
    return {run: _warmth(seen, run, seconds) for run in bench.arms}


def _learnt(bench: Arms, rows: int) -> bool:
    """Whether every controller has seen what it needs to know of steps over so many rows."""
    return all(bench.arms[run].controller.warm(rows) for run in bench.live())


def _warmth(seen: Mapping[tuple[Arm, Seat], list[Outcome]], run: int, seconds: float) -> Warmth:
    own = {arm: outcomes for (arm, seat), outcomes in seen.items() if seat in (None, run)}
    steps = {arm: _steps(outcomes) for arm, outcomes in own.items()}
    fact = WarmupFact(
        steady=steady(next(iter(steps.values()))),
        seconds=seconds,
        steps=sum(map(len, steps.values())),
        medians={arm: tuple(medians(taken)) for arm, taken in steps.items()},
    )
    return Warmth(fact, sum(outcome.sequence.drafted for outcome in own.get("speculative", [])))


def _steps(outcomes: list[Outcome]) -> list[float]:
    """Seconds of every step, one request after the other."""
    return [after - before for outcome in outcomes for before, after in pairwise(outcome.sequence.step_end)]
