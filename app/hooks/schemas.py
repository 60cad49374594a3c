"""What the hooks room says to the outside."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from app.domain.value import Value
from app.hooks.addresses import LONGEST

Event = Literal["run.finished", "gate.*", "gate.holds", "gate.does-not-hold", "gate.could-not-be-measured", "gate.cannot-tell"]


class WebhookIn(Value):
    url: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    events: Annotated[tuple[Event, ...], Field(min_length=1, max_length=6)]


class WebhookOut(Value):
    id: int
    url: str
    events: tuple[str, ...]
    created_by: str
    created_at: datetime


class WebhookMade(WebhookOut):
    """`secret` signs every delivery; it is shown this once."""

    secret: str


class TryOut(Value):
    """`status` is what the receiver answered; without an answer `error` says what happened."""

    at: datetime
    status: int | None
    error: str | None
    seconds: float


class DeliveryOut(Value):
    """One event for one webhook. `next_at` is the time of the next try, None once it has ended."""

    id: int
    webhook: int
    run: int
    event: str
    state: Literal["waiting", "delivered", "failed"]
    created_at: datetime
    next_at: datetime | None
    ended_at: datetime | None
    tries: tuple[TryOut, ...]
