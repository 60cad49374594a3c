"""The runner protocol's bodies."""

from typing import Annotated, Literal

from pydantic import Field

from app.domain.bounds import Digest
from app.domain.facts import FinishFact
from app.domain.value import Value


class LeaseIn(Value):
    """`wait_seconds` is how long the answer may take when there is nothing to do, `protocol` what the runner speaks."""

    wait_seconds: Annotated[float, Field(ge=0, le=30)] = 0
    protocol: Annotated[int, Field(ge=0, le=10**6)] = 1


class BeatIn(Value):
    pass


class BeatOut(Value):
    action: Literal["continue", "cancel", "lost"]
    lease_seconds: float


class BatchIn(Value):
    """`facts` is the JSON text of an array of facts, `digest` the SHA-256 of exactly that text; batches are numbered 0, 1, 2, …"""

    number: Annotated[int, Field(ge=0, le=10**6)]
    digest: Digest
    facts: str


class BatchOut(Value):
    """`counted` is false for a batch that was there already."""

    accepted: bool = True
    counted: bool


class FinishIn(Value):
    batches: Annotated[int, Field(ge=0, le=10**6)]
    finish: FinishFact


class ReleaseIn(Value):
    reason: Annotated[str, Field(min_length=1, max_length=500)]


class StateOut(Value):
    run: int
    state: str
