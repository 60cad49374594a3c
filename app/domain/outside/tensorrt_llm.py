"""What TensorRT-LLM tells of its own work: counters in /prometheus/metrics, drafted and kept by position.

A round with a draft drafts position 0, so that counter is R; and only here does an engine tell how deep its rounds were. Its gauges are of the last
iteration and are not read. Where only iterations were counted, R is not told."""

from collections.abc import Mapping

from app.domain.counts import Counts
from app.domain.outside.prometheus import Moved
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import NotUnderstood, Told, absences
from app.domain.outside.versions import Shape
from app.domain.sentence import plain

PREFIX = "trtllm_"
METRICS = Shape(engine="tensorrt-llm", name="metrics", said_in="/prometheus/metrics", read_from="metrics/collector.py, 050f80d")
SHAPES = (METRICS,)

_TOKENS, _FINISHED = PREFIX + "generation_tokens_total", PREFIX + "request_success_total"
# By position over requests that ended, and over iterations.
_DRAFTED_AT, _KEPT_AT = PREFIX + "spec_decode_drafted_tokens_total", PREFIX + "spec_decode_accepted_tokens_total"
_DRAFTED, _KEPT = PREFIX + "spec_decode_num_draft_tokens_total", PREFIX + "spec_decode_num_accepted_tokens_total"
_PLACE = "token_position"

_MADE_UP = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"


def counters(moved: Moved, *, longest_draft: int | None = None, forced: str | None = None) -> Reading:
    """Totals of the requests that ended between the two scrapes; those by position where there are any, as they are of the same requests as the
    tokens. Raises NotUnderstood."""
    requests = moved.total(_FINISHED)
    if requests is None:
        raise NotUnderstood(plain("The metrics do not have %(name)s, without which nobody knows how many requests they are of.", name=_FINISHED))
    drafted_at, kept_at = moved.by_position(_DRAFTED_AT, _PLACE), moved.by_position(_KEPT_AT, _PLACE)
    told: Told = {
        "emitted": moved.total(_TOKENS),
        "rounds": None if drafted_at is None else drafted_at[0],
        "drafted": moved.total(_DRAFTED) if drafted_at is None else sum(drafted_at),
        "verified": moved.total(_KEPT) if drafted_at is None else None if kept_at is None else sum(kept_at),
    }
    looked_for = {"emitted": (_TOKENS,), "rounds": (_DRAFTED_AT,), "drafted": (_DRAFTED_AT, _DRAFTED), "verified": (_KEPT_AT, _KEPT)}
    return Reading(
        engine="tensorrt-llm",
        shape=METRICS.name,
        counts=Counts(requests=requests, **told, longest_draft=longest_draft, kept_at=kept_at, drafted_at=drafted_at),
        drafted_source="absent" if told["drafted"] is None else "observed",
        absent=absences(looked_for, told),
        forced=forced,
    )


def forced(environment: Mapping[str, str]) -> str | None:
    """The variable of the server's environment that makes acceptance up; None where there is none."""
    return _MADE_UP if environment.get(_MADE_UP, "").strip() not in ("", "0") else None
