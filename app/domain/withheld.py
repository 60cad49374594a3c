"""What a fact may tell of a private suite: that answers are equal or not, how long they are and in which language, never what they say."""

from collections.abc import Iterator
from typing import Any, TypeVar

from app.domain.facts import AnyFact, FinishFact, RequestFact
from app.domain.observations import DivergenceFact

F = TypeVar("F", bound=AnyFact)
ANSWER = ("output_ids", "output_text")
PARTING = ("plain_token", "speculative_token", "plain_text", "speculative_text")


# An error may quote what was being read or answered.
REASON = "The suite is private, so the runner's own words are withheld; the code says what kind of end it was."


def withhold(fact: F) -> F:
    """The same fact without a token or a word of an answer, and an end without words of its own; digests, counts and codes stay."""
    if isinstance(fact, FinishFact):
        return fact.model_copy(update={"reason": REASON if fact.outcome == "failed" else ""})
    if isinstance(fact, RequestFact):
        return fact.model_copy(update=dict.fromkeys(ANSWER))
    if isinstance(fact, DivergenceFact):
        return fact.model_copy(update=dict.fromkeys(PARTING) | {"withheld": True})
    return fact


# Ends that the service itself words. All others are a runner's words, also inside of "Given up after 3 attempts".
OURS = frozenset({"wall_time"})
# How a report passes them on.
FAILED = "The run failed: %(reason)s"


def untold(failure: str | None, code: str | None) -> str | None:
    """What may be shown of a failure on a private suite. Those of before ends were withheld on arrival are stored in full."""
    return failure if failure is None or code in OURS or REASON in failure else REASON


def muted(stored: Any) -> Any:
    """A stored report on a private suite, or a part of one as JSON, whose sentences do not pass on what its runner said."""
    if isinstance(stored, list):
        return [muted(each) for each in stored]
    if not isinstance(stored, dict):
        return stored
    if stored.get("text") == FAILED:
        return {"text": REASON, "values": {}}
    return {name: muted(each) for name, each in stored.items()}


def revealed(fact: AnyFact) -> Iterator[str]:
    """The fields of a fact in which something of an answer stands."""
    fields = ANSWER if isinstance(fact, RequestFact) else PARTING if isinstance(fact, DivergenceFact) else ()
    yield from (field for field in fields if getattr(fact, field) is not None)
