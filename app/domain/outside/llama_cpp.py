"""What llama-server tells of its own work: `timings` in each answer, counters in /metrics, and whether its slots speculate in /slots.

An answer has no rounds, and no draft keys where nothing was drafted (server-common.cpp). Kept drafts are counted before the loop that may stop at
an end-of-text token or a stop string (server-context.cpp). A prompt's last decode call gives the first token, so the prefill emits one: with it
the counts of every recorded request close."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.domain.counts import Counts
from app.domain.outside.prometheus import Moved
from app.domain.outside.reading import Reading
from app.domain.outside.untrusted import NotUnderstood, Told, absences, count, known_steps, section, steps_without_draft, word
from app.domain.outside.versions import Shape
from app.domain.sentence import Sentence, plain

PREFIX = "llamacpp:"
_BUILD = "b11434"
ANSWER = Shape(engine="llama.cpp", name="timings", said_in="/completion, /v1/chat/completions", read_from=_BUILD, run=_BUILD)
METRICS = Shape(engine="llama.cpp", name="metrics", said_in="/metrics", read_from=_BUILD, run=_BUILD)
SHAPES = (ANSWER, METRICS)

_EMITTED = ("timings.predicted_n", "usage.completion_tokens")
_DRAFTED, _VERIFIED = "timings.draft_n", "timings.draft_n_accepted"

_TOKENS, _CALLS = PREFIX + "tokens_predicted_total", PREFIX + "n_decode_total"
_ROUNDS = PREFIX + "spec_decode_num_drafts_total"
_PROPOSED, _ACCEPTED = PREFIX + "spec_decode_num_draft_tokens_total", PREFIX + "spec_decode_num_accepted_tokens_total"
_AT = PREFIX + "spec_decode_num_accepted_tokens_per_pos_total"

# Flags that make acceptance up; the output is then no output of the model.
_MADE_UP = ("--spec-synth-rates", "--spec-synth-len")


def timings(body: Mapping[str, object], *, longest_draft: int | None = None, forced: str | None = None) -> Reading:
    """One answer, or the last chunk of a streamed one. Drafted and kept are absent together where nothing was drafted or speculation was off; where
    other answers of the server prove its names, `nothing_drafted` tells them apart from a renamed key. Raises NotUnderstood."""
    found = section(body, "timings")
    emitted = count(found, _EMITTED[0])
    emitted = count(section(body, "usage"), _EMITTED[1]) if emitted is None else emitted
    told: Told = {"emitted": emitted, "rounds": None, "drafted": count(found, _DRAFTED), "verified": count(found, _VERIFIED)}
    looked_for = {"emitted": _EMITTED, "rounds": (_ROUNDS,), "drafted": (_DRAFTED,), "verified": (_VERIFIED,)}
    return Reading(
        engine="llama.cpp",
        shape=ANSWER.name,
        counts=Counts(requests=1, **told, prefill_tokens=1 if emitted else None, longest_draft=longest_draft),
        drafted_source="absent" if told["drafted"] is None else "observed",
        absent=absences(looked_for, told),
        counts_before_stop=True,
        forced=forced,
    )


def nothing_drafted(readings: Sequence[Reading]) -> list[Reading]:
    """The answers of one server, where those without draft keys come to have 0 drafts in 0 rounds, if another answer proves that this server writes
    both keys when it drafts. Where none does, they stay as they are: the keys may have other names."""
    if not any(each.counts.drafted and each.counts.verified is not None for each in readings):
        return list(readings)
    return [_none(each) if each.counts.drafted is None and each.counts.verified is None else each for each in readings]


def _none(reading: Reading) -> Reading:
    counts = replace(reading.counts, rounds=0, drafted=0, verified=0)
    told = ("rounds", "drafted", "verified")
    return reading.model_copy(
        update={"counts": counts, "drafted_source": "observed", "absent": tuple(each for each in reading.absent if each.count not in told)}
    )


def counters(moved: Moved, *, requests: int, prompt_calls: int | None = None, longest_draft: int | None = None, forced: str | None = None) -> Reading:
    """Totals of `requests` requests, which the server does not count itself. `prompt_calls`: decode calls that their prompts took, one each where
    every prompt fits a batch; leave it out where requests ran at the same time, since they share decode calls: then the steps without a draft
    cannot be told. The decode calls include those that verify, whatever the server's own help says. Raises NotUnderstood."""
    told: Told = {
        "emitted": moved.total(_TOKENS),
        "rounds": moved.total(_ROUNDS),
        "drafted": moved.total(_PROPOSED),
        "verified": moved.total(_ACCEPTED),
    }
    steps = moved.total(_CALLS)
    undrafted = steps_without_draft(steps, told["rounds"], prompt_calls, _shared)
    names = {"emitted": _TOKENS, "rounds": _ROUNDS, "drafted": _PROPOSED, "verified": _ACCEPTED, "undrafted": _CALLS}
    each_emitted = told["emitted"] is not None and told["emitted"] >= requests > 0
    return Reading(
        engine="llama.cpp",
        shape=METRICS.name,
        counts=Counts(
            requests=requests,
            **told,
            undrafted=undrafted,
            prefill_tokens=requests if each_emitted else None,
            longest_draft=longest_draft,
            # Positions are there from the first kept draft on.
            kept_at=moved.by_position(_AT, "position"),
        ),
        drafted_source="absent" if told["drafted"] is None else "observed",
        absent=absences({name: (key,) for name, key in names.items()}, {**told, "undrafted": known_steps(steps, told["rounds"], undrafted)}),
        counts_before_stop=True,
        forced=forced,
    )


def _shared(calls: str, prompts: str, rounds: str) -> Sentence:
    return plain(
        "%(calls)s decode calls are fewer than %(prompts)s for prompts and %(rounds)s for rounds: requests shared them.",
        calls=calls, prompts=prompts, rounds=rounds,
    )  # fmt: skip


def forced(arguments: Sequence[str]) -> str | None:
    """The flag of a command line that makes acceptance up; None where there is none."""
    return next((flag for flag in _MADE_UP for each in arguments if each == flag or each.startswith(flag + "=")), None)


def speculates(slots: object) -> bool:
    """Whether every slot of /slots says that it speculates: a server whose draft model does not fit serves plainly and says so nowhere else. The
    types that /props gives are `none` in both cases. Raises NotUnderstood where a slot does not say."""
    if not isinstance(slots, list) or not slots or not all(isinstance(slot, Mapping) and isinstance(slot.get("speculative"), bool) for slot in slots):
        raise NotUnderstood(plain("/slots is to be a list of slots, each with %(key)s true or false.", key="speculative"))
    return all(slot["speculative"] for slot in slots)


def slot_context(slots: object) -> int | None:
    """Tokens that the smallest slot of /slots holds; None where one does not say."""
    held = [slot.get("n_ctx") if isinstance(slot, Mapping) else None for slot in slots] if isinstance(slots, list) else []
    known = [size for size in held if isinstance(size, int) and not isinstance(size, bool) and size > 0]
    return min(known) if known and len(known) == len(held) else None


def build(props: Mapping[str, object]) -> str | None:
    """The build that /props names, such as b11434-515e85511. Raises NotUnderstood."""
    return word(props, "build_info")
