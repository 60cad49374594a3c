"""Two arms over the same units, back to back and in an order that cancels drift, on watched cores."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from app.domain.estimate import Estimate
from app.statistics.pairs import speedup
from runners.clock import Clock
from runners.environment import Watch

Unit = TypeVar("Unit")
# A prompt is decoded twice by each arm; the next prompt begins with the other arm.
PROMPT_ORDERS = ("ABBA", "BAAB")
# A trial pair is one trial of each; two neighbours make one ABBA block.
TRIAL_ORDERS = ("AB", "BA")


@dataclass
class Seconds:
    """Of each arm, by unit: the mean over its turns. `disturbed` counts units that others disturbed twice, which are left out."""

    first: list[float] = field(default_factory=list)
    second: list[float] = field(default_factory=list)
    disturbed: int = 0

    def first_faster(self) -> Estimate:
        """How many times as fast the first arm is, where units are prompts and both arms delivered as many tokens."""
        return speedup(self.second, self.first)


def interleave(
    units: Sequence[Unit],
    first: Callable[[Unit], object],
    second: Callable[[Unit], object],
    clock: Clock,
    *,
    orders: Sequence[str] = PROMPT_ORDERS,
    watch: Callable[[], Watch],
) -> Seconds:
    """Times both arms over every unit; A is the first arm. A unit that was disturbed is timed once more, and left out if it was again."""
    found = Seconds()
    for number, unit in enumerate(units):
        for _ in range(2):
            looking = watch()
            turns = {"A": list[float](), "B": list[float]()}
            for arm in orders[number % len(orders)]:
                turns[arm].append(_timed(first if arm == "A" else second, unit, clock))
            if not looking.read().contended:
                found.first.append(sum(turns["A"]) / len(turns["A"]))
                found.second.append(sum(turns["B"]) / len(turns["B"]))
                break
        else:
            found.disturbed += 1
    if found.disturbed:
        sys.stderr.write(f"other processes disturbed {found.disturbed} of {len(units)} pairs twice; these are left out\n")
    return found


def _timed(arm: Callable[[Unit], object], unit: Unit, clock: Clock) -> float:
    clock.settle()
    began = clock.now()
    arm(unit)
    clock.settle()
    return clock.now() - began
