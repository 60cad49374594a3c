"""What any server of the OpenAI interface tells: how many tokens it delivered, and nothing of its drafts."""

from collections.abc import Mapping

from app.domain.counts import Counts
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import Told, absences, count, section
from app.domain.outside.versions import Shape

ANSWER = Shape(
    engine="openai", name="usage", said_in="/v1/completions, /v1/chat/completions", read_from="OpenAI API v1", run="llama-server b11434, vLLM 0.32.0"
)
SHAPES = (ANSWER,)

_EMITTED = "usage.completion_tokens"


def usage(body: Mapping[str, object]) -> Reading:
    """One answer, or the last chunk of a streamed one. Raises NotUnderstood."""
    emitted = count(section(body, "usage"), _EMITTED)
    told: Told = {"emitted": emitted, "rounds": None, "drafted": None, "verified": None}
    looked_for = {"emitted": (_EMITTED,)} | dict.fromkeys(("rounds", "drafted", "verified"), ("usage",))
    return Reading(
        engine="openai",
        shape=ANSWER.name,
        counts=Counts(requests=1, **told),
        drafted_source="absent",
        absent=absences(looked_for, told),
    )
