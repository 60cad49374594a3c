"""One pass of one arm over the prompts, and what its machine and its engine said of it."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from app.domain.bounds import Arm, Count, Purpose, Seconds, Share
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import LARGEST, LONGEST_DRAFT
from app.domain.quiet import contended
from app.domain.value import Value

MOST_ABSENT = 32


class TrialFact(Value):
    """One pass of one arm over the prompts. `others` is the share of the measuring cores that other processes took; None where it cannot be read.
    `contended` follows from it and from `steal`, whatever a runner says; one that knows of more says so. `eager_forwards` are those of `forwards` in
    whose step a compiled target ran a pass that was not compiled; None where nothing was compiled. `forwards` and `slot_steps` are None where an
    engine does not tell them.

    `counted` is what a served engine's own counters say of this trial: `counted.counts.requests` requests ended in it. `foreign` are those of them
    that the runner did not send; None where nobody can tell."""

    kind: Literal["trial"] = "trial"
    arm: Arm
    purpose: Purpose = "headline"
    trial: Count
    block: Count
    seconds: Seconds
    forwards: Count | None
    slot_steps: Count | None
    eager_forwards: Count | None = None
    load_average: Annotated[float, Field(ge=0, le=10**5)] | None = None
    steal: Share | None = None
    others: Share | None = None
    contended: Annotated[bool, Field(validate_default=True)] = False
    clock_mhz: Annotated[float, Field(ge=0, le=10**5)] | None = None
    peak_bytes: Annotated[int, Field(ge=0, le=2**50)] | None = None
    weight_bytes: Annotated[int, Field(ge=0, le=2**50)] | None = None
    cache_bytes: Annotated[int, Field(ge=0, le=2**50)] | None = None
    counted: Reading | None = None
    foreign: Count | None = None

    @field_validator("contended")
    @classmethod
    def _by_its_shares(cls, said: bool, told: ValidationInfo) -> bool:
        return said or contended(told.data.get("steal"), told.data.get("others"))

    @model_validator(mode="after")
    def _counters_agree(self) -> Self:
        wrong = [] if self.counted is None else [*_too_large(self.counted), *self.counted.counts.broken()]
        if wrong:
            raise ValueError(f"the engine's counters over trial {self.trial} of arm {self.arm}: " + "; ".join(wrong))
        return self


def _too_large(found: Reading) -> Iterator[str]:
    """Counters come from a machine that the service does not trust."""
    for name, value in vars(found.counts).items():
        lists = value if isinstance(value, tuple) else ()
        if len(lists) > LONGEST_DRAFT:
            yield f"{name} has {len(lists)} entries, {LONGEST_DRAFT} are the most"
        if any(not 0 <= each <= LARGEST for each in (*lists[:LONGEST_DRAFT], *([value] if isinstance(value, int) else []))):
            yield f"{name} is to be from 0 to {LARGEST}"
    if len(found.absent) > MOST_ABSENT:
        yield f"absent has {len(found.absent)} entries, {MOST_ABSENT} are the most"
