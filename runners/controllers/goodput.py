"""The draft length with the highest goodput: tokens expected of a step over the seconds that such a step was measured to take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from runners.controllers._step_times import StepTimes
from runners.controllers.base import Controller, Params

# Acceptance taken for granted before the first round, and what it weighs, in drafts.
HOPE, HOPE_WEIGHT = 0.7, 2.0
# Measurements that a cell needs, and how often the warm-up asks for a length before it takes what the drafter can give.
ENOUGH, PATIENCE = 5, 12


class GoodputParams(Params):
    longest: Annotated[int, Field(ge=1, le=32, title="Longest draft")] = 8
    memory: Annotated[
        float, Field(gt=0, lt=1, title="Memory", description="what a draft still weighs in the estimate of acceptance when one more has been judged")
    ] = 0.95
    probe: Annotated[
        int,
        Field(
            ge=1,
            le=10_000,
            title="Probe after",
            description="steps without a draft, after which one token is drafted to see whether that still holds",
        ),
    ] = 16
    online: Annotated[
        bool,
        Field(
            title="Go on timing",
            description="learn step times all along; otherwise they stay as the warm-up measured them, and greedy repeats are alike",
        ),
    ] = False


@dataclass
class Kept:
    """Discounted counts of a geometric law: drafts `kept`, of the drafts that were `judged`: those kept and the first one that was not."""

    kept: float
    judged: float

    def add(self, drafted: int, kept: int, memory: float) -> None:
        """`memory` is what a draft still weighs when one more has been judged."""
        judged = min(kept + 1, drafted)
        self.kept = self.kept * memory**judged + kept
        self.judged = self.judged * memory**judged + judged

    @property
    def share(self) -> float:
        return self.kept / self.judged


class Goodput(Controller):
    """Maximises Σ_rows (1 + α + … + α^n) ÷ t(rows, n) over n = 0 … `longest` (SmartSpec / TurboSpec, arXiv 2406.14066).

    α is the chance that a draft is kept given that those before it were. Each row has its own, as a discounted Σ kept ÷ Σ min(kept + 1, drafted):
    drafts behind the first rejected one say nothing and are not in it, so that it does not depend on n. A request begins with the mean of all
    rounds of the trial so far. Where 0 is best, one token is drafted now and then, and again at once as long as it is kept. That acceptance is
    geometric is the paper's assumption; the estimate, the start from the mean and the probes are ours. t is the median of measured steps
    (`_step_times`). One n serves all rows, since one forward as wide as the longest draft verifies them.

    The warm-up asks for a few lengths in turn until each is measured; then times stay as they are, unless `online`. Of acceptance it keeps nothing.
    """

    name = "goodput"
    summary = "the draft length with most expected tokens per measured second, none included"
    Params = GoodputParams
    params: GoodputParams

    def __init__(self, params: GoodputParams) -> None:
        super().__init__(params)
        self._times = StepTimes()
        self._settled: StepTimes | None = None
        self._asked: dict[int, int] = {}
        self.reset()

    @property
    def longest(self) -> int:
        return self.params.longest

    @property
    def timed(self) -> bool:
        return self.params.online

    def reset(self) -> None:
        self._mean = Kept(HOPE * HOPE_WEIGHT, HOPE_WEIGHT)
        self._own: dict[int, Kept] = {}
        self._idle, self._probing = 0, False
        if self._settled is not None:
            self._times = self._settled.copy()

    def begin(self, slot: int) -> None:
        self._own[slot] = Kept(self._mean.share * HOPE_WEIGHT, HOPE_WEIGHT)

    def warm(self, rows: int) -> bool:
        lengths = self._tried()
        return self._asked.get(rows, 0) >= PATIENCE * len(lengths) or all(self._times.count(rows, n) >= ENOUGH for n in lengths)

    def settle(self) -> None:
        self._settled = self._times.copy()

    def length(self, slot: int) -> int:
        return self.lengths([slot])[0]

    def lengths(self, slots: Sequence[int]) -> list[int]:
        rows = len(slots)
        if self._settled is None and not self.warm(rows):
            lengths, asked = self._tried(), self._asked.get(rows, 0)
            self._asked[rows] = asked + 1
            return [lengths[asked % len(lengths)]] * rows
        n = self._best(slots)
        self._idle = self._idle + 1 if n == 0 else 0
        self._probing = self._idle > self.params.probe
        return [1 if self._probing else n] * rows

    def observe(self, slot: int, drafted: int, kept: int) -> None:
        if self._probing and not kept:
            self._idle = 0
        self._own[slot].add(drafted, kept, self.params.memory)
        self._mean.add(drafted, kept, 1.0)

    def stepped(self, drafted: Sequence[int], seconds: float) -> None:
        if self._settled is None or self.params.online:
            self._times.add(len(drafted), max(drafted, default=0), seconds)

    def _tried(self) -> list[int]:
        """Lengths that are measured: none, the powers of two, and the longest."""
        return sorted({0, self.longest} | {2**k for k in range(self.longest.bit_length()) if 2**k <= self.longest})

    def _best(self, slots: Sequence[int]) -> int:
        """The shortest of the lengths with the highest goodput."""
        seconds = self._times.curve(len(slots), self.longest)
        if seconds is None:
            return self.longest
        shares = [self._own[slot].share for slot in slots]
        tokens, alive, goodputs = float(len(slots)), [1.0] * len(slots), []
        for n in range(self.longest + 1):
            if n:
                alive = [a * share for a, share in zip(alive, shares, strict=True)]
                tokens += sum(alive)
            goodputs.append(tokens / max(seconds[n], 1e-9))
        return max(range(len(goodputs)), key=goodputs.__getitem__)
