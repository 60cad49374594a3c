"""Warm-up: all arms decode until the plain arm's steps are steady."""

import statistics
from collections.abc import Sequence as Many
from itertools import cycle, pairwise

from app.domain.facts import Arm, WarmupFact
from runners.engine.sequence import Request
from runners.protocol.bench import Bench

GROUP = 8
GROUPS = 3
WITHIN = 0.02


def medians(steps: list[float]) -> list[float]:
    """Seconds: the median of each of the last three whole groups of 8 steps; fewer when there are not as many."""
    whole = len(steps) // GROUP
    groups = [steps[i * GROUP : (i + 1) * GROUP] for i in range(max(0, whole - GROUPS), whole)]
    return [statistics.median(group) for group in groups]


def steady(steps: list[float]) -> bool:
    found = medians(steps)
    return len(found) == GROUPS and max(found) <= min(found) * (1 + WITHIN)


def warm_up(bench: Bench, requests: Many[Request], concurrency: int, limit: float) -> tuple[WarmupFact, int]:
    """Warms all arms, prompt by prompt, for at most `limit` seconds, then both once at the run's own load if that is above 1.

    Returns the fact and the number of tokens drafted on the way.
    """
    steps: dict[Arm, list[float]] = {"plain": [], "speculative": [], "control": []}
    drafted = 0
    bench.reset()
    for request in cycle(requests):
        for outcome in bench.all_arms(request):
            steps[outcome.arm] += _durations(outcome.sequence.step_end)
            drafted += outcome.sequence.drafted
        if steady(steps["plain"]) or bench.clock.now() > limit:
            break
    seconds = bench.clock.now()
    if concurrency > 1:
        # Batches of other shapes run other kernels; the first of them is not to be timed.
        arms: tuple[Arm, Arm] = ("plain", "speculative")
        for arm in arms:
            bench.together(arm, 0, requests[: 2 * concurrency], concurrency)
            seconds += bench.clock.now()
    bench.controller.settle()
    fact = WarmupFact(
        steady=steady(steps["plain"]),
        seconds=seconds,
        steps=sum(map(len, steps.values())),
        medians={arm: tuple(medians(taken)) for arm, taken in steps.items()},
    )
    return fact, drafted


def _durations(ends: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(ends)]
