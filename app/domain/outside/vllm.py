"""What vLLM tells of its own work: `metrics.speculative_decoding` in each answer where the server was asked for it, and counters in /metrics.

Drafts are counted as kept before the stop check (v1/core/sched/scheduler.py), a step without a draft is counted nowhere, and the object of an
answer that ends on a stop string is null although the counters moved. The first token comes from the step that finishes the prompt: in every
recorded request that was streamed with its ids the counts close with it."""

from collections import Counter
from collections.abc import Mapping
from itertools import accumulate

from app.domain.counts import Counts
from app.domain.outside.prometheus import Moved
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import LONGEST_DRAFT, NotUnderstood, Told, absences, count, counts, known_steps, section, steps_without_draft
from app.domain.outside.versions import Shape
from app.domain.sentence import Sentence, plain

PREFIX = "vllm:"
_VERSION = "0.32.0"
ANSWER = Shape(engine="vllm", name="speculative_decoding", said_in="/v1/completions, /v1/chat/completions", read_from=_VERSION, run=_VERSION)
METRICS = Shape(engine="vllm", name="metrics", said_in="/metrics", read_from=_VERSION, run=_VERSION)
SHAPES = (ANSWER, METRICS)

_OBJECT = "metrics.speculative_decoding"
_EMITTED = "usage.completion_tokens"
_ROUNDS_OF, _DRAFTED_OF, _KEPT_OF = (f"{_OBJECT}.{key}" for key in ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens"))

_TOKENS, _STEPS = PREFIX + "generation_tokens_total", PREFIX + "iteration_tokens_total_count"
_FINISHED, _PREEMPTED = PREFIX + "request_success_total", PREFIX + "num_preemptions_total"
_ROUNDS = PREFIX + "spec_decode_num_drafts_total"
_PROPOSED, _ACCEPTED = PREFIX + "spec_decode_num_draft_tokens_total", PREFIX + "spec_decode_num_accepted_tokens_total"
_AT = PREFIX + "spec_decode_num_accepted_tokens_per_pos_total"

_METHOD = "rejection_sample_method"
_MADE_UP = ("synthetic_acceptance_length", "synthetic_acceptance_rates")


def speculative_decoding(body: Mapping[str, object], *, forced: str | None = None) -> Reading:
    """One answer, or the last chunk of a streamed one. Where the object is null, speculation was off or the answer ended on a stop string: nothing is
    known of its drafts. Raises NotUnderstood."""
    found = section(section(body, "metrics"), _OBJECT)
    emitted = count(section(body, "usage"), _EMITTED)
    told: Told = {"emitted": emitted, "rounds": count(found, _ROUNDS_OF), "drafted": count(found, _DRAFTED_OF), "verified": count(found, _KEPT_OF)}
    keys = {"rounds": _ROUNDS_OF, "drafted": _DRAFTED_OF, "verified": _KEPT_OF}
    looked_for = {"emitted": (_EMITTED,)} | {name: (_OBJECT if found is None else key,) for name, key in keys.items()}
    steps = by_step(body)
    return Reading(
        engine="vllm",
        shape=ANSWER.name,
        counts=Counts(
            requests=1,
            **told,
            prefill_tokens=1 if emitted else None,
            longest_draft=count(found, f"{_OBJECT}.num_spec_tokens"),
            histogram=counts(found, f"{_OBJECT}.acceptance_histogram"),
            kept_at=_reaching(counts(found, f"{_OBJECT}.per_step_accepted")),
            drafted_at=_reaching(counts(found, f"{_OBJECT}.per_step_drafted")),
            # A round reaches a draft that it made if it kept all before.
            tried_at=_reaching(None if steps is None else tuple(min(made, kept + 1) for made, kept in zip(*steps, strict=True))),
        ),
        drafted_source="absent" if told["drafted"] is None else "observed",
        absent=absences(looked_for, told),
        counts_before_stop=True,
        forced=forced,
    )


def by_step(body: Mapping[str, object]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Draft tokens made and kept in each round `[R]` of one answer; None where they are not told. Raises NotUnderstood."""
    found = section(section(body, "metrics"), _OBJECT)
    drafted, kept = counts(found, f"{_OBJECT}.per_step_drafted"), counts(found, f"{_OBJECT}.per_step_accepted")
    return None if drafted is None or kept is None or len(drafted) != len(kept) else (drafted, kept)


def _reaching(lengths: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """How many of the rounds have more than i tokens, for each i; `lengths` is of the single rounds `[R]`."""
    if lengths is None:
        return None
    longest = max(lengths, default=0)
    if longest > LONGEST_DRAFT:
        raise NotUnderstood(plain("A draft of %(tokens)s tokens is longer than any engine makes.", tokens=str(longest)))
    exactly = Counter(lengths)
    from_the_end = accumulate(exactly[length] for length in range(longest, 0, -1))
    return tuple(reversed(tuple(from_the_end)))


def counters(moved: Moved, *, prompt_steps: int | None = None, forced: str | None = None, plain_arm: bool = False) -> Reading:
    """Totals of the requests that ended between the two scrapes. `prompt_steps`: engine steps that their prompts took, one each where every prompt
    fits a step; leave it out where requests ran at the same time, since they share steps: then the steps without a draft cannot be told. Counters of
    all ranks are added up. Raises NotUnderstood."""
    told: Told = {
        "emitted": moved.total(_TOKENS),
        "rounds": moved.total(_ROUNDS),
        "drafted": moved.total(_PROPOSED),
        "verified": moved.total(_ACCEPTED),
    }
    # A server that does not speculate has no counter of rounds, and none of its steps is one.
    steps = moved.total(_STEPS)
    undrafted = steps_without_draft(steps, 0 if plain_arm else told["rounds"], prompt_steps, _shared)
    names = {"emitted": _TOKENS, "rounds": _ROUNDS, "drafted": _PROPOSED, "verified": _ACCEPTED, "undrafted": _STEPS}
    requests = moved.total(_FINISHED)
    if requests is None:
        raise NotUnderstood(plain("The metrics do not have %(name)s, without which nobody knows how many requests they are of.", name=_FINISHED))
    kept_at = moved.by_position(_AT, "position")
    return Reading(
        engine="vllm",
        shape=METRICS.name,
        counts=Counts(
            requests=requests,
            **told,
            undrafted=undrafted,
            prefill_tokens=_prefill(moved, requests, told["emitted"]),
            # Each position that can be drafted has its counter from the start.
            longest_draft=None if kept_at is None else len(kept_at),
            kept_at=kept_at,
        ),
        drafted_source="absent" if told["drafted"] is None else "observed",
        absent=absences({name: (key,) for name, key in names.items()}, {**told, "undrafted": known_steps(steps, told["rounds"], undrafted)}),
        counts_before_stop=True,
        forced=forced,
    )


def _prefill(moved: Moved, requests: int, emitted: int | None) -> int | None:
    """One token a request; not where one was preempted, whose prompt is run again and gives another, nor where one was cut off before its first."""
    cut = any(moved.total(_FINISHED, finished_reason=reason) for reason in ("abort", "error"))
    return None if cut or moved.total(_PREEMPTED) != 0 or not requests or not emitted or emitted < requests else requests


def _shared(steps: str, prompts: str, rounds: str) -> Sentence:
    return plain(
        "%(steps)s engine steps are fewer than %(prompts)s for prompts and %(rounds)s for rounds: requests shared them.",
        steps=steps, prompts=prompts, rounds=rounds,
    )  # fmt: skip


def forced(speculative_config: Mapping[str, object]) -> str | None:
    """The key of a speculative configuration that makes acceptance up; None where there is none."""
    if speculative_config.get(_METHOD) == "synthetic":
        return f"{_METHOD}=synthetic"
    return next((key for key in _MADE_UP if speculative_config.get(key) is not None), None)
