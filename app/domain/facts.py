"""What a runner saw, counted once (definitions § 1); figures are recomputed from these and nothing else.

Facts come from a machine that the service does not trust: every size is bounded, every number finite.
Durations and times are seconds on the runner's monotonic clock, from the start of the trial.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from app.domain.bounds import Arm, Count, Digest, Purpose, Seconds, Share, Short, Small, Word
from app.domain.compilation import Compilation
from app.domain.counts import Counts
from app.domain.observations import CostFact, DivergenceFact, LearnedFact
from app.domain.subject import Subject
from app.domain.tokenizer import TokenizerIdentity
from app.domain.trial import TrialFact as TrialFact
from app.domain.value import Value

MAX_ROUNDS = 20_000
TOLERANCE = 1e-6

Finish = Literal["eos", "length", "stop", "cancelled", "error"]
# Of a served engine's requests each may be None: it did not tell. E is counted by whoever hears the answer, so it is always there.
UNTOLD = ("drafted", "verified", "accepted", "rounds", "undrafted", "prefill_tokens", "discarded_bonus", "longest_draft")


def digest_of(ids: Sequence[int]) -> str:
    """SHA-256 over the JSON list of output ids; equal digests are equal answers."""
    return hashlib.sha256(json.dumps(list(ids)).encode()).hexdigest()


class RequestFact(Value):
    """One request in one arm of one trial. `prompt_tokens` are those of the prompt's text alone, as its characters and words are; `input_tokens` are
    all that went in, chat template included. A count that is None was not told by the engine that answered. Per-round lists have one entry a
    verification step that carried a draft (R of them); where the engine tells no rounds one by one they are empty, whatever R is, and `round_slots`
    alone may be. `round_step` says which entry of the lists by step each of them is, None where the engine does not tell: a round that kept nothing
    looks like an undrafted step.
    Of the rounds of a model with experts, summed over them and their layers: `experts_read`, the different experts that a verification sent the
    request's tokens to, and `experts_chosen`, how often it sent one to one; None where nobody counted them."""

    kind: Literal["request"] = "request"
    arm: Arm
    purpose: Purpose = "headline"
    trial: Count
    order: Annotated[int, Field(ge=0, le=64)]
    prompt: Short
    profile: Short
    parallel: Short | None = None
    seed: Count

    prompt_tokens: Count
    input_tokens: Count | None = None
    prompt_characters: Count
    prompt_words: Count

    drafted: Count | None
    drafted_source: Literal["observed", "nominal", "absent"] = "observed"
    verified: Count | None
    accepted: Count | None
    rounds: Count | None
    undrafted: Count | None
    prefill_tokens: Count | None
    emitted: Count
    discarded_bonus: Count | None
    longest_draft: Count | None

    round_drafted: Annotated[tuple[Small, ...], Field(max_length=MAX_ROUNDS)] = ()
    round_verified: Annotated[tuple[Small, ...], Field(max_length=MAX_ROUNDS)] = ()
    round_depth: Annotated[tuple[Small, ...], Field(max_length=MAX_ROUNDS)] = ()
    round_slots: Annotated[tuple[Small, ...], Field(max_length=MAX_ROUNDS)] = ()
    round_step: Annotated[tuple[Small, ...], Field(max_length=MAX_ROUNDS)] | None = None
    step_end: Annotated[tuple[Seconds, ...], Field(max_length=MAX_ROUNDS)] = ()
    step_tokens: Annotated[tuple[Small, ...], Field(max_length=MAX_ROUNDS)] = ()

    planned_at: Seconds | None = None
    sent_at: Seconds
    first_at: Seconds
    last_at: Seconds
    finish: Finish

    draft_layer_passes: Count | None = None
    verify_layer_passes: Count | None = None
    prefill_layer_passes: Count | None = None
    experts_read: Count | None = None
    experts_chosen: Count | None = None

    output_ids: Annotated[tuple[Count, ...], Field(max_length=8192)] | None = None
    output_digest: Digest
    output_text: Annotated[str, Field(max_length=100_000)] | None = None
    output_characters: Count
    output_words: Count
    answer_language: Short | None = None
    answer_letters: Count = 0
    answer_kind: Literal["prompt", "code", "other"] = "prompt"
    repeated_share: Share | None = None
    degenerate: bool | None = None

    @property
    def discarded_drafts(self) -> int | None:
        return None if self.verified is None or self.accepted is None else self.verified - self.accepted

    @property
    def listed(self) -> bool:
        """Whether each round is told by itself; a request without one has nothing to list."""
        return self.rounds is not None and len(self.round_drafted) == self.rounds

    def counts(self) -> Counts:
        return Counts(requests=1, emitted=self.emitted, **{name: getattr(self, name) for name in UNTOLD})

    @model_validator(mode="after")
    def _identities_hold(self) -> Self:
        wrong = [*self.counts().broken(), *self._closes(), *self._rounds_add_up(), *self._steps_add_up(), *self._times_run_forward()]
        if (self.experts_read is None) != (self.experts_chosen is None) or (self.experts_read or 0) > (self.experts_chosen or 0):
            wrong.append("more experts were read than chosen, or one count of them lacks the other")
        if wrong:
            raise ValueError(f"request {self.prompt} of arm {self.arm}: " + "; ".join(wrong))
        return self

    def _closes(self) -> Iterator[str]:
        """What was kept and never delivered may be more than is told, but only where it is not told how much that was."""
        closure = self.counts().closure(counts_before_stop=True)
        if closure.suspect:
            yield f"E = P + A + R + U − discarded bonus: {closure}"
        if self.drafted is None and self.drafted_source != "absent":
            yield f"D is not told, and its source is {self.drafted_source}"

    def _rounds_add_up(self) -> Iterator[str]:
        lengths, slots = {len(self.round_drafted), len(self.round_verified), len(self.round_depth)}, len(self.round_slots)
        if len(lengths) > 1 or not lengths <= {0, self.rounds} or slots not in {0, *lengths}:
            yield f"per-round lists have {sorted({*lengths, slots})} entries, R is {self.rounds}"
        if self.listed and not ({self.drafted} <= {None, sum(self.round_drafted)} and {self.verified} <= {None, sum(self.round_verified)}):
            yield "per-round drafts do not add up to D and V"
        if self.round_step is not None and not self.listed:
            yield "it is told which steps were rounds, and no round is listed"
        if any(not kept <= deep <= made for kept, deep, made in zip(self.round_verified, self.round_depth, self.round_drafted, strict=False)):
            yield "a round keeps more than its depth, or is deeper than its draft"
        if self.longest_draft is not None and any(made > self.longest_draft for made in self.round_drafted):
            yield "a draft is longer than the controller may reach"
        if 0 in self.round_drafted:
            yield "a round without a draft is an undrafted step"
        if not self._rounds_are_steps():
            yield "rounds are not steps that delivered what they kept"

    def _rounds_are_steps(self) -> bool:
        """Each round is a step of its own, in order, that delivered no more than what it kept and one token; every other step one token at most."""
        if self.round_step is None:
            return True
        if len(self.round_step) != self.rounds or any(after <= before for before, after in pairwise(self.round_step)):
            return False
        most = [1] * len(self.step_tokens)
        for at, kept in zip(self.round_step, self.round_verified, strict=False):
            if at >= len(most):
                return False
            most[at] = kept + 1
        return all(tokens <= least for tokens, least in zip(self.step_tokens, most, strict=True))

    def _steps_add_up(self) -> Iterator[str]:
        if len(self.step_end) != len(self.step_tokens) or sum(self.step_tokens) != self.emitted:
            yield "tokens per step do not add up to E"
        if self.output_ids is not None and len(self.output_ids) != self.emitted:
            yield f"{len(self.output_ids)} output ids, E is {self.emitted}"
        if self.output_ids is not None and self.output_digest != digest_of(self.output_ids):
            yield "the digest is not that of the output ids"

    def _times_run_forward(self) -> Iterator[str]:
        if self.step_end and (abs(self.step_end[0] - self.first_at) > TOLERANCE or abs(self.step_end[-1] - self.last_at) > TOLERANCE):
            yield "the first and last deliveries are not the first and last steps"
        if self.planned_at is not None and self.sent_at < self.planned_at:
            yield "it was sent before its planned arrival"
        if not self.sent_at <= self.first_at <= self.last_at or any(after < before for before, after in pairwise(self.step_end)):
            yield "times run backwards"


class EnvironmentFact(Value):
    kind: Literal["environment"] = "environment"
    device: Short
    device_kind: Literal["cpu", "cuda", "mps"]
    cores: Count
    threads: Count
    memory_bytes: Annotated[int, Field(ge=0, le=2**50)]
    system: Short
    versions: Annotated[dict[Short, Short], Field(max_length=32)]
    details: Annotated[dict[Short, Short], Field(max_length=32)] = Field(default_factory=dict)


class PreflightFact(Subject):
    """What the runner found before the first trial; the half of the passport that only it can know. `timed_controller`: draft lengths follow times
    that are measured as it goes, so that repeats of a prompt count differently. `suite_private`: no answer is told, only its digest. A drafter with
    a model of its own names it (`drafter_checkpoint`) and its tokenizer: without that, its acceptance could not be read.
    Of a served engine: `engine_command` is the command that started the speculative arm, without folders of its machine, and empty where a runner
    only attached to it; `engine_arguments` are those words of it that came from the runner's own file, so that no other field tells of them;
    `engine_build` is what the server says of how it was built; `plain_arm` is false where the engine has none."""

    kind: Literal["preflight"] = "preflight"
    parallel_layout: Short = "one device"
    drafter_tokenizer: TokenizerIdentity | None
    drafter_checkpoint: Short | None = None
    drafter_revision: Short | None = None
    drafter_weights_digest: Digest | None = None
    drafter_dtype: Short | None = None
    drafter_quantisation: Short | None = None
    drafter_memory: Literal["request", "process"]
    timed_controller: bool = False
    lossless: bool
    chat_template_digest: Digest | None
    thinking: Short | None = None
    suite_private: bool = False
    profiles: Annotated[dict[Short, Count], Field(max_length=64)]
    context_length: Count | None
    cache_dtype: Short
    prefix_cache: Short = "none"
    shared_cache: Literal["observed", "declared", "unknown", "not shared", "no draft cache"]
    batched_verification: Literal["observed", "declared", "unknown", "not batched"]
    engine_build: Short | None = None
    engine_command: Annotated[tuple[Word, ...], Field(max_length=128)] = ()
    engine_arguments: Annotated[tuple[Word, ...], Field(max_length=64)] = ()
    plain_arm: bool = True
    compiled: Compilation | None = None

    @model_validator(mode="after")
    def _names_the_drafters_tokenizer(self) -> Self:
        if self.drafter_checkpoint is not None and self.drafter_tokenizer is None:
            raise ValueError(
                "drafter_tokenizer is missing: a drafter with a model of its own has a tokenizer, and acceptance says nothing without it"
            )
        return self


class WarmupFact(Value):
    """`medians` are seconds of the last three groups of 8 decode steps, per arm."""

    kind: Literal["warmup"] = "warmup"
    steady: bool
    seconds: Seconds
    steps: Count
    medians: Annotated[dict[Short, tuple[Seconds, ...]], Field(max_length=8)] = Field(default_factory=dict)


class ProgressFact(Value):
    """Where the run is. `stage` is one of the page's stages; `remaining` is an estimate in seconds, None before there is one;
    `repeated` counts the blocks that are measured once more because others disturbed them; `half_width` is what the headline's interval is expected
    to be at the end, as a share of it, from the spread so far and without its place."""

    kind: Literal["progress"] = "progress"
    stage: Literal["loading", "checking", "warming", "trial", "profile", "losslessness", "computing"]
    done: Count = 0
    total: Count = 0
    arm: Arm | None = None
    remaining: Seconds | None = None
    repeated: Count = 0
    half_width: Annotated[float, Field(ge=0, le=10**6)] | None = None


class FinishFact(Value):
    """How the child ended. `reason` is a sentence for a person; `code` a word for a program."""

    kind: Literal["finish"] = "finish"
    outcome: Literal["succeeded", "failed", "cancelled"]
    code: Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]
    reason: Annotated[str, Field(max_length=2000)] = ""
    retry_makes_sense: bool = False


AnyFact = Annotated[
    RequestFact | TrialFact | CostFact | DivergenceFact | LearnedFact | EnvironmentFact | PreflightFact | WarmupFact | ProgressFact | FinishFact,
    Field(discriminator="kind"),
]
FACT: TypeAdapter[AnyFact] = TypeAdapter(AnyFact)
