"""What a reader must know beside the numbers."""

from collections.abc import Iterator, Sequence

from app.domain.observations import DivergenceFact
from app.domain.sentence import Quantity, Sentence, plain
from app.domain.spec import OWN_ENGINE, Regime
from app.metrics.columns import Requests
from app.metrics.frame import Frames
from app.metrics.select import paired
from app.metrics.terms import DONE
from app.reports.answers import of_arm
from app.reports.headline import blocks_of, control, headline_of, seeds_of
from app.reports.record import RunRecord
from app.reports.report import Gate, Losslessness
from app.statistics.verdict import FAIR_BASELINE, FEWEST_SEEDS, fast_plain, slower_plain
from app.statistics.wording import quantity


def notes(record: RunRecord, frames: Frames, found: Sequence[Losslessness], gates: Sequence[Gate]) -> list[Sentence]:
    return [*_bench(record, frames), *_counts(record, frames, found), *_requests(record), *_judged(record, gates)]


def _bench(record: RunRecord, frames: Frames) -> Iterator[Sentence]:
    blocks, void = blocks_of(frames)
    if void:
        yield plain("Other processes disturbed %(contended)s of %(blocks)s of trials; their times are not used.", contended=void, blocks=blocks)
    if record.warmup is not None and not record.warmup.steady:
        yield plain("The warm-up did not become steady within %(seconds)s.", seconds=Quantity(kind="seconds", value=record.warmup.seconds))
    against = control(frames)
    if against is not None and fast_plain(against):
        yield plain(
            "Plain decoding is faster here than the library's own, which takes %(control)s of its time; speed-ups are against the faster one.",
            control=quantity("ratio", against),
        )
    if against is not None and slower_plain(against):
        yield plain(
            "Plain decoding is slower here than the library's own, which takes %(control)s of its time. Up to %(allowed)s is let through; against "
            "the library's own the speed-up would be lower by as much.",
            control=quantity("ratio", against),
            allowed=Quantity(kind="share", value=FAIR_BASELINE),
        )
    measured = paired(frames)["prompt"].nunique() if record.spec.controlled else 0
    if against is not None and against.n < measured:
        yield plain("The library's own plain decoding was timed on only %(n)s of %(prompts)s.", n=against.n, prompts=measured)
    seen = record.preflight
    if seen is not None and not seen.plain_arm:
        yield plain(
            "%(engine)s runs without a plain arm beside it, so there is acceptance and no speed-up. Name one as plain in the runner's file of "
            "engines.",
            engine=record.spec.engine,
        )
    if seen is not None and seen.plain_arm and record.spec.engine != OWN_ENGINE and seen.drafter_memory != "process":
        yield plain(
            "Each arm is one start of its server, and how two starts of it differ is in no interval: repeat the run before you rely on a small "
            "speed-up."
        )
    if seen is not None and seen.batched_verification == "not batched":
        yield plain("Verification is not one batched forward here, so no speed-up can be expected.")
    if seen is not None and seen.shared_cache == "not shared":
        yield plain("Draft and verification do not share a KV cache.")
    if seen is not None and seen.drafter_tokenizer is not None and seen.drafter_tokenizer.fingerprint != seen.tokenizer.fingerprint:
        yield plain(
            "The drafter's tokenizer is another (%(own)s) than the target's (%(target)s): drafts are translated, and every count is of the target's "
            "tokens.",
            own=seen.drafter_tokenizer.short,
            target=seen.tokenizer.short,
        )
    if seen is not None and seen.drafter_memory == "process":
        yield plain(
            "The drafter remembers earlier answers: what it drafts for a prompt depends on those before it, so these counts belong to this order of "
            "prompts. Every trial begins with an empty memory."
        )


def _counts(record: RunRecord, frames: Frames, found: Sequence[Losslessness]) -> Iterator[Sentence]:
    headline = next(iter(found), None)
    if record.preflight is not None and record.preflight.suite_private:
        yield plain("The suite is private: neither prompts nor answers are kept here, only digests of answers, so nothing of them can be shown.")
    if record.spec.sampling.temperature > 0:
        yield (
            plain("Sampled, and the controller decides by measured times: counts are taken over all undisturbed trials.")
            if frames.timed_controller
            else plain("Sampled: counts are taken over all trials.")
        )
        yield plain("Losslessness is not measured: answers are drawn and differ by chance. What the rule keeps is the law that they are drawn from.")
        seeds = seeds_of(frames, headline_of(record))
        if seeds is not None and 0 < seeds < FEWEST_SEEDS:
            yield plain("Sampled with %(seeds)s seeds a prompt; %(least)s are the least for answers that differ.", seeds=seeds, least=FEWEST_SEEDS)
    elif headline is not None and headline.repeats_identical is not None:
        yield _repeats(headline.repeats_identical, timed=frames.timed_controller)
    own = record.spec.engine == OWN_ENGINE
    if own and headline is not None and record.preflight is not None and headline.equal < headline.n and record.preflight.lossless:
        if headline.dtype != "float32" or headline.ties == headline.n - headline.equal:
            # In float32 only a tie that was judged one is a near tie; for the rest the gate speaks.
            yield _parting(headline, regime=record.spec.load.regime)
        if headline.violations and headline.divergence is not None and headline.dtype != "float32":
            yield _clearly(headline, headline.divergence)


def _repeats(identical: bool, *, timed: bool) -> Sentence:
    """Where counts come from. A controller that looks at the clock drafts differently each time, and that is no sign of anything wrong."""
    if timed:
        return (
            plain("Repeats are identical: yes, although the controller decides by measured times. Counts are taken over all undisturbed trials.")
            if identical
            else plain("Repeats are identical: no. The controller decides by measured times. Counts are taken over all undisturbed trials.")
        )
    if identical:
        return plain("Repeats are identical: yes. Counts come from one trial.")
    return plain("Repeats are identical: no. Counts come from one trial, and others give other ones.")


def _clearly(headline: Losslessness, first: DivergenceFact) -> Sentence:
    """In half precision errors of a whole forward add up to more than a tie, so it is said and not refused; the float32 trial decides."""
    return plain(
        "More than near ties: of the answers that part in %(dtype)s, %(violations)s do so where the logits of the two tokens are further apart than "
        "rounding of the last place; the first is %(prompt)s at token %(position)s.",
        dtype=headline.dtype,
        violations=headline.violations,
        prompt=first.prompt,
        position=first.position,
    )


def _parting(headline: Losslessness, *, regime: Regime) -> Sentence:
    differing = headline.n - headline.equal
    if regime == "open":
        return plain(
            "In %(dtype)s %(differing)s of %(n)s answers part from plain: near ties of two tokens may fall differently when several positions "
            "are computed at once. Where an answer is shorter or longer for it, so is its latency.",
            dtype=headline.dtype,
            differing=differing,
            n=headline.n,
        )
    if regime == "closed":
        return plain(
            "In %(dtype)s %(differing)s of %(n)s answers part from plain: near ties of two tokens may fall differently when several positions "
            "are computed at once. Throughput counts tokens, whatever they say.",
            dtype=headline.dtype,
            differing=differing,
            n=headline.n,
        )
    return plain(
        "In %(dtype)s %(differing)s of %(n)s answers part from plain: near ties of two tokens may fall differently when several positions "
        "are computed at once. The speed-up therefore counts time per token.",
        dtype=headline.dtype,
        differing=differing,
        n=headline.n,
    )


def _requests(record: RunRecord) -> Iterator[Sentence]:
    every = Requests.of(record.requests)
    broken = int((every.told("purpose", "headline") & ~every.told("finish", *DONE)).sum())
    if broken:
        yield plain("%(requests)s broke off by an error or were cancelled and are in no figure.", requests=broken)
    counters = [trial.counted for trial in record.trials if (trial.purpose, trial.arm) == ("headline", "speculative") and trial.counted is not None]
    if of_arm(every, "speculative").told("drafted_source", "nominal").any() or any(each.drafted_source == "nominal" for each in counters):
        yield plain("Drafted tokens are nominal: the engine does not count them, k tokens a round are assumed.")


def _judged(record: RunRecord, gates: Sequence[Gate]) -> Iterator[Sentence]:
    """What was judged only of some; a gate that refuses says so itself."""
    for gate in gates:
        if gate.refused:
            continue
        if gate.name == "lossy" and gate.failing and record.spec.engine != OWN_ENGINE:
            yield gate.sentence
        if gate.name == "foreign traffic" and gate.n == 0:
            yield gate.sentence
        if gate.name == "requests failed" and gate.failing:
            yield gate.sentence
        if gate.name == "degenerate" and gate.asked is not None and gate.n < gate.asked:
            yield plain("Only %(n)s of %(asked)s answers were judged for repeating themselves.", n=gate.n, asked=gate.asked)
