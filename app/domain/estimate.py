"""A number with its interval, its n and its unit, or the reason why it has none."""

from typing import Literal, Self

from pydantic import model_validator

from app.domain.passport import Passport
from app.domain.sentence import Sentence
from app.domain.value import Value

Counted = Literal["prompts", "parallel pairs", "trial pairs", "blocks", "requests", "rounds", "windows", "runs"]
Scope = Literal["these prompts", "prompts like these"]
Unit = Literal[
    "share",
    "points",
    "ratio",
    "tokens",
    "tokens_per_second",
    "characters_per_second",
    "words_per_second",
    "requests_per_second",
    "seconds",
    "bytes",
    "count",
    "layer_passes",
    "experts",
    "characters",
]
LEVEL = 0.95


class Estimate(Value):
    """`n` counts the clusters that `counted` names and that the number rests on: those with something to divide by. `of` is how many there were in
    all where that is more, else None. Without low and high, or without a point, `reason` says why; absent is None, never 0."""

    point: float | None
    low: float | None = None
    high: float | None = None
    level: float = LEVEL
    n: int
    of: int | None = None
    counted: Counted
    scope: Scope = "prompts like these"
    reason: Sentence | None = None

    @model_validator(mode="after")
    def _interval_or_reason(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends")
        if (self.point is None or self.low is None) and self.reason is None:
            raise ValueError("an estimate without a point or an interval states the reason")
        if self.point is None and self.low is not None:
            raise ValueError("an interval without a point is no estimate")
        if self.point is not None and self.low is not None and self.high is not None and not self.low <= self.point <= self.high:
            raise ValueError("the point lies outside its interval")
        if self.of is not None and self.of <= self.n:
            raise ValueError("`of` is given where it is more than n")
        return self


class Computed(Value):
    """What a figure says beside its passport, without which it is none."""

    id: str
    unit: Unit
    part: dict[str, str] = {}
    pooled: Estimate
    macro: Estimate | None = None
    left_out: Sentence | None = None
    rounds: int | None
    emitted: int | None


class Figure(Computed):
    """One figure of definitions § 2 with the passport it was measured under; it cannot be built without one.

    `part` narrows it: {"position": "2"}, {"profile": "code"}, {"arm": "plain"}, {"quantile": "p95"}. `pooled` is Σ/Σ, of a speed-up the estimate over
    pairs (definitions § 3); `macro` is the mean over prompts, geometric for ratios, and `left_out` says what it leaves out. `rounds` and `emitted`
    are R and E behind the number.
    """

    passport: Passport


class Refusal(Value):
    """The answer in place of a figure. `field` is the passport field or the gate that refused it; `remedy` says what would complete it."""

    id: str
    part: dict[str, str] = {}
    field: str
    reason: Sentence
    remedy: Sentence | None = None


class Absent(Value):
    """A figure that could not be computed, with the reason; it was not refused."""

    id: str
    part: dict[str, str] = {}
    reason: Sentence


Cell = Figure | Refusal | Absent
