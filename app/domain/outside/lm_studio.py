"""What LM Studio tells of its own work: `stats` in each answer of its REST API. Rounds are not told.

Its total is what the draft model generated: accepted, rejected, and ignored ones, which were not sent to the main model (lmstudio-js,
LLMPredictionStats.ts). D counts what was put in front of the verifier, so it is the total without the ignored."""

from collections.abc import Mapping

from app.domain.counts import Counts
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import NotUnderstood, Told, absences, count, section
from app.domain.outside.versions import Shape
from app.domain.sentence import plain

ANSWER = Shape(engine="lmstudio", name="stats", said_in="/api/v0/chat/completions", read_from="0.3.10")
SHAPES = (ANSWER,)

_EMITTED = "usage.completion_tokens"
_TOTAL, _ACCEPTED = "stats.total_draft_tokens_count", "stats.accepted_draft_tokens_count"
_REJECTED, _IGNORED = "stats.rejected_draft_tokens_count", "stats.ignored_draft_tokens_count"


def stats(body: Mapping[str, object]) -> Reading:
    """One answer. Raises NotUnderstood, also where accepted, rejected and ignored drafts do not add up to all of them."""
    found = section(body, "stats")
    accepted, rejected, ignored, total = (count(found, name) for name in (_ACCEPTED, _REJECTED, _IGNORED, _TOTAL))
    told: Told = {
        "emitted": count(section(body, "usage"), _EMITTED),
        "rounds": None,
        "drafted": _sent(accepted, rejected, ignored, total),
        "verified": accepted,
    }
    looked_for = {"emitted": (_EMITTED,), "rounds": ("stats",), "drafted": (_REJECTED, _IGNORED, _TOTAL), "verified": (_ACCEPTED,)}
    return Reading(
        engine="lmstudio",
        shape=ANSWER.name,
        counts=Counts(requests=1, **told),
        drafted_source="absent" if told["drafted"] is None else "observed",
        absent=absences(looked_for, told),
        ignored=ignored,
    )


def _sent(accepted: int | None, rejected: int | None, ignored: int | None, total: int | None) -> int | None:
    """D; None where it is told neither how many were rejected nor how many of the total were ignored."""
    parts = None if accepted is None or rejected is None else accepted + rejected
    rest = None if total is None or ignored is None else total - ignored
    known = {each for each in (parts, rest) if each is not None}
    if len(known) > 1 or any(not 0 <= each <= (each if total is None else total) for each in known):
        raise NotUnderstood(plain("%(parts)s do not add up to %(total)s.", parts=f"{_ACCEPTED}, {_REJECTED}, {_IGNORED}", total=_TOTAL))
    return known.pop() if known else None
