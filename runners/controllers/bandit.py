"""Learns by trying which draft length delivers most tokens a second, apart for every size of batch."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from runners.controllers.base import Controller, Params


class BanditParams(Params):
    longest: Annotated[int, Field(ge=1, le=32, title="Longest draft")] = 6
    exploration: Annotated[
        float, Field(ge=0, le=10, title="Exploration", description="how much a length that was seldom tried is given the benefit of the doubt")
    ] = 0.3
    discount: Annotated[
        float,
        Field(gt=0, le=1, title="Discount", description="what a step still weighs one step later; 1 never forgets, less follows a text that changes"),
    ] = 1.0


@dataclass
class Arm:
    """One draft length: discounted sums over the steps that asked for it."""

    steps: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        return self.tokens / self.seconds if self.seconds > 0 else 0.0


@dataclass
class Bin:
    """The arms for batches of about one size, and the arm of the step under way."""

    arms: list[Arm]
    asked: int = 0


@dataclass
class Under:
    """The step under way: its bin and the drafts that were kept in it."""

    bin: Bin | None = None
    kept: int = field(default=0)


class Bandit(Controller):
    """UCB1 (Auer et al. 2002) over the lengths 0 … `longest`, discounted (Garivier & Moulines 2008) where `discount` is below 1.

    An arm's value is Σ tokens ÷ Σ seconds of its steps, the rate that a whole trial is judged by, not the mean of rates of single steps. The index is
    value ÷ best value + exploration·√(2 ln Σ steps ÷ steps). That a bandit may choose the length is from BanditSpec (arXiv 2505.15141), and that
    length 0 is an arm and batch sizes learn apart from Nightjar (arXiv 2512.22420); rule and constants are not theirs. Batch sizes are binned by
    powers of two. A step counts for the length that was asked for, whatever drafter and token limit made of it.

    There is no chance in it. It starts every trial knowing nothing: rewards of the warm-up hold the acceptance of the prompts that are measured.
    """

    name = "bandit"
    summary = "tries draft lengths, none included, and keeps to the one that delivers most tokens a second"
    Params = BanditParams
    params: BanditParams

    def __init__(self, params: BanditParams) -> None:
        super().__init__(params)
        self._bins: dict[int, Bin] = {}
        self._under = Under()

    @property
    def longest(self) -> int:
        return self.params.longest

    @property
    def timed(self) -> bool:
        return True

    def begin(self, slot: int) -> None:
        pass

    def reset(self) -> None:
        self._bins, self._under = {}, Under()

    def length(self, slot: int) -> int:
        return self.lengths([slot])[0]

    def lengths(self, slots: Sequence[int]) -> list[int]:
        size = (len(slots) - 1).bit_length()
        found = self._bins.setdefault(size, Bin([Arm() for _ in range(self.params.longest + 1)]))
        found.asked = self._best(found.arms)
        self._under = Under(found)
        return [found.asked] * len(slots)

    def observe(self, slot: int, drafted: int, kept: int) -> None:
        self._under.kept += kept

    def stepped(self, drafted: Sequence[int], seconds: float) -> None:
        under, self._under = self._under, Under()
        if under.bin is None:
            return
        for arm in under.bin.arms:
            arm.steps, arm.tokens, arm.seconds = (value * self.params.discount for value in (arm.steps, arm.tokens, arm.seconds))
        arm = under.bin.arms[under.bin.asked]
        arm.steps += 1
        arm.tokens += len(drafted) + under.kept
        arm.seconds += seconds

    def _best(self, arms: Sequence[Arm]) -> int:
        """The length to ask for: one that was not tried yet, shortest first, or the one with the highest index."""
        untried = next((length for length, arm in enumerate(arms) if arm.steps == 0), None)
        if untried is not None:
            return untried
        top, doubt = max(arm.rate for arm in arms) or 1.0, 2 * math.log(max(sum(arm.steps for arm in arms), 1.0))
        index = [arm.rate / top + self.params.exploration * math.sqrt(doubt / arm.steps) for arm in arms]
        return max(range(len(arms)), key=index.__getitem__)
