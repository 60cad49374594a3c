"""A published figure and what its source says about it. It is a type of its own: no interval, no n, and no way to make an estimate of it."""

from datetime import date, datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from app.domain import spelling
from app.domain.language import Language
from app.domain.spec import Name
from app.domain.value import Value

Quantity = Literal["speed-up", "acceptance", "tokens per call", "speed"]
Kind = Literal[
    "self, layers",
    "self, experts",
    "self, KV subset",
    "self, hybrid models",
    "external, no weights",
    "external model",
    "external head",
    "external tree",
    "parallel block",
    "heads in the model",
    "training",
    "controller",
    "engine",
    "other",
]
Lacking = Literal["language", "tokenizer", "target", "hardware", "load", "definition"]
UNITS: dict[Quantity, str] = {"speed-up": "ratio", "acceptance": "share", "tokens per call": "tokens", "speed": "tokens_per_second"}
# Without these a figure has no carrying power and is refused; the others are only named.
REFUSING: tuple[Lacking, ...] = ("language", "tokenizer")
NAMED: tuple[Lacking, ...] = (*REFUSING, "target", "hardware", "load", "definition")

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Address = Annotated[str, StringConstraints(pattern=spelling.ADDRESS, max_length=400)]


class ClaimIn(Value):
    """One published figure, as its source prints it.

    `figure` is the source's own name of it, `definition` the id of our figure with the same formula where the source states one. `value` to `upto` is
    a range over models or texts, which is no interval. A share lies in 0..1. `kind` is needed for a system that is not on the board yet.
    """

    system: Line
    kind: Kind | None = None
    drafter: Name | None = None
    quantity: Quantity
    figure: Line
    definition: Name | None = None
    value: Annotated[float, Field(ge=0, le=1e9)]
    upto: Annotated[float, Field(gt=0, le=1e9)] | None = None
    target: Line | None = None
    language: Language | None = None
    tokenizer: Line | None = None
    hardware: Line | None = None
    load: Line | None = None
    source: Line
    address: Address | None = None
    published: date | None = None
    note: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)] | None = None

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        if self.upto is not None and self.upto <= self.value:
            raise ValueError("a range ascends: upto must be above value")
        if self.quantity == "acceptance" and max(self.value, self.upto or 0) > 1:
            raise ValueError("an acceptance is a share of 1: enter 0.8 for 80 %")
        return self


class Claim(Value):
    """A claim on the board. `lacks` names what its source does not say; `refused` is true where language or tokenizer is among it."""

    id: int
    system: str
    quantity: Quantity
    unit: str
    figure: str
    definition: str | None
    value: float
    upto: float | None
    target: str | None
    language: str | None
    tokenizer: str | None
    hardware: str | None
    load: str | None
    source: str
    address: str | None
    published: date | None
    note: str | None
    entered_by: str
    entered_at: datetime
    lacks: tuple[Lacking, ...]
    refused: bool


class System(Value):
    """Something that is said to speed up decoding; `drafter` is its name here, where it can be measured."""

    id: int
    name: str
    kind: Kind
    about: str
    drafter: str | None
    claims: tuple[Claim, ...] = ()
