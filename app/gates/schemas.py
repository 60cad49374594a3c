"""What is asked of a run by a build, and what it is told."""

from itertools import product
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from app.domain.estimate import Cell, Estimate, Unit
from app.domain.passport import Passport
from app.domain.sentence import Sentence
from app.domain.value import Value
from app.gates.rule import Answer

RunNumber = Annotated[int, Field(ge=1, le=2**63 - 1)]
Part = Annotated[dict[str, Annotated[str, Field(max_length=256)]], Field(max_length=4)]
Wanted = Literal["pays", "does not pay"]
MOST_CHECKS = 32


class Bound(Value):
    """The least or the most that a figure of the run may be, in the figure's own unit (a share is 0 to 1). `headline` is the figure that the run's
    load is judged by."""

    figure: Annotated[str, Field(min_length=1, max_length=64)]
    part: Part = {}
    min: float | None = None
    max: float | None = None

    @property
    def about(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Which number it bounds."""
        return self.figure, tuple(sorted(self.part.items()))

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        if (self.min is None) == (self.max is None):
            raise ValueError("a bound has either min or max; give two bounds for a range")
        return self


class Tolerance(Value):
    """How much worse than its baseline a figure may be: a share by a difference (0.02 is 2 points), anything else by its part (0.02 is 2%)."""

    figure: Annotated[str, Field(min_length=1, max_length=64)]
    part: Part = {}
    within: Annotated[float, Field(ge=0, lt=1)]


class GateIn(Value):
    """`baseline` is a run of the same measurement from before a change; without `tolerances` headline and acceptance may be worse by the run's
    margin. `repeat` is a later run of the same spec: what does not hold must not hold there either. With `to_be_confirmed` such a repeat is still to
    come where it does not hold, and webhooks are not told yet."""

    run: RunNumber
    bounds: Annotated[tuple[Bound, ...], Field(max_length=MOST_CHECKS)] = ()
    verdict: Wanted | None = None
    baseline: RunNumber | None = None
    tolerances: Annotated[tuple[Tolerance, ...], Field(max_length=MOST_CHECKS)] = ()
    repeat: RunNumber | None = None
    to_be_confirmed: bool = False

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.bounds and self.verdict is None and self.baseline is None:
            raise ValueError("a gate asks something: give bounds, a verdict or a baseline")
        for low, high in product(self.bounds, repeat=2):
            if low.about == high.about and low.min is not None and high.max is not None and low.min > high.max:
                raise ValueError(f"no {low.figure} is both at least {low.min:g} and at most {high.max:g}")
        if self.tolerances and self.baseline is None:
            raise ValueError("tolerances are towards a baseline; name its run")
        if self.baseline in (self.run, self.repeat) and self.baseline is not None:
            raise ValueError("the baseline is another run than the one that is judged")
        if self.repeat is not None and self.repeat <= self.run:
            raise ValueError("a repeat is a later run than the one that it repeats")
        return self


class Word(Value):
    """What one run says to one check."""

    answer: Answer
    estimate: Estimate | None = None
    sentence: Sentence


class Check(Value):
    """One condition. `answer` is the word of the run, or after a repeat that of both; `min` or `max` is what it was held against: of a baseline the
    bound on the paired difference (points) or quotient (ratio)."""

    kind: Literal["bound", "verdict", "baseline"]
    figure: str
    part: dict[str, str] = {}
    unit: Unit | None = None
    min: float | None = None
    max: float | None = None
    wanted: Wanted | None = None
    answer: Answer
    word: Word
    repeated: Word | None = None


class GateOut(Value):
    """`beside` are the headline and the acceptance of the run, whatever was asked: neither is shown without the other. `confirmed` is None where no
    repeat was looked at; `family` counts the checks."""

    run: int
    baseline: int | None = None
    repeat: int | None = None
    question: Sentence
    answer: Answer
    sentence: Sentence
    checks: tuple[Check, ...]
    confirmed: bool | None = None
    family: int
    notes: tuple[Sentence, ...] = ()
    beside: tuple[Cell, ...] = ()
    passport: Passport | None = None
