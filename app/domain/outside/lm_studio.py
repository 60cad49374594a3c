"""What LM Studio tells of its own work: `stats` in each answer of its REST API. Rounds are not told. Drafts that it ignored are among the drafted
ones and were never verified, so they are kept apart as well."""

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
    told: Told = {
        "emitted": count(section(body, "usage"), _EMITTED), "rounds": None, "drafted": count(found, _TOTAL), "verified": count(found, _ACCEPTED)
    }  # fmt: skip
    rejected, ignored = count(found, _REJECTED), count(found, _IGNORED)
    parts = [told["verified"], rejected, ignored]
    if told["drafted"] is not None and None not in parts and sum(part or 0 for part in parts) != told["drafted"]:
        raise NotUnderstood(plain("%(parts)s do not add up to %(total)s.", parts=f"{_ACCEPTED}, {_REJECTED}, {_IGNORED}", total=_TOTAL))
    looked_for = {"emitted": (_EMITTED,), "rounds": ("stats",), "drafted": (_TOTAL,), "verified": (_ACCEPTED,)}
    return Reading(
        engine="lmstudio",
        shape=ANSWER.name,
        counts=Counts(requests=1, **told),
        drafted_source="absent" if told["drafted"] is None else "observed",
        absent=absences(looked_for, told),
        ignored=ignored,
    )
