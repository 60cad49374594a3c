"""All chance of a run. Whoever draws, draws from here: a seeded stream per sequence, or in a test every outcome in turn."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from runners.engine.law import Law


class Dice(ABC):
    """Draws are asked for row by row, `slots[r]` saying whose stream row r draws from; a row's stream never depends on the other rows."""

    @abstractmethod
    def begin(self, slot: int, seed: int, prompt: str) -> None:
        """A sequence took the slot: its stream starts anew from its seed and prompt."""

    @abstractmethod
    def below(self, slots: Sequence[int], thresholds: Sequence[Sequence[float]]) -> list[list[bool]]:
        """Per row and threshold, true with that probability (clipped to [0, 1]); one draw each, whatever the outcome."""

    @abstractmethod
    def pick(self, slots: Sequence[int], weights: Tensor) -> Tensor:
        """An index per row, drawn in proportion to the row's weights `[R, V]`; `[R]`."""


def key_of(seed: int, prompt: str) -> int:
    """128 bits that start a request's stream: prompts of one seed draw apart."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{prompt}".encode()).digest()[:16])


class SeededDice(Dice):
    def __init__(self) -> None:
        self._streams: dict[int, np.random.Generator] = {}

    def begin(self, slot: int, seed: int, prompt: str) -> None:
        self._streams[slot] = np.random.Generator(np.random.Philox(key_of(seed, prompt)))

    def below(self, slots: Sequence[int], thresholds: Sequence[Sequence[float]]) -> list[list[bool]]:
        return [list(self._streams[slot].random(len(row)) < np.asarray(row)) for slot, row in zip(slots, thresholds, strict=True)]

    def pick(self, slots: Sequence[int], weights: Tensor) -> Tensor:
        # In float32 the sum over a whole vocabulary drifts by more than a rare token weighs.
        sums = weights.double().cumsum(dim=-1)
        total = sums[:, -1:]
        drawn = torch.tensor([[self._streams[slot].random()] for slot in slots], dtype=torch.float64, device=weights.device)
        place = torch.minimum(drawn * total, torch.nextafter(total, torch.zeros_like(total)))
        return torch.searchsorted(sums, place, right=True)[:, 0]


@dataclass(frozen=True)
class Chance:
    """What a drafter and a verifier need to draw: the law and the dice of their loop."""

    law: Law = field(default_factory=Law)
    dice: Dice = field(default_factory=SeededDice)
