"""Texts that never were: for every output position, whether a draft of it would be kept, and how sure its drafter is of it.

Whether a draft is kept depends on its position alone, as it does in greedy decoding: behind a right prefix the drafter says one thing and the target
says one thing. So every controller meets the same text.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# How widely a drafter's confidence is spread around the chance of the moment: a Beta law with so many pseudo-counts.
SPREAD = 4.0
FREE, COPIED = 0.25, 0.92


@dataclass(frozen=True)
class Trace:
    """Three entries a position: `chance`, the α of the process that the oracle knows; `kept`, its outcome; `confidence`, the drafter's own
    probability, calibrated: of drafts with confidence c a share c is kept."""

    chance: NDArray[np.float64]
    kept: NDArray[np.bool_]
    confidence: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.kept)

    def switches(self) -> list[int]:
        """Positions at which the process changes."""
        return [int(at) for at in np.flatnonzero(np.diff(self.chance)) + 1]


Process = Callable[[int, np.random.Generator], NDArray[np.float64]]


def stationary(chance: float) -> Process:
    """The same α all along."""
    return lambda tokens, _: np.full(tokens, chance)


def switching(before: float, after: float) -> Process:
    """One α in the first half of a text and another one in the second."""
    return lambda tokens, _: np.where(np.arange(tokens) < tokens // 2, before, after)


def bursty(low: float = FREE, high: float = COPIED, *, stay: int = 40) -> Process:
    """A Markov chain of two states, free text and copied text, each left after `stay` tokens on average."""

    def process(tokens: int, random: np.random.Generator) -> NDArray[np.float64]:
        turns = random.random(tokens) < 1 / stay
        return np.where(np.cumsum(turns) % 2 == 0, low, high)

    return process


def draw(process: Process, tokens: int, seed: int) -> Trace:
    random = np.random.default_rng(seed)
    chance = process(tokens, random)
    inner = np.clip(chance, 1e-6, 1 - 1e-6)
    confidence = random.beta(SPREAD * inner, SPREAD * (1 - inner))
    return Trace(chance, random.random(tokens) < confidence, confidence)


PROCESSES: Mapping[str, Process] = {
    "kept often": stationary(0.85),
    "kept seldom": stationary(0.3),
    "never kept": stationary(0.0),
    "good, then bad": switching(0.9, 0.2),
    "bad, then good": switching(0.2, 0.9),
    "bursty": bursty(),
}
