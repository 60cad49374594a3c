"""What the probes room says to the outside."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from app.domain.probe import ProbeEnd, ProbeFound, ProbeSpec
from app.domain.status import RunState
from app.domain.value import Value
from app.reports.probe import Beside, LanguageProbe


class ProbeLine(Value):
    """A probe without what it found."""

    id: int
    state: RunState
    spec: ProbeSpec
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    attempt: int
    runner: str | None = None
    failure: str | None = None
    failure_code: str | None = None
    retry_makes_sense: bool | None = None


class ProbeOut(ProbeLine):
    """`languages` are the predictions, `found` the facts that they are computed from; both are empty until the probe has succeeded."""

    languages: tuple[LanguageProbe, ...] = ()
    beside: tuple[Beside, ...] = ()
    found: ProbeFound | None = None


class ProbePage(Value):
    """Newest first; `next_cursor` goes on where this page ends."""

    items: list[ProbeLine]
    next_cursor: int | None = None


class ProbeFilter(Value):
    limit: Annotated[int, Field(ge=1, le=100)] = 30
    cursor: Annotated[int, Field(ge=1, le=2**53)] | None = None


class LeaseProbeIn(Value):
    pass


class ProbeBeat(Value):
    lease_seconds: float


class ProbeFinishIn(Value):
    end: ProbeEnd


class ProbeStateOut(Value):
    probe: int
    state: str


class ProbeReleaseIn(Value):
    reason: Annotated[str, Field(min_length=1, max_length=500)]
