"""Dice that come up with every outcome in turn, so that the law of what is drawn is known exactly."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from runners.engine.dice import Dice

T = TypeVar("T", bound=Hashable)


class Replay(Dice):
    """Follows `path`, one number a draw, then takes the first outcome of every further draw. `trail` is what was taken, of how many."""

    def __init__(self, path: Sequence[int]) -> None:
        self._path = list(path)
        self.trail: list[tuple[int, int]] = []
        self.probability = 1.0

    def begin(self, slot: int, seed: int, prompt: str) -> None:
        pass

    def below(self, slots: Sequence[int], thresholds: Sequence[Sequence[float]]) -> list[list[bool]]:
        return [[bool(self._draw([1 - min(1.0, t), min(1.0, t)])) for t in row] for row in thresholds]

    def pick(self, slots: Sequence[int], weights: Tensor) -> Tensor:
        return torch.tensor([self._draw((row.double() / row.double().sum()).tolist()) for row in weights])

    def _draw(self, law: list[float]) -> int:
        possible = [value for value, probability in enumerate(law) if probability > 0]
        place = self._path[len(self.trail)] if len(self.trail) < len(self._path) else 0
        self.trail.append((place, len(possible)))
        self.probability *= law[possible[place]]
        return possible[place]


def law_of(play: Callable[[Dice], T]) -> dict[T, float]:
    """The probability of everything that `play` can return, by running it once for every way in which its dice can fall."""
    found: dict[T, float] = defaultdict(float)
    path: list[int] | None = []
    while path is not None:
        dice = Replay(path)
        result = play(dice)
        found[result] += dice.probability
        path = _next(dice.trail)
    return dict(found)


def _next(trail: list[tuple[int, int]]) -> list[int] | None:
    while trail and trail[-1][0] + 1 == trail[-1][1]:
        trail.pop()
    return [*(place for place, _ in trail[:-1]), trail[-1][0] + 1] if trail else None
